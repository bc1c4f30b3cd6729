/*
 * call_samples.c - calls of chosen Java methods. Their probes (agent/tracing) come here when a call ends.
 *
 *   a call ends ─▶ counted in the thread's record ─▶ due? ─▶ stack without the probes' own frames ─▶ its queue
 *
 * One in so many of a thread's calls is a sample, at random distances whose mean is the interval, so that no rhythm of
 * the program can hide a caller; it weighs all calls since the last one. Where a thread's queue fills faster than it is
 * emptied, its distances grow before samples are lost.
 */
#include "agent/sources/calls/call_samples.h"

#include "agent/sample/field_sample.h"
#include "agent/sample/handler.h"
#include "agent/sample/record_sample.h"
#include "agent/sources/callback_source.h"
#include "common/base/clock_ns.h"

static _Atomic int event = -1; /* which of the session's; -1: none is taken */
static int wanted = -1;        /* the same, from the start to the halt */

/* ---- on the thread that calls ---- */

#define DOUBLED_MOST 20 /* times */

/*
 * Distances between R's samples are doubled while its queue fills up, ever more often towards the end, and halved again
 * when it is all but empty. That changes what the next ones weigh, not which calls they are.
 */
static void keep_pace(struct thread_record *r, uint32_t e)
{
	struct record_source *s = &r->sources[e];
	const struct queue *q = take_queue(r);
	uint64_t room = queue_room(q), part = q->capacity / 32;

	s->steady++;
	if (room < part || (room < 8 * part && s->steady > part) || (room < 16 * part && s->steady > 8 * part)) {
		if (s->burst == DOUBLED_MOST)
			return;
		s->burst++;
		atomic_fetch_add(&zone.raised[e], 1);
	} else if (s->burst && room > 28 * part && s->steady > 8) {
		s->burst--;
	} else {
		return;
	}
	s->steady = 0;
}

/* One more call on R, entered. What a sample of it weighs; 0: it is none. */
static uint64_t count(struct thread_record *r, uint32_t e)
{
	struct record_source *s = &r->sources[e];
	uint64_t weight = ++s->last_count - s->charged;

	if (weight < s->period)
		return 0;
	keep_pace(r, e);
	s->charged = s->last_count;
	s->period = callback_source_distance(s, zone.events[e].interval << s->burst);
	return weight;
}

void calls_called(uint32_t own)
{
	int e = atomic_load_explicit(&event, memory_order_acquire);
	struct thread_record *r = e < 0 ? NULL : field_sample_enter((uint32_t)e, 1);
	uint64_t weight;

	if (!r)
		return;
	weight = count(r, (uint32_t)e);
	if (weight)
		field_sample_take_below(r, (uint32_t)e, clock_ns(CLOCK_MONOTONIC), weight, own);
	wait_leave(r);
}

/* ---- the source ---- */

static int listen(struct buffer *notes, struct error *err)
{
	atomic_store(&event, wanted);
	return 0;
}

static void halt(void)
{
	atomic_store(&event, -1);
	wanted = -1;
}

static void listen_no_more(bool goes_on)
{
	halt();
}

static void vm_death(void)
{
	atomic_store(&event, -1);
}

static int start(struct engine_event *given, uint32_t e, struct buffer *notes, struct error *err)
{
	int rc = callback_source_start(given, err);

	if (rc == 0)
		wanted = (int)e;
	return rc;
}

static int arm(struct thread_record *r, uint32_t e)
{
	r->sources[e].steady = r->sources[e].burst = 0;
	return callback_source_arm_counting(r, e);
}

const struct engine_ops engine_calls = {
	.java = true,
	.name = "calls", .handler = handler_thread, .start = start, .arm = arm, .disarm = callback_source_disarm,
	.halt = halt, .counted = callback_source_count, .listen = listen, .listen_no_more = listen_no_more,
	.vm_death = vm_death,
};
