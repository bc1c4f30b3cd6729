/*
 * event_resolve.c - an event's name becomes what an engine samples.
 *
 *   cpu, page-faults, cycles …     a line of events.def
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

enum source {
	SOURCE_CPU, SOURCE_CTIMER, SOURCE_ITIMER, SOURCE_WALL, SOURCE_PERIODIC, SOURCE_LOCK, SOURCE_SOFTWARE,
	SOURCE_HARDWARE, SOURCE_CACHE,
};
enum needs { NEEDS_TIME, NEEDS_COUNT, NEEDS_KERNEL };

struct known {
	const char *name;
	enum source source;
	uint64_t config, interval;
	enum needs needs;
	const char *help;
};

#define ROW_NOW(...) {__VA_ARGS__},
#define ROW_LATER(...)
#define EVENT(name, when, source, config, interval, needs, help) \
	ROW_##when(name, SOURCE_##source, config, interval, NEEDS_##needs, help)
static const struct known known_events[] = {
#include "common/base/events.def"
};

static int resolve_known(const struct known *k, struct engine_event *e)
{
	static const struct engine_ops *const engines[] = {
		[SOURCE_CPU] = &engine_perf, [SOURCE_CTIMER] = &engine_ctimer,
		[SOURCE_ITIMER] = &engine_itimer, [SOURCE_WALL] = &engine_wall,
		[SOURCE_PERIODIC] = &engine_periodic, [SOURCE_LOCK] = &engine_lock, [SOURCE_SOFTWARE] = &engine_perf,
		[SOURCE_HARDWARE] = &engine_perf, [SOURCE_CACHE] = &engine_perf,
	};
	static const uint32_t types[] = {
		[SOURCE_CPU] = PERF_TYPE_SOFTWARE, [SOURCE_SOFTWARE] = PERF_TYPE_SOFTWARE,
		[SOURCE_HARDWARE] = PERF_TYPE_HARDWARE, [SOURCE_CACHE] = PERF_TYPE_HW_CACHE,
	};

	e->ops = engines[k->source];
	e->fallback = k->source == SOURCE_CPU;
	e->time = k->needs == NEEDS_TIME;
	e->ticks = k->source == SOURCE_WALL ? TICKS_WALL : k->source == SOURCE_PERIODIC ? TICKS_CPU : TICKS_NONE;
	e->waits = k->source == SOURCE_LOCK;
	e->kernel_only = k->needs == NEEDS_KERNEL;
	if (e->ops == &engine_perf)
		e->perf.type = types[k->source];
	e->perf.config = k->config;
	e->perf.scaled = k->source == SOURCE_HARDWARE || k->source == SOURCE_CACHE;
	e->interval = k->interval;
	return 0;
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

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* A single ':' somewhere: "sched:sched_switch", not "JavaThread::run". */
static bool is_tracepoint(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && colon[1] != ':' && colon > name;
}

static int resolve(const char *name, struct engine_event *e, struct error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(known_events); i++)
		if (strcmp(known_events[i].name, name) == 0)
			return resolve_known(&known_events[i], e);
	e->ops = &engine_perf;
	if (begins(name, "mem:"))
		return event_memory(name, e, err);
	if (begins(name, "kprobe:") || begins(name, "kretprobe:") || begins(name, "uprobe:") ||
	    begins(name, "uretprobe:"))
		return event_probe(name, e, err);
	if (is_raw(name))
		return resolve_raw(name, e);
	if (is_tracepoint(name))
		return event_tracepoint(name, e, err);
	if (strchr(name, '/'))
		return resolve_source(name, e, err);
	return event_breakpoint(name, 0, HW_BREAKPOINT_X, sizeof(long), e, err);
}

/* Of waits, as --lock takes it: each of them, however short. */
static bool may_be_nothing(const char *name, const char *at)
{
	return (size_t)(at - name) == strlen("lock") && strncmp(name, "lock", strlen("lock")) == 0;
}

#define EVERY UINT64_MAX

/* Split "@N" from the end of NAME: a number, with k, m or g for thousands, or us, ms, s. 0: there is none. */
static uint64_t split_interval(char *name)
{
	static const struct {
		const char *unit;
		uint64_t factor;
	} units[] = {{"", 1}, {"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S},
		     {"k", 1000}, {"m", 1000000}, {"g", 1000000000}};
	char *at = strrchr(name, '@'), *end;
	uint64_t n;
	size_t i;

	if (!at || !ascii_is_digit(at[1]))
		return 0;
	n = strtoull(at + 1, &end, 10);
	for (i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(units[i].unit, end) == 0 && (n || may_be_nothing(name, at)) && n < (1ull << 30)) {
			*at = '\0';
			return n ? n * units[i].factor : EVERY;
		}
	return 0;
}

int event_resolve(const char *name, uint64_t interval, struct engine_event *e, struct error *err)
{
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
	if (interval || own)
		e->interval = interval ? interval : own == EVERY ? 0 : own;
	if (e->time && !e->waits && (e->interval < 50 * NS_PER_US || e->interval > 100 * NS_PER_S))
		return error_set(err, EINVAL, "%s: the interval is out of range; use a time from 50us "
					 "to 100s", e->name);
	return 0;
}

const char *event_known(size_t i, const char **help)
{
	if (i >= ARRAY_LEN(known_events))
		return NULL;
	*help = known_events[i].help;
	return known_events[i].name;
}
