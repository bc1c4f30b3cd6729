/*
 * shortfalls.c - what single threads could not have (a perf event, its ring, a timer), remembered
 * when it happens and said once: a limit that one thread has met, hundreds will meet.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>

#include "agent/hooks/traps.h"
#include "agent/sources/active.h"
#include "agent/sources/engine.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/os/os.h"

/* The first reason since the session's start; 0 = none. Written under the records' lock. */
static _Atomic int reason[SHORTFALLS];
static bool said[SHORTFALLS];

void shortfall_note(enum shortfall what, int rc)
{
	int none = 0;

	atomic_compare_exchange_strong(&reason[what], &none, rc);
}

void shortfalls_clear(void)
{
	int i;

	for (i = 0; i < SHORTFALLS; i++) {
		atomic_store(&reason[i], 0);
		said[i] = false;
	}
}

static const char *why(int what, int rc)
{
	if (what == SHORTFALL_TIMER)
		return rc == -EAGAIN ? "half of the user's limit of pending signals is left to others; "
				       "raise it (ulimit -i)"
				     : error_text(-rc);
	if (what == SHORTFALL_RING)
		return "the kernel locks no more memory for it; raise kernel.perf_event_mlock_kb or ulimit -l";
	if (what == SHORTFALL_BLOCKED)
		return "they block SIGTRAP, and some hypervisors would end the process by it";
	if (what == SHORTFALL_UNNAMED)
		return "the hypervisor did not say which breakpoint was met";
	if (what == SHORTFALL_TRANSFER)
		return rc == -ETIMEDOUT ? "it did not answer in time" :
		       rc == -EPROTO ? "its answer is not understood" : "it has ended";
	return rc == -EMFILE ? "half of the limit of open files is left to the program; raise it (ulimit -n)"
			     : os_perf_refusal(rc);
}

/* Of a function's breakpoint nothing is missing: the thread meets it once more. */
static void look_for_unnamed(void)
{
	uint32_t e;

	for (e = 0; e < zone.event_count; e++) {
		const struct os_perf *p = &active_event(e)->perf;

		if (p->type == PERF_TYPE_BREAKPOINT && p->bp_type != HW_BREAKPOINT_X && traps_met())
			shortfall_note(SHORTFALL_UNNAMED, -EIO);
	}
}

void engine_notes(struct buffer *notes)
{
	static const char *const texts[SHORTFALLS] = {
		[SHORTFALL_PERF] = "some threads get no perf event: CPU timers sample them, "
				   "without kernel frames",
		[SHORTFALL_EVENT] = "some threads get no perf event: what they have of an event that is not CPU "
				    "time is neither sampled nor counted",
		[SHORTFALL_RING] = "some perf events get no ring, so their threads show no kernel frames",
		[SHORTFALL_BREAKPOINT] = "on some threads the functions of begin and end are not met",
		[SHORTFALL_BLOCKED] = "some threads get no breakpoint",
		[SHORTFALL_UNNAMED] = "some accesses to the memory that is watched are not counted",
		[SHORTFALL_TRANSFER] = ("fdtransfer: the command's helper opens no more perf events for this process: "
					"what it has not opened yet is opened as without it; stop and start again to "
					"have a new helper"),
		[SHORTFALL_TIMER] = "some threads get no CPU timer: they are not sampled, it is unsampled time",
	};
	int i;

	look_for_unnamed();
	for (i = 0; i < SHORTFALLS; i++) {
		int rc = atomic_load(&reason[i]);

		if (!rc || said[i])
			continue;
		said[i] = true;
		buffer_printf(notes, "%s (%s)\n", texts[i], why(i, rc));
	}
}
