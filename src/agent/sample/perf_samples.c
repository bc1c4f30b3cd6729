/*
 * perf_samples.c - the samples behind a perf event's signal: what its ring and those of the thread's
 * other events hold, each weighing what the event's count has grown by.
 */
#include "agent/sample/perf_samples.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/sample/record_sample.h"
#include "agent/sample/tick_state.h"
#include "common/base/clock_ns.h"

/*
 * A thread whose last BURST samples came each within 500 µs of its CPU time, and 2 ms of real time, gets
 * its interval doubled: this bounds what a session can cost (a sample of a breakpoint takes 50 µs and more
 * where a hypervisor has a say in debug registers), and ends the storms in which a signal causes the very
 * event that sends the next one (it wakes a thread, whose restarted system call waits again: a context
 * switch). Weights are counts, so they stay right.
 */
#define BURST 64
#define BURST_CPU (BURST * 500 * NS_PER_US)
#define BURST_REAL (BURST * 2 * NS_PER_MS)

void perf_hush(struct thread_record *r, bool on)
{
	unsigned long trace_context = on ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE;
	uint32_t e;

	if (likely(!zone.quiet))
		return;
	/* What the stop has silenced meanwhile stays so: see engine_stop. */
	if (!on && !atomic_load(&zone.enabled))
		return;
	for (e = 0; e < zone.event_count; e++)
		if (zone.events[e].quiet &&
		    atomic_load_explicit(&r->sources[e].arm, memory_order_acquire) == ARM_PERF &&
		    (on || !atomic_load_explicit(&r->sources[e].rests_until, memory_order_relaxed)))
			syscall(SYS_ioctl, r->sources[e].fd, trace_context, 0);
}

static uint64_t growth(struct record_source *s, uint64_t count)
{
	uint64_t weight = count > s->last_count ? count - s->last_count : 0;

	s->last_count = MAX(count, s->last_count);
	return weight;
}

/* Without a ring the count must be asked for. */
uint64_t perf_count(const struct record_source *s, bool scaled)
{
	uint64_t words[3] = {0, 0, 0};
	long size = (scaled ? 3 : 1) * (long)sizeof(words[0]);

	/* Not read(): that is a cancellation point. */
	if (syscall(SYS_read, s->fd, words, size) != size)
		return s->last_count;
	return scaled ? perf_scaled(words[0], words[1], words[2]) : words[0];
}

/* See BURST. */
static void calm(struct record_source *s, uint32_t event, uint64_t time)
{
	uint64_t doubled = s->period * 2, cpu;

	if (++s->burst < BURST)
		return;
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (time - s->burst_began < BURST_REAL && cpu - s->burst_cpu < BURST_CPU &&
	    syscall(SYS_ioctl, s->fd, PERF_EVENT_IOC_PERIOD, &doubled) == 0) {
		s->period = doubled;
		atomic_fetch_add_explicit(&zone.raised[event], 1, memory_order_relaxed);
	}
	s->burst = 0;
	s->burst_began = time;
	s->burst_cpu = cpu;
}

static uint64_t least_bulk(uint32_t event)
{
	return jitter_bulk(zone.events[event].interval);
}

/*
 * The period after this sample, from now on; the event's count goes on. The system call takes as long as the sample
 * does where a hypervisor has a say in timers, so it is made where it matters only (jitter.h).
 */
static void vary(struct record_source *s, uint32_t event, bool may_react)
{
	uint64_t period = s->period;

	if (!zone.events[event].varies ||
	    !jitter_next(&s->jitter, zone.events[event].interval, may_react, &period))
		return;
	if (syscall(SYS_ioctl, s->fd, PERF_EVENT_IOC_PERIOD, &period) == 0)
		s->period = period;
	else
		s->jitter.kind = JITTER_KEPT;
}

/*
 * What a sample stands for whose count is COUNT, before anything is varied. The kernel counts all of a thread's time
 * where only periods that end in user mode bring samples: one of those stands for the period that has just ended.
 */
static uint64_t sampled(struct record_source *s, uint32_t event, uint64_t count, bool *again)
{
	uint64_t grown = growth(s, count);

	if (likely(!zone.events[event].user_only))
		return grown;
	*again = grown >= 2 * s->period;
	return MIN(grown, s->period);
}

/* What a sample weighs whose count is COUNT; FRESH as in jitter.h. */
static uint64_t weight_of(struct record_source *s, uint32_t event, uint64_t count, bool fresh)
{
	bool again = false;
	uint64_t grown = sampled(s, event, count, &again);

	fresh = fresh && !again;
	return zone.events[event].varies
		       ? jitter_weight(&s->jitter, zone.events[event].interval, s->period, grown, fresh)
		       : grown;
}

/* What came after the last record of RING, which was full; how much of it in user mode is not known. */
static uint64_t beyond(struct record_source *s, uint32_t event, const struct perf_reader *ring)
{
	return zone.events[event].user_only ? 0 : growth(s, perf_count(s, ring->scaled));
}

#define QUEUE_ROW 2 /* entries that a sample may take: with a note behind it */
#define RESTART 16 /* a system call that is made again is at its own instruction, not behind it */

/* Whether the thread has not been in user mode between RING's record and REGS, as far as the record tells. */
static bool is_there_still(const struct perf_reader *ring, const struct walk_regs *regs)
{
	uint64_t off = ring->pc > regs->pc ? ring->pc - regs->pc : regs->pc - ring->pc;

	return !ring->placed || (ring->sp == regs->sp && off <= RESTART);
}

#define OWN_STACK 8192 /* of this handler, below what it was given */

/* Whether RING's record was made when the signal had been delivered, before the ring was opened. */
static bool is_own(const struct perf_reader *ring, const struct walk_regs *regs)
{
	uintptr_t top = (uintptr_t)regs->all;

	return ring->placed && ring->sp <= top && top - ring->sp < OWN_STACK;
}

/*
 * Whether RING's record, the LAST or not, is of the stack at REGS. In user mode the signal comes some instructions
 * later. A thread that blocks its signals has gone on since: what it did is not known any more.
 */
static bool is_of(const struct perf_reader *ring, const struct walk_regs *regs, bool last)
{
	return (last && !ring->in_kernel && !ring->full) || is_there_still(ring, regs);
}

/*
 * RING's record, the LAST or not. If they filled the ring, the last one stands for what came after it, too; if they
 * fill the queue, for those that find no room.
 */
static void ring_sample(struct thread_record *r, uint32_t event, uint64_t time, const struct perf_reader *ring,
			bool fresh, const struct walk_regs *regs)
{
	struct record_source *s = &r->sources[event];
	uint64_t weight = weight_of(s, event, ring->count, fresh);
	bool last = ring->tail == ring->head;

	if (unlikely(last && ring->full))
		weight += beyond(s, event, ring);
	record_take(r, event);
	if (unlikely(is_own(ring, regs))) {
		/* What passed until then is the stack's, its kernel part is not known: there may have been no room. */
		take_sample(r, event, time, weight, NULL, regs);
	} else if (unlikely(!is_of(ring, regs, last))) {
		record_lose(r, event, LOSS_signal_late, weight);
	} else if (unlikely(!last && queue_room(take_queue(r)) < 2 * QUEUE_ROW)) {
		record_lose(r, event, LOSS_queue_full, 0);
		s->carried += weight;
	} else {
		take_sample(r, event, time, weight, ring, regs);
	}
	if (zone.events[event].quiet)
		calm(s, event, time);
}

/*
 * What has come into RING since it was opened was made in this handler, which takes longer than a short interval. Their
 * time is the next sample's: to take them would take as long again.
 */
static void ring_own(struct thread_record *r, uint32_t event, struct perf_reader *ring)
{
	struct record_source *s = &r->sources[event];

	perf_ring_close(ring);
	perf_ring_open(ring, s->ring, ring->scaled);
	while (perf_ring_next(ring)) {
		bool again;

		s->carried += sampled(s, event, ring->count, &again);
	}
	record_lose_many(r, event, LOSS_ring_full, ring->lost);
}

/*
 * Several records may stand behind one signal (the thread was in the kernel all the while): each has a kernel stack of
 * its own over the same user stack.
 */
static void ring_samples(struct thread_record *r, uint32_t event, uint64_t time,
			 const struct walk_regs *regs)
{
	struct record_source *s = &r->sources[event];
	struct perf_reader ring;
	bool reacts;

	perf_ring_open(&ring, s->ring, zone.events[event].scaled);
	if (perf_ring_next(&ring)) {
		ring_sample(r, event, time, &ring, true, regs);
		/* What ends because of a signal leaves one record. */
		reacts = ring.in_kernel && ring.tail == ring.head && tick_in_bulk(regs, least_bulk(event));
		while (perf_ring_next(&ring))
			ring_sample(r, event, time, &ring, false, regs);
		if (unlikely(ring.lost))
			record_lose_many(r, event, LOSS_ring_full, ring.lost);
		ring_own(r, event, &ring);
		vary(s, event, reacts);
	}
	perf_ring_close(&ring);
}

/* Without a ring: one sample, if EVENT sent the SIGNAL or has counted enough by now. */
static void bare_sample(struct thread_record *r, uint32_t event, bool signal, uint64_t time,
			const struct walk_regs *regs)
{
	struct record_source *s = &r->sources[event];
	uint64_t count = perf_count(s, zone.events[event].scaled);

	if (!signal && (zone.events[event].user_only || count - s->last_count < s->period))
		return;
	record_take(r, event);
	take_sample(r, event, time, weight_of(s, event, count, true), NULL, regs);
	vary(s, event, tick_in_bulk(regs, least_bulk(event)));
	if (zone.events[event].quiet)
		calm(s, event, time);
}

/* ---- what no handler has taken ---- */

static void lose(struct thread_record *r, uint32_t event, enum loss_reason why, uint64_t weight)
{
	record_take(r, event);
	record_lose(r, event, why, weight);
}

static void lose_ring(struct thread_record *r, uint32_t event, enum loss_reason why)
{
	struct record_source *s = &r->sources[event];
	struct perf_reader ring;
	uint64_t weight;
	bool fresh;

	perf_ring_open(&ring, s->ring, zone.events[event].scaled);
	for (fresh = true; perf_ring_next(&ring); fresh = false) {
		weight = weight_of(s, event, ring.count, fresh);
		if (ring.tail == ring.head && ring.full)
			weight += beyond(s, event, &ring);
		lose(r, event, why, weight);
	}
	if (ring.lost)
		record_lose_many(r, event, LOSS_ring_full, ring.lost);
	perf_ring_close(&ring);
}

bool perf_has_rest(const struct thread_record *r, uint32_t event)
{
	const struct record_source *s = &r->sources[event];

	if (s->ring)
		return perf_ring_holds(s->ring);
	return !zone.events[event].user_only &&
	       perf_count(s, zone.events[event].scaled) - s->last_count >= s->period;
}

void perf_lose_rest(struct thread_record *r, uint32_t event, enum loss_reason why)
{
	struct record_source *s = &r->sources[event];

	if (zone.events[event].role != WINDOW_NONE)
		return;
	if (s->ring)
		lose_ring(r, event, why);
	else if (perf_has_rest(r, event))
		lose(r, event, why, weight_of(s, event, perf_count(s, zone.events[event].scaled), true));
}

void perf_samples(struct thread_record *r, uint32_t event, uint64_t time, const struct walk_regs *regs)
{
	uint32_t e;

	for (e = 0; e < zone.event_count; e++) {
		struct record_source *s = &r->sources[e];

		/* Not armed (any more): its ring and its descriptor are no business of ours. */
		if (zone.events[e].role != WINDOW_NONE ||
		    atomic_load_explicit(&s->arm, memory_order_acquire) != ARM_PERF)
			continue;
		if (s->ring)
			ring_samples(r, e, time, regs);
		else
			bare_sample(r, e, e == event, time, regs);
	}
}
