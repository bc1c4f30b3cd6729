/*
 * draw.h - which allocations are samples: at distances drawn from an exponential distribution, in bytes, one stream for
 * each thread (thread_streams.h). A signal handler that allocates may come between a load and a store: then a few bytes
 * are not counted.
 *
 * Not drawn on within an allocation: what lies behind the drawn point is not used (as in JEP 331, see alloc_weight.h).
 */
#ifndef AGENT_SOURCES_NATIVEMEM_DRAW_H
#define AGENT_SOURCES_NATIVEMEM_DRAW_H

#include <stdatomic.h>

#include "agent/sources/thread_streams.h"
#include "agent/walk/caller.h"
#include "common/base/base.h"

#define DRAW_NESTED ((int64_t)1 << 60)

struct draw_stream {
	_Atomic uintptr_t tcb;  /* 0: free */
	_Atomic int64_t left;   /* bytes to the next sample; below 0: it is one */
	_Atomic uint64_t total; /* bytes so far */
	uint64_t seed;
};

struct draws {
	struct draw_stream *streams; /* THREAD_STREAMS; NULL: never opened */
	_Atomic bool on;
	_Atomic uint64_t interval;   /* their mean; 0: each is a sample */
};
extern struct draws draws;

/* Memory for streams; they begin anew with INTERVAL. Nothing is drawn: draws.on is false. False: no memory. */
bool draw_open(uint64_t interval);
/* The stream of TCB, where that is not in the first place to look. */
struct draw_stream *draw_look_further(uintptr_t tcb);
/* How far it is from now on. */
void draw_next(struct draw_stream *s);
/* Random, from S. */
uint64_t draw_random(struct draw_stream *s);
/* Bytes that the thread at TCB has drawn with; 0: none. Any thread. */
uint64_t draw_total(uintptr_t tcb);

/* The running thread's. draws.on was seen. */
static inline struct draw_stream *draw_stream(void)
{
	uintptr_t tcb = context_tcb();
	struct draw_stream *s = &draws.streams[thread_stream_place(tcb)];

	return likely(atomic_load_explicit(&s->tcb, memory_order_relaxed) == tcb) ? s : draw_look_further(tcb);
}

/* Go on by BYTES. Whether they are a sample: draw_next is due then. */
static inline bool draw_by(struct draw_stream *s, uint64_t bytes)
{
	int64_t left = atomic_load_explicit(&s->left, memory_order_relaxed) - (int64_t)bytes;

	atomic_store_explicit(&s->left, left, memory_order_relaxed);
	atomic_store_explicit(&s->total, atomic_load_explicit(&s->total, memory_order_relaxed) + bytes,
			      memory_order_relaxed);
	return unlikely(left < 0);
}

/*
 * A function of libc that may call others which are hooked, as musl's do: what those allocate is no sample until
 * draw_end_nested. TOTAL: to be handed on.
 */
static inline uint64_t draw_begin_nested(struct draw_stream *s)
{
	atomic_store_explicit(&s->left, atomic_load_explicit(&s->left, memory_order_relaxed) + DRAW_NESTED,
			      memory_order_relaxed);
	return atomic_load_explicit(&s->total, memory_order_relaxed);
}

static inline void draw_end_nested(struct draw_stream *s, uint64_t total)
{
	uint64_t nested = atomic_load_explicit(&s->total, memory_order_relaxed) - total;

	atomic_store_explicit(&s->total, total, memory_order_relaxed);
	atomic_store_explicit(&s->left, atomic_load_explicit(&s->left, memory_order_relaxed) - DRAW_NESTED +
			      (int64_t)nested, memory_order_relaxed);
}

#endif
