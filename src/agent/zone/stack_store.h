/*
 * stack_store.h - the store of stacks ("call traces").
 *
 * Every distinct stack is kept once. A handler writes the frames straight into
 * memory reserved for its thread, then looks for an equal trace: if there is one
 * the memory is simply used again, else the trace is published by one compare-and-swap.
 *
 *   arena  ┌──────────────┬───────────────┬────── ─ ─
 *          │ chunk of T1  │ chunk of T2   │ …           bump-allocated, populated ahead by the collector
 *          └──────────────┴───────────────┴────── ─ ─
 *   index  [tag|address] [tag|address] …                 open addressing, at most 8 probes;
 *                                                        past that a trace stays unshared
 *                                                        (the collector merges it)
 *
 * It works in generations: a new one begins with an empty arena and index of its own, and the memory of the one before
 * goes back when no handler and no queue can know anything of it any more (agent/collect/generation.c). A handler is in
 * the generation it found when it began, to its end. Traces that are kept until later, of waits that have not ended
 * say, are copied into the new one (agent/collect/sources.h).
 */
#ifndef JSTROBE_ZONE_STACK_STORE_H
#define JSTROBE_ZONE_STACK_STORE_H

#include <stdatomic.h>

#include "agent/zone/frame_word.h"
#include "common/base/error.h"

struct stack_trace {
	uint32_t hash;
	uint32_t length;          /* frames */
	_Atomic uint32_t id;      /* the collector's number for it, 0 = not seen yet */
	uint32_t generation;         /* which of the collector's aggregates that number is of */
	uint64_t frame[];         /* leaf first */
};

struct stack_index {
	uint32_t mask;
	_Atomic uint32_t used;
	_Atomic uint64_t slot[];  /* hash bits 63..48, address 47..0 */
};

/* The memory of a generation. */
struct stack_arena {
	uintptr_t base;           /* 0 = none reserved */
	size_t size;              /* reserved bytes */
	_Atomic size_t used;      /* handed out */
	_Atomic size_t writable;  /* handlers may use it up to here (collector) */
	_Atomic size_t ready;     /* populated up to here (collector) */
	_Atomic(struct stack_index *) index;
};

struct stack_store {
	_Atomic uint32_t generation; /* its arena is the one of the two with the same lowest bit */
	struct stack_arena arena[2];
	size_t size;              /* bytes reserved for a generation */
	struct stack_index *retired; /* collector's: former index, freed when no handler reads it */
	bool renewed;             /* collector's: the other arena is of the generation before */
};

/* A thread's own piece of the arena. */
struct stack_chunk {
	uint64_t *pos, *end;      /* free words; NULL = none yet */
	uint32_t taken;           /* chunks this thread has had: later ones are bigger */
	uint32_t generation;
};

/*
 * A trace that is kept until later; NULL = none. It is written inside (agent/zone/thread_record.h), and the
 * collector puts an equal one in its place. The thread that gives it up stores NULL.
 */
typedef _Atomic(const struct stack_trace *) kept_stack;
/* What shall be kept in place of T. */
typedef const struct stack_trace *kept_stack_fn(const struct stack_trace *t, void *arg);

/* A trace being written. */
struct stack_trace_writer {
	struct stack_arena *arena;
	struct stack_chunk *chunk;
	struct stack_trace *trace;
	uint64_t *pos, *limit;
	uint32_t depth_left;      /* frames that may still be written beyond LIMIT's chunk */
	bool full;                /* depth or store exhausted: nothing more was written */
	bool store_full;
	bool unsure;              /* the innermost method may be a neighbour that is inlined, too (guards.h) */
};

/* Reserve a store of SIZE bytes of address space. Normal code. */
int stack_store_open(struct stack_store *s, size_t size, struct error *err);
/* Unmap everything; no handler may run any more. */
void stack_store_close(struct stack_store *s);
/* Collector: keep memory populated ahead of the handlers, and the index at most a quarter full. */
void stack_store_prepare(struct stack_store *s);
/* Collector: only the memory, nothing is retired. */
void stack_store_populate(struct stack_store *s);
/* Collector: free the index that prepare() retired; call when no handler can still read it. */
void stack_store_reclaim(struct stack_store *s);
/*
 * Collector: the next generation, whose memory is there, and no handler knows of it yet: what is kept gets its place in
 * it before others can fill it. False without memory, or while the one before is not given back yet.
 */
bool stack_store_open_next(struct stack_store *s);
/* Collector: handlers use it from now on; it is opened if it was not. False as above. */
bool stack_store_renew(struct stack_store *s);
/* Collector: give back the one before, when no handler is in it and none of its traces is held. */
void stack_store_forget(struct stack_store *s);
/*
 * Collector: T, of a former generation, in the newest one, with C; T itself if it is there already, NULL when there is
 * no room.
 */
const struct stack_trace *stack_store_move(struct stack_store *s, struct stack_chunk *c, const struct stack_trace *t);
/* Collector: C has room for BYTES more in the newest generation, unless that is full. */
void stack_store_reserve(struct stack_store *s, struct stack_chunk *c, size_t bytes);
/* FN of each trace of the present generation that equal ones are found by. */
void stack_store_each(struct stack_store *s, void (*fn)(struct stack_trace *, void *arg), void *arg);
/* Bytes of memory in use (arenas handed out, and their indexes). */
size_t stack_store_bytes(const struct stack_store *s);

/* Begin a trace of at most DEPTH frames. False when the store is full. Handler. */
bool stack_trace_begin(struct stack_trace_writer *w, struct stack_store *s, struct stack_chunk *c, uint32_t depth);
/* The same in GENERATION, which may be the next one. Collector. */
bool stack_trace_begin_in(struct stack_trace_writer *w, struct stack_store *s, uint32_t generation,
			  struct stack_chunk *c,
		    uint32_t depth);
/* The trace equal to T that is found in A; NULL = there is none. No memory is used for that. */
const struct stack_trace *stack_trace_find(const struct stack_arena *a, const struct stack_trace *t);
/* C's free piece is BYTES of A now. False: A has not so much left. */
bool stack_chunk_take(struct stack_arena *a, struct stack_chunk *c, size_t bytes);
/* Slow path of stack_trace_put: a bigger chunk, or full. Handler. */
bool stack_trace_grow(struct stack_trace_writer *w);
/* Finish: the shared trace equal to what was written (maybe that itself). Handler. */
const struct stack_trace *stack_trace_end(struct stack_trace_writer *w);
/* The same with T's frames, for which it was begun. NULL: there is no room. */
const struct stack_trace *stack_trace_end_as(struct stack_trace_writer *w, const struct stack_trace *t);

/*
 * Whether T, or NULL, is of the present generation; it stays so while the thread is inside
 * (agent/zone/thread_record.h).
 */
static inline bool stack_trace_is_present(const struct stack_store *s, const struct stack_trace *t)
{
	const struct stack_arena *a = &s->arena[atomic_load_explicit((_Atomic uint32_t *)&s->generation,
								     memory_order_acquire) & 1];

	return !t || (uintptr_t)t - a->base < a->size;
}

static inline const struct stack_trace *kept_stack_get(const kept_stack *at)
{
	return atomic_load_explicit((kept_stack *)at, memory_order_relaxed);
}

static inline void kept_stack_set(kept_stack *at, const struct stack_trace *t)
{
	atomic_store_explicit(at, t, memory_order_relaxed);
}

/*
 * Collector: what is kept AT is FN's. A thread that gives it up at the same moment, or has given it up and keeps
 * another one, is not disturbed: no thread begins to keep one of a former generation any more.
 */
static inline void kept_stack_change(kept_stack *at, kept_stack_fn *fn, void *arg)
{
	const struct stack_trace *t = atomic_load_explicit(at, memory_order_acquire), *now = t ? fn(t, arg) : NULL;

	if (now != t)
		atomic_compare_exchange_strong(at, &t, now);
}

/* Frames written so far. */
static inline size_t stack_trace_length(const struct stack_trace_writer *w)
{
	return (size_t)(w->pos - w->trace->frame);
}

/* Append one frame. False (and w->full) when depth or store are exhausted. Handler. */
static inline bool stack_trace_put(struct stack_trace_writer *w, uint64_t word)
{
	if (unlikely(w->pos == w->limit) && !stack_trace_grow(w))
		return false;
	*w->pos++ = word;
	return true;
}

#endif
