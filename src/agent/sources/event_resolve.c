/*
 * event_resolve.c - an event's name becomes what an engine samples.
 *
 *   cpu, page-faults, cycles …     a row of events.def
 *   sched:sched_switch[:FILTER]    a tracepoint; trace:ID by its number
 *   kprobe:FUNCTION[+OFFSET]       entry of a kernel function; kretprobe: its return
 *   uprobe:FUNCTION[+OFFSET]       entry of a native function; uretprobe: its return
 *   uprobe:FILE+OFFSET             a place in a file, by its offset there
 *   mem:ADDRESS|SYMBOL[+OFF][/LEN][:rwx]   a hardware breakpoint on memory
 *   FUNCTION                       the same on the execution of a native function
 *   rNNN                           a raw counter of the CPU
 *   pmu/term=value:term/           an event of one of perf's sources
 *
 * Each may end in @INTERVAL. There is no breakpoint on a Java method: its code has no fixed
 * address (interpreted methods share one entry, compiled code comes, moves and goes), and writing into it
 * would race with the JVM, which patches the same places.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sources/event_resolve.h"
#include "common/base/ascii.h"

/* Whose samples an event's are, and what the kernel is asked for it. */
struct known {
	const struct engine_ops *ops;
	uint32_t type;
	uint64_t config;
	enum how { HOW_PLAIN, HOW_FALLBACK, HOW_KERNEL } how;
};

/* As event_rows has them. */
static const struct known known_events[] = {
#define KNOWN_NOW(source) {&engine_##source, 0, 0, HOW_PLAIN},
#define KNOWN_LATER(source) {NULL, 0, 0, HOW_PLAIN},
#define EVENT(name, when, source, weight, interval, least, help) KNOWN_##when(source)
#define PERF_EVENT(name, type, config, how, weight, interval, least, help) \
	{&engine_perf, PERF_TYPE_##type, PERF_COUNT_##config, HOW_##how},
#include "common/words/events.def"
};

static int resolve_known(const struct event_row *row, struct engine_event *e)
{
	const struct known *k = &known_events[row - event_rows];

	e->ops = k->ops;
	e->fallback = k->how == HOW_FALLBACK;
	e->kernel_only = k->how == HOW_KERNEL;
	e->weight = row->weight;
	e->ticks = k->ops->ticks;
	e->perf.type = k->type;
	e->perf.config = k->config;
	e->perf.scaled = k->type == PERF_TYPE_HARDWARE || k->type == PERF_TYPE_HW_CACHE;
	e->interval = row->interval;
	return 0;
}

void event_by_wall(struct engine_event *e)
{
	if (e->ticks != TICKS_CPU)
		return;
	e->ticks = TICKS_WALL;
	e->weight = WEIGHT_WALL;
}

/* ---- counters of the CPU ---- */

static bool is_raw(const char *name)
{
	size_t digits = strspn(name + 1, "0123456789abcdefABCDEF");

	return name[0] == 'r' && digits > 0 && digits <= 16 && name[1 + digits] == '\0' &&
	       ascii_is_digit(name[1]);
}

static int resolve_raw(const char *name, struct engine_event *e)
{
	e->perf.type = PERF_TYPE_RAW;
	e->perf.config = strtoull(name + 1, NULL, 16);
	e->perf.scaled = true;
	e->interval = COUNTER_INTERVAL;
	return 0;
}

/* TERMS ("event=0x3c,umask=1" or an event's name, by ',' or ':') into the configs of E. */
static int put_terms(const char *source, char *terms, bool alias, struct engine_event *e, struct error *err)
{
	char *at = NULL, *term, text[256];
	int rc;

	for (term = strtok_r(terms, ",:", &at); term; term = strtok_r(NULL, ",:", &at)) {
		char *value = strchr(term, '='), *end = NULL;

		if (!value && alias && os_perf_alias(source, term, text, sizeof(text)) == 0) {
			rc = put_terms(source, text, false, e, err);
			if (rc)
				return rc;
			continue;
		}
		if (value)
			*value++ = '\0';
		rc = os_perf_field(source, term, value ? strtoull(value, &end, 0) : 1, &e->perf);
		if (value && (end == value || *end))
			rc = -EINVAL;
		if (rc)
			return error_set(err, EINVAL, "%s: '%s' is no event or field of %s, or its "
						 "value does not fit; see "
					 "/sys/bus/event_source/devices/%s", e->name, term, source, source);
	}
	return 0;
}

static int resolve_source(const char *name, struct engine_event *e, struct error *err)
{
	size_t length = strcspn(name, "/"), rest = strlen(name + length + 1);
	char source[64], terms[256];
	int type;

	if (length >= sizeof(source) || rest >= sizeof(terms) || rest < 2 || name[length + rest] != '/')
		return error_set(err, EINVAL, "%s: write it like cpu/event=0x3c:umask=1/", name);
	snprintf(source, sizeof(source), "%.*s", (int)length, name);
	snprintf(terms, sizeof(terms), "%.*s", (int)rest - 1, name + length + 1);
	type = os_perf_source(source);
	if (type < 0)
		return error_set(err, ENODEV, "%s: this machine has no event source '%s'; "
				 "/sys/bus/event_source/devices shows what there is", name, source);
	e->perf.type = (uint32_t)type;
	e->perf.scaled = true;
	e->interval = COUNTER_INTERVAL;
	return put_terms(source, terms, true, e, err);
}

/* ---- names ---- */

/* A single ':' somewhere: "sched:sched_switch", not "JavaThread::run". */
static bool is_tracepoint(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && colon[1] != ':' && colon > name;
}

static int resolve(const char *name, struct engine_event *e, struct error *err)
{
	const struct event_row *row = event_row_named(name);

	if (row && row->available)
		return resolve_known(row, e);
	e->ops = &engine_perf;
	e->weight = WEIGHT_COUNT;
	if (text_begins(name, "mem:"))
		return event_memory(name, e, err);
	if (text_begins(name, "kprobe:") || text_begins(name, "kretprobe:") || text_begins(name, "uprobe:") ||
	    text_begins(name, "uretprobe:"))
		return event_probe(name, e, err);
	if (is_raw(name))
		return resolve_raw(name, e);
	if (is_tracepoint(name))
		return event_tracepoint(name, e, err);
	if (strchr(name, '/'))
		return resolve_source(name, e, err);
	return event_breakpoint(name, 0, HW_BREAKPOINT_X, sizeof(long), e, err);
}

#define EVERY UINT64_MAX

/*
 * Split "@N" from the end of NAME: a number, with k, m or g for thousands (of bytes: 1,024s), or us, ms, s. 0: there is
 * none.
 */
static uint64_t split_interval(char *name)
{
	static const struct {
		const char *unit;
		uint64_t factor, of_bytes;
	} units[] = {{"", 1, 1}, {"ns", 1, 0}, {"us", NS_PER_US, 0}, {"ms", NS_PER_MS, 0}, {"s", NS_PER_S, 0},
		     {"k", 1000, 1u << 10}, {"m", 1000000, 1u << 20}, {"g", 1000000000, 1u << 30}};
	char *at = strrchr(name, '@'), *end;
	const struct event_row *row;
	uint64_t n, factor;
	size_t i = 0;

	if (!at || !ascii_is_digit(at[1]))
		return 0;
	n = strtoull(at + 1, &end, 10);
	while (i < ARRAY_LEN(units) && strcmp(units[i].unit, end) != 0)
		i++;
	row = event_row_of(name, (size_t)(at - name));
	/* 0 as --lock takes it: each of them, however short */
	if (i == ARRAY_LEN(units) || n >= 1ull << 30 || (!n && (!row || !row->available || row->least)))
		return 0;
	factor = row && row->weight == WEIGHT_BYTES ? units[i].of_bytes : units[i].factor;
	if (!factor)
		return 0;
	*at = '\0';
	return n ? n * factor : EVERY;
}

int event_resolve(const char *name, uint64_t interval, struct engine_event *e, struct error *err)
{
	const struct event_row *row;
	uint64_t own;
	int rc;

	memset(e, 0, sizeof(*e));
	if (strlen(name) >= sizeof(e->name))
		return error_set(err, EINVAL, "the event's name is too long: %.64s…", name);
	strcpy(e->name, name);
	own = split_interval(e->name);
	rc = resolve(e->name, e, err);
	if (rc)
		return rc;
	row = event_row_named(e->name);
	if (interval || own)
		e->interval = interval ? interval : own == EVERY ? 0 : own;
	if (row && weight_is_time(e->weight) && row->least && (e->interval < row->least || e->interval > EVENT_LONGEST))
		return error_set(err, EINVAL, "%s: the interval is out of range; use a time from %lluus "
					 "to 100s", e->name, (unsigned long long)(row->least / NS_PER_US));
	return 0;
}
