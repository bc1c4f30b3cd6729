/*
 * ctimer.c - a POSIX timer on each thread's CPU clock. Needs no permission; bound to
 * the scheduler's tick, so a signal stands for several intervals (its overrun says how many). Periods vary
 * (signal/jitter.h).
 */
#include <errno.h>

#include "engine/engine.h"
#include "engine/force.h"
#include "os/os.h"
#include "signal/handler.h"

static unsigned timers_left; /* at most half of the user's pending signals are used */

void force_count_timers(void)
{
	unsigned limit = os_pending_limit(), used = os_pending_used();

	timers_left = limit / 2 > used ? limit / 2 - used : 0;
}

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	(void)event;
	(void)e;
	(void)notes;
	(void)err;
	return 0;
}

/* A moment of its CPU clock that the thread has not reached when its timer is set. */
#define AT_ONCE (100 * NS_PER_US)

/*
 * When R's timer expires first. The kernel looks at its tick whether one has, on average half a tick later: in whole
 * ticks a first period ends at each tick that meets the thread with the same chance, also at the first one.
 */
static uint64_t begin(struct record_source *s, pid_t tid, uint64_t interval)
{
	s->period = jitter_begin(&s->jitter, os_monotonic() ^ (uint64_t)tid << 32, interval);
	return os_thread_cpu(tid) + MAX(s->period - s->period % zone.tick, AT_ONCE);
}

/* Its handlers go on from the first expiry. */
static int set_off(struct record_source *s, pid_t tid, int32_t timer, uint32_t e)
{
	int rc;

	s->charged = begin(s, tid, zone.events[e].interval);
	s->timer = timer;
	atomic_store(&s->arm, ARM_TIMER);
	rc = os_timer_start(timer, s->charged, s->jitter.keep);
	if (rc == 0)
		return 0;
	atomic_store(&s->arm, ARM_NONE);
	s->timer = -1;
	os_timer_delete(timer);
	return rc;
}

static int arm(struct thread_record *r, uint32_t e)
{
	pid_t tid = atomic_load(&r->tid);
	int32_t timer;
	int rc = timers_left ? os_timer_create(tid, zone.signo, r, &timer) : -EAGAIN;

	if (rc == 0)
		rc = set_off(&r->sources[e], tid, timer, e);
	if (rc) {
		/* A thread that has just ended lacks nothing. */
		if (os_thread_exists(tid))
			force_lacks(LACK_TIMER, rc);
		return rc;
	}
	timers_left--;
	return 0;
}

/* Deleting is all there is to silence; the record keeps its arm for the count. */
static void silence(struct thread_record *r, uint32_t e)
{
	if (r->sources[e].timer < 0)
		return;
	os_timer_delete(r->sources[e].timer);
	r->sources[e].timer = -1;
	timers_left++;
}

static void disarm(struct thread_record *r, uint32_t e, bool at_work)
{
	(void)at_work;
	silence(r, e);
	atomic_store(&r->sources[e].arm, ARM_NONE);
}

const struct engine_ops engine_ctimer = {
	.name = "ctimer", .handler = handler_thread, .start = start, .arm = arm, .silence = silence,
	.disarm = disarm,
};
