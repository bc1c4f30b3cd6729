/*
 * drain.c - one pass of the collector over the queues: those that something was put into, now and then all.
 *
 * A queue that overflowed since it last grew gets a bigger successor: stored in
 * record.next, taken by that thread's handler at its next start, and the old one is freed when
 * record.current shows the new one. No fence, no waiting.
 */
#include <stdlib.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/drain.h"
#include "agent/collect/ended_threads.h"
#include "agent/collect/names/method_identity.h"
#include "agent/collect/sink.h"
#include "agent/threads/record_table.h"
#include "agent/threads/records.h"
#include "agent/threads/run_queue.h"
#include "agent/zone/zone.h"

/* Of a call that goes on another thread tells, R, in its own queue: whose it is, S says. */
static struct thread_record *subject(struct thread_record *r, const struct sample *s)
{
	return likely(s->thread == r->index) ? r : &zone.records.records[s->thread];
}

/* What follows S in Q: the wait that it is, or its fields, and what its thread worked for. */
static void take(struct collector *c, struct thread_record *r, struct queue *q, const struct sample *s)
{
	struct thread_record *whose = subject(r, s);
	struct sample note, trace_context_note;
	bool waits = unlikely(c->options.waits[s->event]) && queue_pop(q, &note);
	bool fields = unlikely(c->options.fields[s->event].count) && queue_pop(q, &note);
	const struct trace_context *trace_context = NULL;

	if (s->noted && queue_pop(q, &trace_context_note))
		trace_context = &((const struct trace_context_note *)(const void *)&trace_context_note)->trace_context;
	if (waits)
		aggregate_wait(c, s, (const struct wait_note *)(const void *)&note, trace_context, whose);
	else if (fields)
		aggregate_fields(c, s, (const struct field_note *)(const void *)&note, trace_context, whose);
	else
		aggregate_sample(c, s, trace_context, whose);
	if (unlikely(whose != r))
		atomic_fetch_sub(&whose->told, 1);
}

static void empty(struct collector *c, struct thread_record *r, struct queue *q)
{
	uint32_t fill = queue_fill(q);
	struct sample s;

	q->max_fill = MAX(q->max_fill, fill);
	c->queues.max_fill = MAX(c->queues.max_fill, fill);
	while (queue_pop(q, &s))
		take(c, r, q, &s);
}

static void grow(struct collector *c, struct thread_record *r)
{
	uint32_t now = r->draining->capacity, wanted, e;
	uint64_t full = 0;
	struct queue *q;

	for (e = 0; e < c->options.events; e++)
		full += atomic_load(&r->lost[e].count[LOSS_queue_full]);
	if (full == r->full_at_growth || atomic_load(&r->next) ||
	    atomic_load(&r->current) != r->draining)
		return;
	/* Less than a hundredth of it is no reason yet, but such losses add up: none goes on losing a few for ever. */
	wanted = queue_next_capacity(now, full - r->full_at_growth);
	if (wanted == now)
		return;
	q = queues_bigger(wanted);
	if (!q)
		return;
	r->full_at_growth = full;
	c->queues.increments++;
	atomic_store_explicit(&r->next, q, memory_order_release);
}

/* The handler has moved to the queue it was offered: the old one is ours alone now. */
static void follow(struct collector *c, struct thread_record *r)
{
	struct queue *current = atomic_load_explicit(&r->current, memory_order_acquire);

	if (current == r->draining)
		return;
	empty(c, r, r->draining);
	queues_free(r->index, r->draining);
	r->draining = current;
	empty(c, r, current);
}

static void drain_runs(struct collector *c)
{
	struct run_note n;

	while (runs_pop(&n))
		aggregate_run(c, &n);
}

/* R's queue takes BYTES now. */
static void count_queue(struct collector *c, struct thread_record *r, uint64_t bytes)
{
	c->queues.bytes += bytes - r->counted;
	r->counted = bytes;
}

static void drain_record(struct collector *c, struct thread_record *r)
{
	/* Read first: what was queued before the thread ended is then seen below. */
	bool ended = atomic_load(&r->state) == RECORD_CLOSING;
	bool closing = ended && !atomic_load(&r->inside) && !atomic_load(&r->told) && !c->sources->keeps(r);

	if (ended && !closing)
		record_stir(&zone.records, r->index); /* at the next tick, perhaps */
	if (closing) {
		drain_runs(c);
		aggregate_done_waits(c);
		aggregate_names(c); /* what was said of it until its end, lest it be said of the tid's next owner */
		sink_marked(c);
	}
	empty(c, r, r->draining);
	follow(c, r);
	count_queue(c, r, closing ? 0 : queue_bytes(r->draining->capacity));
	c->queues.max_capacity = MAX(c->queues.max_capacity, r->draining->capacity);
	if (closing) {
		uint64_t tid = (uint64_t)atomic_load(&r->tid);
		uint32_t *entry = map_get(&c->by_tid, tid);

		if (c->with_waits)
			ended_note(c, r);
		/* The tid may come again, with another name. */
		aggregate_forget_number(c, tid);
		if (entry && *entry == r->thread_entry)
			map_remove(&c->by_tid, tid);
		if (r->thread_entry && r->thread_entry <= c->threads.count)
			sink_thread_end(c, r->thread_entry - 1);
		aggregate_end(c, r);
		records_free(r);
	} else {
		grow(c, r);
	}
}

static void drain_index(struct collector *c, uint32_t i)
{
	struct thread_record *r = &zone.records.records[i];

	if (atomic_load(&r->state) != RECORD_FREE && r->draining)
		drain_record(c, r);
}

static void begin(struct collector *c)
{
	c->frames.drain++;
	if (c->sources->blocks_gather)
		c->sources->blocks_gather();
	method_epoch_look(&zone.epochs);
	/* What this drain finds was sampled after the last one began. */
	c->epoch_floor = c->epoch_of_drain;
	c->epoch_of_drain = method_epoch_now(&zone.epochs);
	drain_runs(c);
	aggregate_done_lately(c);
}

static void end(struct collector *c)
{
	/* Of a thread whose sample was found in its queue, the run before that sample is told in the same drain. */
	drain_runs(c);
	sink_freed(c);
	sink_marked(c);
	aggregate_peak_look(c, false);
	if (upkeep_counts_missing())
		atomic_fetch_add(&zone.epochs.drains, 1);
	method_epoch_look(&zone.epochs);
	sink_drained(c);
}

void drain_all(struct collector *c)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	begin(c);
	for (i = 0; i < count; i++)
		drain_index(c, i);
	end(c);
}

void drain_stirred(struct collector *c)
{
	uint32_t i, words = (atomic_load(&zone.records.count) + 63) / 64;

	begin(c);
	for (i = 0; i < words; i++) {
		_Atomic uint64_t *word = &zone.records.stirred[i];
		uint64_t bits = atomic_load_explicit(word, memory_order_relaxed) ? atomic_exchange(word, 0) : 0;

		for (; bits; bits &= bits - 1)
			drain_index(c, i * 64 + (uint32_t)__builtin_ctzll(bits));
	}
	end(c);
}
