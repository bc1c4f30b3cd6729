/*
 * events.c - an event's name becomes what an engine samples.
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
#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/native_address.h"

#define COUNTER_INTERVAL 1000000 /* of counters that events.def does not know */

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
#include "base/events.def"
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
	e->turns = k->source == SOURCE_WALL ? TURNS_WALL : k->source == SOURCE_PERIODIC ? TURNS_CPU : TURNS_NONE;
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
	       isdigit((unsigned char)name[1]);
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

/* ---- tracepoints ---- */

static int tracepoint_error(const char *name, int rc, struct error *err)
{
	if (rc == -ENODEV)
		return error_set(err, -rc, "%s: tracefs is not mounted where the JVM runs; as root: mount -t tracefs "
				 "tracefs /sys/kernel/tracing, or give the number: trace:ID", name);
	if (rc == -EACCES)
		return error_set(err, -rc, "%s: the JVM's user may not read /sys/kernel/tracing; give "
					 "the number that its "
				 "file id holds: trace:ID", name);
	return error_set(err, ENOENT, "%s: the kernel has no such tracepoint; see /sys/kernel/tracing/events", name);
}

static int resolve_tracepoint(const char *name, struct engine_event *e, struct error *err)
{
	const char *event = strchr(name, ':') + 1, *filter = strchr(event, ':');
	char plain[160];
	int id;

	if (filter && (!filter[1] || strlen(filter + 1) >= sizeof(e->filter)))
		return error_set(err, EINVAL, "%s: the filter is empty or too long", name);
	snprintf(plain, sizeof(plain), "%.*s", filter ? (int)(filter - name) : 159, name);
	if (filter)
		strcpy(e->filter, filter + 1);
	if (strncmp(plain, "trace:", 6) == 0)
		id = atoi(plain + 6) > 0 ? atoi(plain + 6) : -ENOENT;
	else
		id = os_tracepoint(plain);
	if (id < 0)
		return tracepoint_error(name, id, err);
	e->perf.type = PERF_TYPE_TRACEPOINT;
	e->perf.config = (uint64_t)id;
	e->kernel_only = true;
	/* A sample makes system calls of its own: to hush events, to return, to restart what it broke off. */
	e->interval = strncmp(plain, "raw_syscalls:", 13) == 0 ? 10 : 1;
	return 0;
}

/* ---- probes and breakpoints ---- */

/* Split "+OFFSET" from the end of TEXT; 0 if there is none. False: it is no number. */
static bool split_offset(char *text, uint64_t *offset)
{
	char *plus = strrchr(text, '+'), *end;

	*offset = 0;
	if (!plus)
		return true;
	*offset = strtoull(plus + 1, &end, 0);
	*plus = '\0';
	return end != plus + 1 && *end == '\0';
}

static int resolve_probe(const char *name, struct engine_event *e, struct error *err)
{
	bool kernel = name[0] == 'k', ret = name[1] == 'r';
	int type = os_perf_source(kernel ? "kprobe" : "uprobe");
	char place[256];
	uint64_t offset;
	int rc;

	if (type < 0)
		return error_set(err, ENODEV, "%s: this kernel has no %s (it was built without CONFIG_%s)", name,
				 kernel ? "kprobes" : "uprobes", kernel ? "KPROBES" : "UPROBE_EVENTS");
	snprintf(place, sizeof(place), "%s", strchr(name, ':') + 1);
	if (!split_offset(place, &offset) || !place[0])
		return error_set(err, EINVAL, "%s: write it like %s", name,
				 kernel ? "kprobe:do_sys_openat2" : "uprobe:malloc or uprobe:/path/of/file+0x1234");
	e->perf.type = (uint32_t)type;
	e->perf.config = ret;
	e->kernel_only = kernel;
	e->interval = 1;
	if (!kernel && !strchr(place, '/')) {
		rc = native_place(place, e->path, sizeof(e->path), &e->perf.config2, err);
		e->perf.config2 += offset;
		return rc;
	}
	snprintf(e->path, sizeof(e->path), "%s", place);
	e->perf.config2 = offset;
	return 0;
}

/* The kind of access after the last ':' of TEXT, which it takes away; 0 = no such. */
static uint32_t split_access(char *text)
{
	char *colon = strrchr(text, ':');
	uint32_t access = 0;
	const char *p;

	/* "::" belongs to a C++ name */
	if (!colon || (colon > text && colon[-1] == ':'))
		return HW_BREAKPOINT_RW;
	for (p = colon + 1; *p; p++) {
		if (!strchr("rwx", *p))
			return 0;
		access |= *p == 'x' ? HW_BREAKPOINT_X : *p == 'w' ? HW_BREAKPOINT_W : HW_BREAKPOINT_R;
	}
	*colon = '\0';
	/* x86 has none for reading alone */
	return access == HW_BREAKPOINT_R ? HW_BREAKPOINT_RW : access;
}

static int breakpoint(const char *symbol, uint64_t offset, uint32_t access, uint64_t length,
		      struct engine_event *e, struct error *err)
{
	uintptr_t address;
	char *end;

	if (isdigit((unsigned char)symbol[0])) {
		address = strtoull(symbol, &end, 0);
		if (*end)
			return error_set(err, EINVAL, "%s: '%s' is no address", e->name, symbol);
	} else if (native_address(symbol, &address, err)) {
		return -err->code;
	}
	e->perf.type = PERF_TYPE_BREAKPOINT;
	e->perf.bp_type = access;
	e->perf.config1 = address + offset;
	e->perf.config2 = length;
	e->interval = 1;
	return 0;
}

static int resolve_memory(const char *name, struct engine_event *e, struct error *err)
{
	char text[256], *slash;
	uint64_t offset, length;
	uint32_t access;

	snprintf(text, sizeof(text), "%s", name + 4);
	access = split_access(text);
	slash = strrchr(text, '/');
	length = access == HW_BREAKPOINT_X ? sizeof(long) : 1;
	if (slash) {
		length = strtoull(slash + 1, NULL, 10);
		*slash = '\0';
	}
	if (!access || !split_offset(text, &offset) || !text[0] ||
	    (length != 1 && length != 2 && length != 4 && length != 8) ||
	    ((access & HW_BREAKPOINT_X) && access != HW_BREAKPOINT_X))
		return error_set(err, EINVAL, "%s: write it like mem:SYMBOL+OFFSET/8:rw; the length is "
					 "1, 2, 4 or 8, the "
				 "access r, w, rw or x", name);
	return breakpoint(text, offset, access, length, e, err);
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
		return resolve_memory(name, e, err);
	if (begins(name, "kprobe:") || begins(name, "kretprobe:") || begins(name, "uprobe:") ||
	    begins(name, "uretprobe:"))
		return resolve_probe(name, e, err);
	if (is_raw(name))
		return resolve_raw(name, e);
	if (is_tracepoint(name))
		return resolve_tracepoint(name, e, err);
	if (strchr(name, '/'))
		return resolve_source(name, e, err);
	return breakpoint(name, 0, HW_BREAKPOINT_X, sizeof(long), e, err);
}

/* Split "@N" from the end of NAME: a number, with k, m or g for thousands, or us, ms, s. */
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

	if (!at || !isdigit((unsigned char)at[1]))
		return 0;
	n = strtoull(at + 1, &end, 10);
	for (i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(units[i].unit, end) == 0 && n && n < (1ull << 30)) {
			*at = '\0';
			return n * units[i].factor;
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
		e->interval = interval ? interval : own;
	if (e->time && !e->waits && (e->interval < 50 * NS_PER_US || e->interval > 100 * NS_PER_S))
		return error_set(err, EINVAL, "%s: the interval is out of range; use a time from 50us "
					 "to 100s", e->name);
	return 0;
}

/* ---- the list ---- */

/* Whether this process may sample E: "yes", or why not. */
static void put_state(const struct engine_event *e, struct buffer *out)
{
	struct os_perf spec = e->perf;
	int fd;

	if (e->ops != &engine_perf) {
		buffer_puts(out, "yes");
		return;
	}
	spec.period = e->interval;
	spec.kernel = true;
	fd = os_perf_open(os_gettid(), &spec);
	if (fd == -EACCES || fd == -EPERM) {
		spec.kernel = false;
		fd = e->fallback || e->kernel_only || e->time ? fd : os_perf_open(os_gettid(), &spec);
		if (fd < 0)
			buffer_puts(out, e->fallback ? "by timers: no permission for perf events"
						     : "no: not permitted (kernel.perf_event_paranoid)");
		else
			buffer_puts(out, "user mode only (kernel.perf_event_paranoid)");
	} else if (fd < 0) {
		buffer_puts(out, e->perf.type == PERF_TYPE_SOFTWARE ? "no: the kernel has none"
								     : "no: the machine has none");
	} else {
		buffer_puts(out, "yes");
	}
	if (fd >= 0)
		os_close(fd);
}

static void put_kind(struct buffer *out, const char *name, const char *help, const char *state)
{
	buffer_printf(out, "%-28s %-58s %s\n", name, help, state);
}

void event_list(struct buffer *out)
{
	struct engine_event e = {.ops = &engine_perf, .interval = 1};
	struct error ignored;
	int found;
	size_t i;

	for (i = 0; i < ARRAY_LEN(known_events); i++) {
		event_resolve(known_events[i].name, 0, &e, &ignored);
		buffer_printf(out, "%-28s %-58s ", known_events[i].name, known_events[i].help);
		put_state(&e, out);
		buffer_putc(out, '\n');
	}
	found = os_tracepoint("sched:sched_switch");
	put_kind(out, "SUBSYSTEM:EVENT[:FILTER]", "a tracepoint of the kernel, also trace:ID",
		 found == -ENODEV ? "no: tracefs is not mounted"
		 : found == -EACCES ? "by trace:ID only: /sys/kernel/tracing is not readable" : "yes");
	found = os_perf_source("kprobe");
	put_kind(out, "kprobe:FUNCTION", "entry of a kernel function, kretprobe: its return",
		 found < 0 ? "no: the kernel has none" : "yes, with CAP_PERFMON");
	found = os_perf_source("uprobe");
	put_kind(out, "uprobe:FUNCTION", "entry of a native function, uretprobe: its return",
		 found < 0 ? "no: the kernel has none" : "yes, with CAP_PERFMON");
	memset(&e, 0, sizeof(e));
	e.ops = &engine_perf;
	if (breakpoint("clock_gettime", 0, HW_BREAKPOINT_X, sizeof(long), &e, &ignored) == 0) {
		buffer_printf(out, "%-28s %-58s ", "FUNCTION", "calls of a native function, by a hardware breakpoint");
		put_state(&e, out);
		buffer_printf(out, "\n%-28s %-58s ", "mem:SYMBOL[+N][/LEN][:rwx]", "access to memory, by the same");
		put_state(&e, out);
		buffer_putc(out, '\n');
	}
	memset(&e, 0, sizeof(e));
	e = (struct engine_event){.ops = &engine_perf, .interval = COUNTER_INTERVAL, .perf = {.type = PERF_TYPE_RAW}};
	buffer_printf(out, "%-28s %-58s ", "rNNN, PMU/TERM=VALUE/", "a raw counter of the CPU, or of a "
				 "source of events");
	put_state(&e, out);
	buffer_putc(out, '\n');
}
