/*
 * active.h - the active sources, as each of them sees them. Inner header of the sources room.
 */
#ifndef JSTROBE_SOURCES_ACTIVE_H
#define JSTROBE_SOURCES_ACTIVE_H

#include "agent/sources/engine.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"

const struct engine_options *active_options(void);
/* Event number E of the session. */
const struct engine_event *active_event(uint32_t e);
/* Thread TID's time that the session samples: of its CPU clock, or of user mode only. */
uint64_t active_thread_time(pid_t tid);
/* The kernel counted COUNT of event E on a thread that is disarmed. Records' lock held. */
void active_counted(uint32_t e, uint64_t count);
/* A thread could not have something, by -errno RC. Each is said once a session: see engine_notes (shortfalls.c). */
enum shortfall {
	SHORTFALL_PERF, SHORTFALL_EVENT, SHORTFALL_RING, SHORTFALL_TIMER, SHORTFALL_BREAKPOINT, SHORTFALL_TRANSFER,
	SHORTFALL_BLOCKED, SHORTFALL_UNNAMED,
	SHORTFALLS
};
void shortfall_note(enum shortfall what, int rc);
void shortfalls_clear(void);
/* Prepare the window of O's events; shut it when no handler can any more (window_breakpoints.c). */
void window_start(const struct engine_options *o);
void window_stop(void);
/* S, a breakpoint, has rested long enough. Records' lock held; each second. */
void window_wake(struct record_source *s);
/* Say of the error ERR that it is about the breakpoint E. Returns the error. */
int window_refused(const struct engine_event *e, struct error *err);
/* How many timers may be made from now on: half of the user's pending signals are left to others (ctimer.c). */
void active_count_timers(void);
/* The same of perf events: half of the limit of open files (perf.c). */
void active_count_descriptors(void);
/* And of large rings (perf.c). */
void active_count_rings(void);
/* Wait until no thread looks at R's thread from outside (ticker.c). */
void active_wait(const struct thread_record *r);
/* Why what is due to a thread is not taken whose source, armed as ARM, goes away: it ends, or sampling does. */
enum loss_reason active_rest_why(uint32_t arm);

#endif
