/*
 * queue.h - the samples of one thread on their way to the collector.
 *
 * One producer (the handlers of that thread, which mask each other), one
 * consumer (the collector). Pre-allocated; a full queue drops the new sample,
 * which the caller counts. Queues grow only between drains: the collector
 * hands a bigger one over through the thread record (see thread_record.h).
 */
#ifndef JSTROBE_ZONE_QUEUE_H
#define JSTROBE_ZONE_QUEUE_H

#include <stdatomic.h>

#include "agent/zone/trace_context.h"
#include "common/base/base.h"
#include "common/words/events.h"

struct stack_trace;

/* One sample, 48 bytes, on 32-bit CPUs too. */
struct sample {
	uint64_t time;          /* CLOCK_MONOTONIC ns */
	const struct stack_trace *trace;
	uint64_t weight;        /* ns of CPU (or wall) time, or events, since this source's last sample */
	uint64_t vthread;       /* virtual thread (its java tid), 0 = none */
	uint32_t thread;        /* index of the subject's record */
	uint32_t handler_ns;    /* time spent in the handler, saturating */
	uint8_t event : 6;      /* which of the session's */
	uint8_t unsure : 1;     /* its innermost method may be another that is inlined there (guards.h) */
	uint8_t noted : 1;      /* a struct trace_context_note follows it in its queue */
	uint8_t state;          /* enum thread_state */
	uint16_t epoch;           /* lower bits of the era its walk began in (see method_epoch.h) */
	uint32_t payload;       /* ns of the walk, or the CPU, when asked for (features=stats, record-cpu) */
} __attribute__((aligned(8)));

/* What follows a sample of an event with fields (events.def): their values, in that order; of a class its number. */
struct field_note {
	uint64_t values[EVENT_FIELDS_MAX];
};
_Static_assert(sizeof(struct field_note) == sizeof(struct sample), "they share a queue");

/* What follows a sample whose thread works for something; behind the other note, if there is one. */
struct trace_context_note {
	struct trace_context trace_context;
	uint64_t unused[2];
};
_Static_assert(sizeof(struct trace_context_note) == sizeof(struct sample), "they share a queue");

struct queue {
	uint32_t capacity;
	/* 64 bits: a wrap-around would break index = head % capacity (2^32 samples take 5 days at 100 µs). */
	_Atomic uint64_t head;  /* written by the producer; counts for ever */
	_Atomic uint64_t tail;  /* written by the collector */
	uint32_t max_fill;      /* collector's: most entries found at one drain */
	struct sample entries[];
};

#define QUEUE_START 20    /* entries of a new queue unless asked otherwise (960 bytes) */
#define QUEUE_LIMIT 2000

static inline size_t queue_bytes(uint32_t capacity)
{
	return sizeof(struct queue) + capacity * sizeof(struct sample);
}

/* Add S. False when full. Producer only; any context. */
static inline bool queue_push(struct queue *q, const struct sample *s)
{
	uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&q->tail, memory_order_acquire) >= q->capacity)
		return false;
	q->entries[head % q->capacity] = *s;
	atomic_store_explicit(&q->head, head + 1, memory_order_release);
	return true;
}

/* Add ROW[0..N), one right behind the other; all or none. False when there is no room. As queue_push. */
static inline bool queue_push_row(struct queue *q, const struct sample *const *row, uint32_t n)
{
	uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
	uint32_t i;

	if (head + n - atomic_load_explicit(&q->tail, memory_order_acquire) > q->capacity)
		return false;
	for (i = 0; i < n; i++)
		q->entries[(head + i) % q->capacity] = *row[i];
	atomic_store_explicit(&q->head, head + n, memory_order_release);
	return true;
}

/* Whether N more leave a quarter of Q free: for who can wait, so that handlers' samples find room. Producer only. */
static inline bool queue_has_plenty(struct queue *q, uint32_t n)
{
	uint64_t fill = atomic_load_explicit(&q->head, memory_order_relaxed) -
			atomic_load_explicit(&q->tail, memory_order_acquire);

	return fill + n <= q->capacity - q->capacity / 4;
}

/* The same for S and what follows it. */
static inline bool queue_push_pair(struct queue *q, const struct sample *s, const struct sample *note)
{
	const struct sample *const row[] = {s, note};

	return queue_push_row(q, row, ARRAY_LEN(row));
}

/* How many more it can take. Producer only; any context. */
static inline uint64_t queue_room(const struct queue *q)
{
	return q->capacity - (atomic_load_explicit(&q->head, memory_order_relaxed) -
			      atomic_load_explicit(&q->tail, memory_order_acquire));
}

/* Entries waiting. Consumer only. */
static inline uint32_t queue_fill(const struct queue *q)
{
	return (uint32_t)(atomic_load_explicit(&q->head, memory_order_acquire) -
			  atomic_load_explicit(&q->tail, memory_order_relaxed));
}

/* Take the oldest entry. False when empty. Consumer only. */
static inline bool queue_pop(struct queue *q, struct sample *s)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	if (tail == atomic_load_explicit(&q->head, memory_order_acquire))
		return false;
	*s = q->entries[tail % q->capacity];
	atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
	return true;
}

/*
 * Capacity for a queue that LOST_FULL samples have found full since it has this one:
 * with r = lost / capacity: r > 8 → ×⌊r⌋, r > 2 → ×8, r > 0.5 → ×4, r > 0.01 → ×2,
 * at most QUEUE_LIMIT, never smaller (the rule of JDK 25's CPU-time sampler, JDK-8366082).
 */
uint32_t queue_next_capacity(uint32_t capacity, uint64_t lost_full);

#endif
