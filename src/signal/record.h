/*
 * record.h - one record an OS thread, from its start to its death.
 *
 * Records lie in one table that never moves (address space for 256 K of them,
 * committed on use), so a stale pointer in a signal's hint is always readable.
 * A hint is only believed when the record's thread pointer (TCB address) is the
 * one of the thread we run on.
 *
 *   FREE ──(normal code: thread found)──▶ LIVE ──(thread ends)──▶ CLOSING ──(collector drained it)──▶ FREE
 */
#ifndef JSTROBE_SIGNAL_RECORD_H
#define JSTROBE_SIGNAL_RECORD_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/names.h"
#include "signal/queue.h"
#include "signal/trace.h"

#define RECORD_LIMIT (256u * 1024)
#define RECORD_SLOTS (2 * RECORD_LIMIT) /* of the table by TCB */

#define RECORD_PROBES 32

enum record_state { RECORD_FREE, RECORD_LIVE, RECORD_CLOSING };
enum record_arm { ARM_NONE, ARM_PERF, ARM_TIMER, ARM_PROCESS };

/* Samples lost on this thread, by reason. Written by its handlers, read by the collector. */
struct record_losses {
	_Atomic uint64_t taken;                /* samples begun, whatever became of them */
	_Atomic uint64_t count[LOSS_REASONS];
	_Atomic uint64_t weight[LOSS_REASONS]; /* ns */
};

struct thread_record {
	/* Read by the handler for each signal: one cache line. */
	_Atomic uintptr_t tcb;          /* thread pointer; 0 = not learned yet */
	_Atomic uint32_t state;         /* enum record_state */
	_Atomic int32_t tid;
	_Atomic uint32_t inside;        /* zone.epoch when its handler entered, 0 when out */
	uint32_t index;                 /* own position in the table */
	_Atomic uintptr_t java_thread;  /* JavaThread*, 0 = none; see thread life in design §3 */
	struct queue *_Atomic current;  /* the queue handlers push to */
	struct queue *_Atomic next;     /* a bigger one, handed over by the collector */
	uintptr_t stack_high;           /* end of the stack, 0 = unknown */

	/* The engine's, set up before the record is armed. */
	uint32_t arm;                   /* enum record_arm */
	int32_t fd;                     /* perf descriptor, -1 = none */
	int32_t timer;                  /* POSIX timer id, -1 = none */
	bool own;                       /* a thread of jstrobe itself: never sampled */
	void *ring;                     /* mmap of the descriptor */
	uint64_t last_count;            /* the event's count at the last sample, handler's */
	uint64_t carried;               /* weight of `recursion` losses, carried to the next sample */

	struct trace_chunk chunk;       /* the handler's */
	struct record_losses lost;

	/* The collector's. */
	struct queue *draining;         /* the queue being emptied: current until replaced */
	uint64_t full_before;           /* lost[queue_full] at the last drain */
	uint64_t seen;                  /* turn in which /proc/self/task last showed it */
	uint64_t samples, weight;       /* stored, since the session's start */
	uint32_t name;                  /* collector's name id */
	uint32_t thread_entry;          /* collector's entry for outputs */
};

struct record_table {
	struct thread_record *records;               /* RECORD_LIMIT of them, reserved */
	_Atomic uint32_t count;                      /* highest index ever used + 1 */
	_Atomic(struct thread_record *) *by_tcb;     /* RECORD_SLOTS slots, open addressing */
};

static inline uint32_t record_hash(uintptr_t tcb)
{
	return (uint32_t)((tcb >> 6) * 0x9e3779b97f4a7c15ull >> 40);
}

/* The live record whose TCB is TCB, or NULL. Any context, no lock. */
static inline struct thread_record *record_find(const struct record_table *t, uintptr_t tcb)
{
	uint32_t i, at = record_hash(tcb);

	for (i = 0; i < RECORD_PROBES; i++) {
		struct thread_record *r = atomic_load_explicit(
			&t->by_tcb[(at + i) % RECORD_SLOTS], memory_order_acquire);

		if (!r)
			return NULL;
		if (atomic_load_explicit(&r->tcb, memory_order_relaxed) == tcb)
			return r;
	}
	return NULL;
}

/* Whether SLOT still serves R: it has a TCB, not OURS, whose probes come by here. */
static inline bool record_at_home(struct thread_record *r, uintptr_t ours, uint32_t slot)
{
	uintptr_t tcb = atomic_load_explicit(&r->tcb, memory_order_relaxed);

	return tcb && tcb != ours && (slot - record_hash(tcb)) % RECORD_SLOTS < RECORD_PROBES;
}

/*
 * Make R known under TCB. Slots of records that have another TCB now are stale
 * and may be taken over. Any context, no lock; false when the neighbourhood is full
 * (the thread is then found by its hint only).
 */
static inline bool record_publish(const struct record_table *t, struct thread_record *r, uintptr_t tcb)
{
	uint32_t i, at = record_hash(tcb);

	atomic_store_explicit(&r->tcb, tcb, memory_order_release);
	for (i = 0; i < RECORD_PROBES; i++) {
		_Atomic(struct thread_record *) *slot = &t->by_tcb[(at + i) % RECORD_SLOTS];
		struct thread_record *there = atomic_load_explicit(slot, memory_order_acquire);

		if (there == r)
			return true;
		if (there && record_at_home(there, tcb, (at + i) % RECORD_SLOTS))
			continue;
		if (atomic_compare_exchange_strong(slot, &there, r))
			return true;
	}
	return false;
}

static inline void record_take(struct thread_record *r)
{
	atomic_store_explicit(&r->lost.taken,
			      atomic_load_explicit(&r->lost.taken, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* Count a lost sample of R. Handlers of R's thread only. */
static inline void record_lose(struct thread_record *r, enum loss_reason why, uint64_t weight)
{
	/* Single writer (the thread itself): plain read-modify-write is enough. */
	atomic_store_explicit(&r->lost.count[why],
			      atomic_load_explicit(&r->lost.count[why], memory_order_relaxed) + 1,
			      memory_order_relaxed);
	atomic_store_explicit(&r->lost.weight[why],
			      atomic_load_explicit(&r->lost.weight[why], memory_order_relaxed) + weight,
			      memory_order_relaxed);
}

#endif
