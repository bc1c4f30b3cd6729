/*
 * window_breakpoints.c - the functions named by begin and end: hardware breakpoints on each thread, whose
 * signals open and shut the window (agent/zone/window.h).
 *
 * No code of the program is written to: a patched instruction would be met by all threads while
 * it is put back. A breakpoint register belongs to one thread, and a CPU has four of them.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "agent/sources/active.h"
#include "agent/sources/engine.h"
#include "agent/sources/event_resolve.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "common/os/os.h"

static const char *const words[] = {[WINDOW_BEGIN] = "begin", [WINDOW_END] = "end"};

static bool left_open;  /* when the session stopped */

static int not_found(enum window_role role, const char *function, struct error *err)
{
	return error_set(err, ENOENT, "%s address not found: %s: no library of the process has a native function of "
			 "this name (libraries without symbol tables hide theirs; Java methods cannot be used here)",
			 role == WINDOW_BEGIN ? "Begin" : "End", function);
}

/* FUNCTION as an event of that role. */
static int resolve(enum window_role role, const char *function, struct engine_event *e, struct error *err)
{
	uintptr_t address;

	if (native_address(function, &address, err))
		return not_found(role, function, err);
	memset(e, 0, sizeof(*e));
	snprintf(e->name, sizeof(e->name), "%s=%s", words[role], function);
	e->ops = &engine_perf;
	e->weight = WEIGHT_COUNT;
	e->role = role;
	e->interval = 1;
	e->perf.type = PERF_TYPE_BREAKPOINT;
	e->perf.bp_type = HW_BREAKPOINT_X;
	e->perf.config1 = address;
	e->perf.config2 = sizeof(long);
	return 0;
}

int window_resolve(const char *begin, const char *end, struct engine_event *events, struct error *err)
{
	int count = 0, rc;

	if (*begin) {
		rc = resolve(WINDOW_BEGIN, begin, &events[count++], err);
		if (rc)
			return rc;
	}
	if (*end) {
		rc = resolve(WINDOW_END, end, &events[count++], err);
		if (rc)
			return rc;
	}
	if (count == 2 && events[0].perf.config1 == events[1].perf.config1)
		return error_set(err, EINVAL, "begin and end symbols should not resolve to the same address: %s and %s",
				 begin, end);
	return count;
}

int window_refused(const struct engine_event *e, struct error *err)
{
	char why[sizeof(err->text)];

	strcpy(why, err->text);
	return error_set(err, err->code, "Cannot install %s breakpoint: %s", words[e->role], why);
}

void window_start(const struct engine_options *o)
{
	struct window *w = &zone.window;
	bool gates = false, begins = false;
	uint32_t e;

	for (e = 0; e < o->count; e++) {
		gates |= o->events[e].role != WINDOW_NONE;
		begins |= o->events[e].role == WINDOW_BEGIN;
	}
	left_open = false;
	zone.windowed = gates;
	w->gates = gates && !o->window_watched;
	atomic_store(&w->count, 0);
	atomic_store(&w->total, 0);
	atomic_store(&w->longest, 0);
	memset(w->notes, 0, sizeof(w->notes));
	/* With an end alone it is open from the start. */
	atomic_store(&w->since, gates && !begins ? os_monotonic() : 0);
}

void window_stop(void)
{
	left_open = atomic_load(&zone.window.since) != 0;
	window_shut(&zone.window, os_monotonic(), 0);
}

void window_wake(struct record_source *s)
{
	uint64_t until = atomic_load(&s->rests_until);

	if (!until || os_monotonic() < until || atomic_load(&s->arm) != ARM_PERF)
		return;
	atomic_store(&s->rests_until, 0);
	os_perf_enable(s->fd);
}

void engine_window(struct engine_window *counts)
{
	struct window *w = &zone.window;
	uint64_t since = atomic_load(&w->since), now = os_monotonic();
	uint32_t e;

	counts->count = atomic_load(&w->count);
	counts->total = atomic_load(&w->total);
	counts->longest = atomic_load(&w->longest);
	counts->open = since || left_open;
	counts->pauses = 0;
	for (e = 0; e < zone.event_count; e++)
		if (zone.events[e].role != WINDOW_NONE)
			counts->pauses += (uint32_t)atomic_load(&zone.raised[e]);
	if (since && now > since) {
		counts->count++;
		counts->total += now - since;
		counts->longest = MAX(counts->longest, now - since);
	}
}
