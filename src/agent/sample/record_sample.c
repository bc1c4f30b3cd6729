#include "agent/sample/record_sample.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "agent/sample/tick_state.h"
#include "agent/zone/load.h"
#include "agent/zone/trace_context_read.h"
#include "common/base/clock_ns.h"

/* One that the collector has prepared takes the place of the present one. */
struct queue *take_queue(struct thread_record *r)
{
	struct queue *next = atomic_load_explicit(&r->next, memory_order_acquire);

	if (unlikely(next != NULL)) {
		atomic_store_explicit(&r->current, next, memory_order_release);
		atomic_store_explicit(&r->next, NULL, memory_order_release);
		return next;
	}
	return atomic_load_explicit(&r->current, memory_order_relaxed);
}

enum loss_reason take_refusal(const struct thread_record *r)
{
	if (unlikely(!atomic_load_explicit(&zone.enabled, memory_order_relaxed)))
		return LOSS_disabled;
	if (unlikely(atomic_load_explicit(&zone.vm_exiting, memory_order_relaxed)))
		return LOSS_vm_exiting;
	if (unlikely(atomic_load_explicit(&r->state, memory_order_relaxed) != RECORD_LIVE))
		return LOSS_thread_exiting;
	return LOSS_REASONS;
}

/* A signal that comes this much later found its thread without a CPU, where the kernel does not say. */
#define AT_ONCE (200 * NS_PER_US)

static enum thread_state state_of(const struct thread_record *r, uint32_t event, uint64_t time,
				  const struct walk_regs *regs)
{
	const struct record_source *s = &r->sources[event];

	if (zone.events[event].ticks != TICKS_WALL)
		return THREAD_RUNNING;
	if (s->expected != THREAD_RUNNING)
		return (enum thread_state)s->expected;
	return tick_state(r, regs, s->had_cpu == CPU_NOT_KNOWN ? time > s->asked_at + AT_ONCE :
								  s->had_cpu == CPU_HAS_NONE);
}

static uint32_t this_cpu(void)
{
	unsigned cpu = 0;

	return syscall(SYS_getcpu, &cpu, NULL, NULL) ? UINT32_MAX : cpu;
}

/*
 * Whether there is time for a walk whose loads are system calls (fault.h): some 0.3 ms, so one a millisecond in all.
 * Without a limit a thread with shorter intervals than that would never come to do anything else.
 */
static bool may_walk(void)
{
	static _Atomic uint64_t next;
	uint64_t now, when;

	if (likely(!load_asks()))
		return true;
	now = clock_ns(CLOCK_MONOTONIC);
	when = atomic_load(&next);
	return now >= when && atomic_compare_exchange_strong(&next, &when, now + NS_PER_MS);
}

static void walk(struct thread_record *r, const struct walk_regs *regs, struct stack_trace_writer *w)
{
	if (may_walk())
		walk_thread(&zone, r, regs, w);
	else
		walk_put_end(w, END_fault);
}

/* The trace of R: kernel frames of RING's record (may be NULL) on top of the user stack. */
static const struct stack_trace *take_stack(struct thread_record *r, const struct perf_reader *ring,
				      const struct walk_regs *regs, struct sample *s)
{
	struct stack_trace_writer w;
	uint64_t i, address;

	if (!stack_trace_begin(&w, &zone.store, &r->chunk, zone.depth))
		return NULL;
	for (i = 0; ring && i < ring->chain_length; i++) {
		address = perf_ring_address(ring, i);
		if (address)
			stack_trace_put(&w, frame_pc(FRAME_KERNEL, address));
	}
	if (unlikely(zone.record_cpu)) {
		s->payload = this_cpu();
		walk(r, regs, &w);
	} else if (unlikely(zone.stats)) {
		uint64_t start = clock_ns(CLOCK_MONOTONIC);

		walk(r, regs, &w);
		s->payload = (uint32_t)(clock_ns(CLOCK_MONOTONIC) - start);
	} else {
		walk(r, regs, &w);
	}
	s->unsure = w.unsure;
	return w.store_full ? NULL : stack_trace_end(&w);
}

bool take_push(struct thread_record *r, const struct sample *s, const struct trace_context_note *note)
{
	return s->noted ? queue_push_pair(take_queue(r), s, (const struct sample *)(const void *)note)
			: queue_push(take_queue(r), s);
}

void take_sample(struct thread_record *r, uint32_t event, uint64_t time, uint64_t weight,
		  const struct perf_reader *ring, const struct walk_regs *regs)
{
	struct sample s = {.time = time, .event = (uint8_t)event, .thread = r->index};
	struct trace_context_note note = {.unused = {0}};
	uint64_t now;

	s.weight = weight + r->sources[event].carried;
	r->sources[event].carried = 0;
	if (window_keeps_out(&zone.window)) {
		record_lose(r, event, LOSS_outside_window, s.weight);
		return;
	}
	s.epoch = (uint16_t)method_epoch_now(&zone.epochs);
	s.trace = take_stack(r, ring, regs, &s);
	if (!s.trace) {
		record_lose(r, event, LOSS_store_full, s.weight);
		return;
	}
	s.state = (uint8_t)state_of(r, event, time, regs);
	if (unlikely(zone.record_cpu) && s.state != THREAD_RUNNING)
		s.payload = UINT32_MAX; /* it has one only to answer this signal */
	s.vthread = zone_mounted(r);
	now = clock_ns(CLOCK_MONOTONIC);
	s.handler_ns = (uint32_t)MIN(now - time, (uint64_t)UINT32_MAX);
	if (zone.events[event].ticks == TICKS_WALL)
		r->place = (struct record_place){regs->pc, regs->sp, regs->fp, s.trace, r->chunk.generation};
	s.noted = trace_context_of_record(r, &note.trace_context);
	if (!take_push(r, &s, &note))
		record_lose(r, event, LOSS_queue_full, s.weight);
	record_stir(&zone.records, r->index);
}
