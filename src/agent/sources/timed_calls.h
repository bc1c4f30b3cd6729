/*
 * timed_calls.h - hooked calls that take time: how long each took, which of them are samples, and which go on. Inner
 * header of the sources room.
 *
 * A call that took the interval or longer is a sample and weighs its own time. Of shorter ones those are samples on
 * which one of the moments falls that a thread has drawn of the time in such calls, from an exponential distribution;
 * each moment weighs the interval. So sums of weights are right on average whatever lengths there are.
 *
 * Each thread has a stream (thread_streams.h): how far it is to its next moment, since when it is in a call, and how
 * many calls of each kind it has made, counted at each: what samples stand for is told beside that.
 *
 * Clocks: a call reads the CPU's own counter twice where the kernel goes by it, else the kernel's clock.
 */
#ifndef AGENT_SOURCES_TIMED_CALLS_H
#define AGENT_SOURCES_TIMED_CALLS_H

#include <stdatomic.h>

#include "agent/sources/thread_streams.h"
#include "agent/walk/caller.h"
#include "common/base/base.h"
#include "common/base/clock_ns.h"

#define TIMED_KINDS 8u /* of calls, which are counted apart */

/* Calls that have ended. */
struct timed_sum {
	_Atomic uint64_t calls, bytes, ticks;
};

struct timed_stream {
	_Atomic uintptr_t tcb; /* 0: free */
	_Atomic uint64_t open; /* when the call began that goes on, or up to where it was told of; 0: there is none */
	_Atomic uint64_t what; /* of that call, the source's; its upper half is the call's kind */
	_Atomic int64_t left;  /* ticks of shorter calls up to the next moment */
	_Atomic uint64_t told_of, told_to; /* of the call that began then, time up to there was told of */
	uint64_t seed;
	bool listed; /* in the list of those that were ever used */
	struct timed_sum sums[TIMED_KINDS]; /* of all sessions */
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct timed_stream) == 256, "four lines of the CPU's cache");

struct timed_calls {
	struct timed_stream *streams; /* THREAD_STREAMS; NULL: never opened */
	_Atomic uint32_t *used;       /* those that were ever used, from the first of used_count on; place + 1 */
	_Atomic uint32_t used_count;
	_Atomic bool on;
	_Atomic uint64_t interval;    /* ticks; 0: each call is a sample */
	_Atomic uint64_t started;     /* when the session did: of a call from before it counts from then on */
	struct timed_stream shared;   /* of threads that find none */
};

/* How a tick of the clock that calls read lasts. */
struct timed_clock {
	bool cycles;   /* CPU_CYCLES; else ticks are ns */
	double ns;
};
extern struct timed_clock timed_clock;

static inline uint64_t timed_now(void)
{
	return likely(timed_clock.cycles) ? CPU_CYCLES : clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t timed_ns(uint64_t ticks)
{
	return (uint64_t)((double)ticks * timed_clock.ns);
}

/* A call, as it is known to the thread that makes it. */
struct timed_call {
	struct timed_stream *stream; /* NULL: it is not timed */
	uint64_t began, ended;       /* ticks; told of up to … */
	uint64_t from;               /* … here, or its begin */
	uint64_t moments;            /* 0: it is a sample by its own length */
};

/*
 * Memory for streams, which begin anew with INTERVAL ns; C is off. Calls of the session before that go on are this
 * one's from now on. False: no memory. Normal code.
 */
bool timed_open(struct timed_calls *c, uint64_t interval);
/* The stream of TCB, where that is not in the first place to look. */
struct timed_stream *timed_look_further(struct timed_calls *c, uintptr_t tcb);
/* The part of timed_end for what was told of, or may be a sample. */
bool timed_end_slowly(struct timed_calls *c, struct timed_call *call, uint64_t open, unsigned kind, uint64_t bytes);

/* Calls of C are no samples any more, nor counted; but what those that go on have taken so far. */
void timed_halt(struct timed_calls *c);
/* Calls of C of KIND, of all sessions: those that have ended, and the time so far of those that go on. */
struct timed_total {
	uint64_t calls, bytes, ns;
};
struct timed_total timed_total(struct timed_calls *c, unsigned kind);

/*
 * FN of each call that goes on for LEAST ns or longer, by the thread at TCB: it says whether it has told of it, from
 * FROM to NOW (ticks), of which then no more is told. LATELY: only those of which that was a while ago: after 1 s,
 * then when it has doubled, and at least every 10 s. One thread at a time.
 */
typedef bool timed_open_fn(uintptr_t tcb, uint64_t what, uint64_t began, uint64_t from, uint64_t now, void *arg);
void timed_tell_open(struct timed_calls *c, uint64_t least, bool lately, timed_open_fn *fn, void *arg);

/*
 * A call of C begins, WHAT. A signal handler's call within another one hides it: what was told of that one is not told
 * again all the same.
 */
static inline void timed_begin(struct timed_calls *c, struct timed_call *call, uint64_t what)
{
	uintptr_t tcb = context_tcb();
	struct timed_stream *s;

	call->stream = NULL;
	if (unlikely(!atomic_load_explicit(&c->on, memory_order_acquire)))
		return;
	s = &c->streams[thread_stream_place(tcb)];
	if (unlikely(atomic_load_explicit(&s->tcb, memory_order_relaxed) != tcb))
		s = timed_look_further(c, tcb);
	call->stream = s;
	call->began = timed_now();
	atomic_store_explicit(&s->what, what, memory_order_relaxed);
	atomic_store_explicit(&s->open, call->began, memory_order_release);
}

/*
 * It is one more in its stream's sums, while a session is on. No other thread writes to them, so plain additions do; a
 * signal handler's own call between the two halves of one is not in it.
 */
static inline void timed_count(struct timed_calls *c, struct timed_stream *s, unsigned kind, uint64_t bytes,
			       uint64_t ticks)
{
	struct timed_sum *sum = &s->sums[kind];
	const uint64_t more[] = {1, bytes, ticks};
	_Atomic uint64_t *const to[] = {&sum->calls, &sum->bytes, &sum->ticks};
	size_t i;

	if (unlikely(!atomic_load_explicit(&c->on, memory_order_relaxed)))
		return;
	for (i = 0; i < ARRAY_LEN(to); i++) {
		if (unlikely(s == &c->shared))
			atomic_fetch_add_explicit(to[i], more[i], memory_order_relaxed);
		else
			atomic_store_explicit(to[i], atomic_load_explicit(to[i], memory_order_relaxed) + more[i],
					      memory_order_relaxed);
	}
}

/* It has ended, of KIND, has moved BYTES, and errno is its own. Whether it is a sample. */
static inline bool timed_end(struct timed_calls *c, struct timed_call *call, unsigned kind, uint64_t bytes)
{
	struct timed_stream *s = call->stream;
	uint64_t open, interval;
	int64_t spent, left;

	if (!s)
		return false;
	call->ended = timed_now();
	open = atomic_exchange_explicit(&s->open, 0, memory_order_acquire);
	interval = atomic_load_explicit(&c->interval, memory_order_relaxed);
	spent = (int64_t)(call->ended - call->began);
	left = atomic_load_explicit(&s->left, memory_order_relaxed) - spent;
	if (unlikely(open != call->began || left < 0 || spent >= (int64_t)interval))
		return timed_end_slowly(c, call, open, kind, bytes);
	atomic_store_explicit(&s->left, left, memory_order_relaxed);
	timed_count(c, s, kind, bytes, (uint64_t)spent);
	return false;
}

/* The time of a sample, ns, but for what was told of before. */
static inline uint64_t timed_length(const struct timed_call *call)
{
	return timed_ns(call->ended - call->from);
}

/* What a sample weighs, ns: its own time, or what it stands for. */
static inline uint64_t timed_weight(const struct timed_calls *c, const struct timed_call *call)
{
	uint64_t interval = atomic_load_explicit(&((struct timed_calls *)c)->interval, memory_order_relaxed);

	return call->moments ? timed_ns(call->moments * interval) : timed_length(call);
}

#endif
