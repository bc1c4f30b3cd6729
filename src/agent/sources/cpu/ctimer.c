/*
 * ctimer.c - a POSIX timer on each thread's CPU clock. Needs no permission; bound to
 * the scheduler's tick, so a signal stands for several intervals (its overrun says how many). Periods vary
 * (agent/zone/jitter.h). Of user mode only, its clock is that of user time: a tick that meets the kernel moves it
 * not.
 */
#include <errno.h>

#include "agent/sample/handler.h"
#include "agent/sources/active.h"
#include "agent/sources/engine.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/os/os.h"

static unsigned timers_left; /* at most half of the user's pending signals are used */

void active_count_timers(void)
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

/* A moment of its clock that the thread has not reached when its timer is set. */
#define AT_ONCE (100 * NS_PER_US)

/*
 * When R's timer expires first. The kernel looks at its tick whether one has, on average half a tick later: in whole
 * ticks a first period ends at each tick that meets the thread with the same chance, also at the first one.
 */
static uint64_t begin(struct record_source *s, pid_t tid, uint64_t interval)
{
	s->period = jitter_begin(&s->jitter, os_monotonic() ^ (uint64_t)tid << 32, interval);
	return active_thread_time(tid) + MAX(s->period - s->period % zone.tick, AT_ONCE);
}

/* Its handlers go on from the first expiry. */
static int set_off(struct record_source *s, pid_t tid, int32_t timer, uint32_t e)
{
	int rc;

	s->charged = begin(s, tid, zone.events[e].interval);
	s->silent_at = 0;
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
	int rc = timers_left ? os_timer_create(tid, active_options()->user_only, zone.signo, r, &timer) : -EAGAIN;

	if (rc == 0)
		rc = set_off(&r->sources[e], tid, timer, e);
	if (rc) {
		/* A thread that has just ended lacks nothing. */
		if (os_thread_exists(tid))
			shortfall_note(SHORTFALL_TIMER, rc);
		return rc;
	}
	timers_left--;
	return 0;
}

static void give_back(struct record_source *s)
{
	if (s->timer < 0)
		return;
	os_timer_delete(s->timer);
	s->timer = -1;
	timers_left++;
}

/* Whether S has expired by the time NOW of its CPU clock, and its handler has not come: the kernel looks each tick. */
static bool is_due(const struct record_source *s, uint64_t now)
{
	return s->timer >= 0 && now >= s->charged + zone.tick;
}

/*
 * Deleting is all there is to silence; the record keeps its arm for the count. A timer that has expired stays until its
 * thread has come back from the kernel: its signal would go with it.
 */
static void silence(struct thread_record *r, uint32_t e)
{
	struct record_source *s = &r->sources[e];

	s->silent_at = active_thread_time(atomic_load(&r->tid));
	if (!is_due(s, s->silent_at))
		give_back(s);
}

static bool has_rest(const struct thread_record *r, uint32_t e)
{
	const struct record_source *s = &r->sources[e];

	return atomic_load(&((struct record_source *)s)->arm) == ARM_TIMER && is_due(s, s->silent_at);
}

/* What was due is lost: the thread ends, or has not come back. */
static void lose_rest(struct thread_record *r, uint32_t e)
{
	struct record_source *s = &r->sources[e];
	uint64_t now = s->silent_at ? s->silent_at : active_thread_time(atomic_load(&r->tid));

	if (!is_due(s, now))
		return;
	record_take(r, e);
	record_lose(r, e, active_rest_why(ARM_TIMER), handler_timer_weight(s, e, (now - s->charged) / s->jitter.keep));
}

static void disarm(struct thread_record *r, uint32_t e, bool at_work)
{
	struct record_source *s = &r->sources[e];

	if (!at_work)
		lose_rest(r, e);
	give_back(s);
	s->silent_at = 0;
	atomic_store(&s->arm, ARM_NONE);
}

const struct engine_ops engine_ctimer = {
	.name = "ctimer", .handler = handler_thread, .start = start, .arm = arm, .silence = silence,
	.has_rest = has_rest, .disarm = disarm,
};
