/*
 * periodic.c - each period a signal to each live thread, which takes its own stack.
 *
 * By CPU time (time=cpu) only threads get one that have used some since their last sample, and that much is
 * its weight; ticks are at random moments of their intervals, so as not to run in step with the program. By wall time
 * (time=wall) all of them do.
 *
 * A thread that ends between two ticks is in no sample, and no other thread stands for it: what others like it weigh
 * more (as by agent/zone/jitter.h) would have to be known of wall time. As much as they have used by their first
 * tick, scaled up to a whole period, is too much for threads that begin with some work and wait then, the usual ones; a
 * period for those that run just then is too little where this thread has taken the CPU from them.
 */
#include <string.h>

#include "agent/sample/handler.h"
#include "agent/sources/active.h"
#include "agent/sources/ticker.h"
#include "common/os/os.h"

/* A handler's way out, and the way back into a wait it broke off: not enough for a sample. */
#define NOTHING (50 * NS_PER_US)

static void open_rounds(uint64_t now), tick(uint32_t late);
static struct ticker ticker = {.name = "jstrobe ticks", .open = open_rounds, .tick = tick};

/* Whether R has used CPU time since its last sample. The record is held. */
static bool has_run(struct thread_record *r)
{
	const struct record_source *s = &r->sources[ticker.event];

	return active_thread_time(atomic_load(&r->tid)) > s->charged + NOTHING;
}

/* By wall time: ticks that have been, threads that are sampled, and the ticks from one signal to the next. */
static uint32_t ticks, sampled, stride;

/* Whether R has no tick this time, for there are so many. */
static bool rests(const struct thread_record *r)
{
	return stride > 1 && (ticks + r->index) % stride;
}

static void give(struct thread_record *r, uint32_t late, uint64_t now)
{
	uint32_t event = ticker.event;
	bool by_cpu = zone.events[event].ticks == TICKS_CPU;

	if (atomic_load_explicit(&r->sources[event].arm, memory_order_relaxed) != ARM_TICKS || !tick_hold(r, event))
		return;
	sampled++;
	if (rests(r)) {
		/* its tick comes */
	} else if (tick_is_open(r, event)) {
		tick_due(event, late + 1);
		tick_miss(event, LOSS_missed_tick, late);
	} else if (!by_cpu || has_run(r)) {
		tick_due(event, late + 1);
		tick_miss(event, LOSS_missed_tick, late);
		tick_ask(r, event, THREAD_RUNNING, now);
	}
	tick_let_go(event);
}

/* By wall time what was before the first tick does not count; CPU time does, from the arming on. */
static void open_rounds(uint64_t now)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	ticks = sampled = 0;
	for (i = 0; i < count && zone.events[ticker.event].ticks == TICKS_WALL; i++)
		zone.records.records[i].sources[ticker.event].charged = now;
}

static void tick(uint32_t late)
{
	uint32_t i, count = atomic_load(&zone.records.count);
	uint64_t now = os_monotonic();

	ticks += late + 1;
	stride = zone.events[ticker.event].ticks == TICKS_WALL ? tick_stride(ticker.event, sampled) : 1;
	sampled = 0;
	for (i = 0; i < count; i++)
		give(&zone.records.records[i], late, now);
}

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	(void)notes;
	ticker.scattered = event->ticks == TICKS_CPU;
	return ticker_begin(&ticker, e, err);
}

static int arm(struct thread_record *r, uint32_t e)
{
	r->sources[e].charged = zone.events[e].ticks == TICKS_WALL ? os_monotonic()
								    : active_thread_time(atomic_load(&r->tid));
	atomic_store(&r->sources[e].arm, ARM_TICKS);
	return 0;
}

static void disarm(struct thread_record *r, uint32_t e, bool at_work)
{
	(void)at_work;
	tick_close(r, e);
}

static void halt(void)
{
	ticker_end(&ticker);
}

static const char *way(void)
{
	return zone.events[ticker.event].ticks == TICKS_WALL ? "wall" : "cpu";
}

const struct engine_ops engine_periodic = {
	.name = "periodic", .ticks = TICKS_CPU, .way = way, .handler = handler_thread, .start = start, .arm = arm,
	.disarm = disarm, .halt = halt,
};
