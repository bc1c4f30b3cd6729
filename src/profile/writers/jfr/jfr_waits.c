/*
 * jfr_waits.c - waits for locks under the names that the JDK has for them. What cannot be known from outside is written
 * as the JDK writes what does not apply. Waits in native code have the name and fields of async-profiler, whose
 * converter fails at any more; who held the lock stands in an event beside.
 */
#include "profile/writers/jfr/jfr.h"

#define NOT_SAID INT64_MIN /* of times */

void jfr_wait(struct jfr *j, const struct jfr_wait *w)
{
	uint64_t ticks = jfr_ticks_of(j, w->duration);
	const struct jfr_value enter[] = {JFR_N(ticks), JFR_N(w->thread), JFR_N(w->stack), JFR_N(w->class),
					  JFR_N(w->owner), JFR_N(w->identity)};
	const struct jfr_value wait[] = {JFR_N(ticks), JFR_N(w->thread), JFR_N(w->stack), JFR_N(w->class),
					 JFR_N(0), JFR_N(NOT_SAID), JFR_N(false), JFR_N(w->identity)};
	const struct jfr_value park[] = {JFR_N(ticks), JFR_N(w->thread), JFR_N(w->stack), JFR_N(w->class),
					 JFR_N(NOT_SAID), JFR_N(NOT_SAID), JFR_N(w->identity)};
	const struct jfr_value sleep[] = {JFR_N(ticks), JFR_N(w->thread), JFR_N(w->stack), JFR_N(NOT_SAID)};
	const struct jfr_value native[] = {JFR_N(ticks), JFR_N(w->thread), JFR_N(w->stack), JFR_N(w->identity)};
	const struct jfr_value owner[] = {JFR_N(ticks), JFR_N(w->thread), JFR_N(w->owner_stack), JFR_N(w->owner),
					  JFR_N(w->class), JFR_N(w->identity)};

	if (w->owner_stack || (lock_kind_is_native(w->kind) && w->owner))
		jfr_event(j, JFR_LOCK_OWNER, w->time, owner, ARRAY_LEN(owner));
	if (lock_kind_is_native(w->kind))
		jfr_event(j, JFR_NATIVE_LOCK, w->time, native, ARRAY_LEN(native));
	else if (w->kind == LOCK_MONITOR)
		jfr_event(j, JFR_MONITOR_ENTER, w->time, enter, ARRAY_LEN(enter));
	else if (w->kind == LOCK_WAIT)
		jfr_event(j, JFR_MONITOR_WAIT, w->time, wait, ARRAY_LEN(wait));
	else if (w->kind == LOCK_SLEEP)
		jfr_event(j, JFR_THREAD_SLEEP, w->time, sleep, ARRAY_LEN(sleep));
	else
		jfr_event(j, JFR_THREAD_PARK, w->time, park, ARRAY_LEN(park));
}
