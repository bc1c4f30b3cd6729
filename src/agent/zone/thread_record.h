/*
 * thread_record.h - one record an OS thread, from its start to its death.
 *
 * Records lie in one table that never moves (address space for 256 K of them,
 * committed on use), so a stale pointer in a signal's hint is always readable.
 * A hint is only believed when the record's thread pointer (TCB address) is the
 * one of the thread we run on.
 *
 *   FREE ──(normal code: thread found)──▶ LIVE ──(thread ends)──▶ CLOSING ──(collector drained it)──▶ FREE
 */
#ifndef JSTROBE_ZONE_THREAD_RECORD_H
#define JSTROBE_ZONE_THREAD_RECORD_H

#include <stdatomic.h>
#include <sys/types.h>

#include "agent/zone/jitter.h"
#include "agent/zone/queue.h"
#include "agent/zone/sample_counter.h"
#include "agent/zone/stack_store.h"
#include "common/words/enum_names.h"

#define RECORD_LIMIT (256u * 1024)
#define RECORD_SLOTS (2 * RECORD_LIMIT) /* of each table by what they are known by, at most */
#define RECORD_SLOTS_FIRST 1024u        /* that are used of it at first: few threads shall need few pages */

#define RECORD_PROBES 32
#define RECORD_EVENTS 8 /* that one session may sample */

enum record_state { RECORD_FREE, RECORD_LIVE, RECORD_CLOSING };
/*
 * LEAVING: what the source has stays as it is until no handler can be at it (agent/threads/deferred.h), then it is
 * NONE.
 */
enum record_arm { ARM_NONE, ARM_PERF, ARM_TIMER, ARM_PROCESS, ARM_TICKS, ARM_CALLS, ARM_LEAVING };

/* What makes a thread's signal go off for one event. The engine sets it up before it arms it. */
/* Of a thread that is ready to run: whether this sample is one of those in which it has a CPU. */
enum record_cpu { CPU_NOT_KNOWN, CPU_HAS, CPU_HAS_NONE };

struct record_source {
	_Atomic uint32_t arm;           /* enum record_arm */
	int32_t fd;                     /* perf descriptor, -1 = none */
	int32_t timer;                  /* POSIX timer id, -1 = none */
	uint32_t burst;                 /* samples since burst_began, handler's */
	void *ring;                     /* mmap of the descriptor */
	uint64_t last_count;            /* the event's count at the last sample, handler's */
	uint64_t carried;               /* weight of `recursion` losses, of short waits: the next sample's */
	uint64_t period;                /* of this thread; grows in a storm of events, else varies, handler's */
	struct jitter jitter;           /* what it varies by, handler's */
	_Atomic uint64_t rests_until;   /* switched off by the handler for so long, ns; 0 = it is not */
	uint32_t rests;                 /* so far, handler's */
	uint32_t departure;             /* LEAVING: its number; records' lock */
	union {
		struct {
			uint64_t burst_began; /* real time and the thread's CPU time then, ns, handler's */
			uint64_t burst_cpu;
		};
		struct { /* sampled objects: of a thread that was there before, until its first (object_draws.h) */
			uint64_t before; /* bytes that it had allocated since it drew; 0: no matter */
			uint64_t room;   /* bytes that were left in its TLAB */
		};
		uint64_t steady;         /* calls: samples since the distance was changed */
	};
	/*
	 * ARM_TICKS: a thread of the engine asks for each sample by a signal of its own. It has the fields below
	 * while asked == answered, the thread's handlers have them from the signal to the answer.
	 */
	_Atomic uint32_t asked, answered; /* number of the last question, and of the last one that was taken */
	uint64_t asked_at;                /* os_monotonic */
	/* up to here its time is in samples: os_monotonic, or its CPU clock; ARM_TIMER: will be, at the next expiry */
	uint64_t charged;
	uint64_t silent_at;               /* ARM_TIMER: its CPU clock when sampling ended; 0 = it has not */
	uint16_t expected;                /* enum thread_state, as it looked from outside */
	uint16_t had_cpu;                 /* enum record_cpu, by what the kernel counts of the time before */
	uint32_t blocked;                 /* times it was not armed because the thread blocks SIGTRAP; records' lock */
};

/* Where the thread stood when a handler took its last sample by wall clock. Valid as above. */
struct record_place {
	uintptr_t pc, sp, fp;
	const struct stack_trace *trace; /* NULL = none */
	uint32_t generation;       /* of the store: in a later one it may be gone */
};

/* Samples of one event lost on this thread, by reason. Written by its handlers, read by the collector. */
struct record_losses {
	_Atomic uint64_t taken;                /* samples begun, whatever became of them */
	_Atomic uint64_t count[LOSS_REASONS];
	_Atomic uint64_t weight[LOSS_REASONS]; /* in the event's unit */
};

enum record_judged { JUDGED_NOT, JUDGED_IN, JUDGED_OUT };

struct thread_record {
	/* Read by the handler for each signal: one cache line. */
	_Atomic uintptr_t tcb;          /* thread pointer; 0 = not learned yet */
	_Atomic uint32_t state;         /* enum record_state */
	_Atomic int32_t tid;
	_Atomic uint32_t inside;        /* zone.epoch when its handler entered, 0 when out */
	uint32_t index;                 /* own position in the table */
	_Atomic uintptr_t java_thread;  /* JavaThread*, 0 = none; see thread life in design §3 */
	_Atomic uint64_t java_id;       /* Thread.getId of that, 0 = not known */
	struct queue *_Atomic current;  /* the queue handlers push to */
	struct queue *_Atomic next;     /* a bigger one, handed over by the collector */
	uintptr_t stack_high;           /* end of the stack, 0 = unknown */

	bool own;                       /* a thread of jstrobe itself: never sampled */
	uint8_t judged;                 /* whether it is sampled, by what the JVM says of it; records' lock */
	_Atomic bool end_told;          /* its end will be told by the thread itself, before its memory goes away */
	struct record_source sources[RECORD_EVENTS];

	struct record_place place;
	struct stack_chunk chunk;       /* the handler's */
	struct record_losses lost[RECORD_EVENTS];

	/* The collector's. */
	struct queue *draining;         /* the queue being emptied: current until replaced */
	uint64_t counted;               /* bytes of its queue that are in collector.queue_bytes */
	uint64_t full_at_growth;        /* lost[queue_full] when the queue last grew */
	uint64_t seen;                  /* tick in which /proc/self/task last showed it */
	uint64_t mark;                  /* what it showed then, see os_each_thread; 0 = not yet */
	uint64_t since;                 /* when it was found, os_monotonic */
	uint64_t cpu_at_turn;           /* see agent/sources/engine_clocks.h; 0 = none */
	_Atomic uint32_t told;          /* samples of it that are in queues of others: it is not free before */
	uint32_t name;                  /* collector's name id */
	uint32_t thread_entry;          /* collector's entry for outputs */
};

struct record_table {
	struct thread_record *records;               /* RECORD_LIMIT of them, reserved */
	_Atomic uint32_t count;                      /* highest index ever used + 1 */
	/*
	 * Open addressing, RECORD_PROBES probes; stale entries are recognised. `mask` grows with the records in use,
	 * up to RECORD_SLOTS - 1: entries under a smaller one are stale then.
	 */
	_Atomic(struct thread_record *) *by_tcb;
	_Atomic(struct thread_record *) *by_tid;
	_Atomic uint32_t mask;
	/* A bit for each record: it has something for the collector, who need not look at all of them. */
	_Atomic uint64_t stirred[RECORD_LIMIT / 64];
};

/* Record INDEX has something for the collector. Any context; after it was put there. */
static inline void record_stir(struct record_table *t, uint32_t index)
{
	/* A locked instruction is a fence as well: a thread that takes the bit away sees what was put there before. */
	atomic_fetch_or(&t->stirred[index / 64], 1ull << index % 64);
}

static inline uint32_t record_hash(uintptr_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 40);
}

/* What R is known by in the one table or the other; 0 = nothing. */
static inline uintptr_t record_key(struct thread_record *r, bool tid)
{
	return tid ? (uintptr_t)atomic_load_explicit(&r->tid, memory_order_relaxed)
		   : atomic_load_explicit(&r->tcb, memory_order_relaxed);
}

static inline struct thread_record *record_look_under(_Atomic(struct thread_record *) *table, bool tid,
						      uintptr_t key, uint32_t mask)
{
	uint32_t i, at = record_hash(key);

	for (i = 0; i < RECORD_PROBES; i++) {
		struct thread_record *r = atomic_load_explicit(&table[(at + i) & mask], memory_order_acquire);

		if (!r)
			return NULL;
		if (record_key(r, tid) == key && atomic_load(&r->state) == RECORD_LIVE)
			return r;
	}
	return NULL;
}

static inline struct thread_record *record_look(const struct record_table *t, bool tid, uintptr_t key)
{
	uint32_t mask = atomic_load_explicit(&((struct record_table *)t)->mask, memory_order_acquire), now;
	struct thread_record *r;

	for (;; mask = now) {
		r = record_look_under(tid ? t->by_tid : t->by_tcb, tid, key, mask);
		now = atomic_load_explicit(&((struct record_table *)t)->mask, memory_order_acquire);
		/* It grows a few times in a session. */
		if (r || now == mask)
			return r;
	}
}

/* The live record whose thread pointer is TCB, or NULL. Any context, no lock. */
static inline struct thread_record *record_find(const struct record_table *t, uintptr_t tcb)
{
	return record_look(t, false, tcb);
}

/* The live record of thread TID, or NULL. Any context, no lock. */
static inline struct thread_record *record_find_tid(const struct record_table *t, pid_t tid)
{
	return record_look(t, true, (uintptr_t)tid);
}

/* The record of thread TID, which has ended, while its last samples are not gone through yet; NULL = none is found. */
static inline struct thread_record *record_find_closing(const struct record_table *t, pid_t tid)
{
	uint32_t mask = atomic_load_explicit(&((struct record_table *)t)->mask, memory_order_acquire), i;
	uint32_t at = record_hash((uintptr_t)tid);

	for (i = 0; i < RECORD_PROBES; i++) {
		struct thread_record *r = atomic_load_explicit(&t->by_tid[(at + i) & mask], memory_order_acquire);

		if (!r)
			return NULL;
		if (record_key(r, true) == (uintptr_t)tid && atomic_load(&r->state) == RECORD_CLOSING)
			return r;
	}
	return NULL;
}

/*
 * Enter R under its key. A slot whose record has another home by now is stale and is
 * taken over. Any context, no lock; without effect when the neighbourhood is full.
 */
static inline void record_enter_under(_Atomic(struct thread_record *) *table, bool tid, struct thread_record *r,
				      uint32_t mask)
{
	uintptr_t key = record_key(r, tid);
	uint32_t i, at = record_hash(key);

	for (i = 0; i < RECORD_PROBES; i++) {
		uint32_t slot = (at + i) & mask;
		struct thread_record *there = atomic_load_explicit(&table[slot], memory_order_acquire);
		uintptr_t its = there && there != r ? record_key(there, tid) : 0;

		if (there == r)
			return;
		if (its && its != key && ((slot - record_hash(its)) & mask) < RECORD_PROBES)
			continue; /* in use, and at home here */
		if (atomic_compare_exchange_strong(&table[slot], &there, r))
			return;
	}
}

static inline void record_enter(const struct record_table *t, bool tid, struct thread_record *r)
{
	uint32_t mask = atomic_load(&((struct record_table *)t)->mask), now;

	for (;; mask = now) {
		record_enter_under(tid ? t->by_tid : t->by_tcb, tid, r, mask);
		now = atomic_load(&((struct record_table *)t)->mask);
		if (now == mask)
			return;
	}
}

/* Make R known under TCB. Any context, no lock. */
static inline void record_publish(const struct record_table *t, struct thread_record *r, uintptr_t tcb)
{
	atomic_store_explicit(&r->tcb, tcb, memory_order_release);
	record_enter(t, false, r);
}

static inline void record_take(struct thread_record *r, uint32_t event)
{
	struct record_losses *l = &r->lost[event];

	atomic_store_explicit(&l->taken, atomic_load_explicit(&l->taken, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	sample_counter_step(atomic_load_explicit(&r->tcb, memory_order_relaxed));
}

/* COUNT samples of R's EVENT were to be taken and are lost, their weight is not. Handlers of R's thread only. */
static inline void record_lose_many(struct thread_record *r, uint32_t event, enum loss_reason why, uint64_t count)
{
	struct record_losses *l = &r->lost[event];

	atomic_store_explicit(&l->taken, atomic_load_explicit(&l->taken, memory_order_relaxed) + count,
			      memory_order_relaxed);
	atomic_store_explicit(&l->count[why], atomic_load_explicit(&l->count[why], memory_order_relaxed) + count,
			      memory_order_relaxed);
}

/* Count a lost sample of R's EVENT. Handlers of R's thread only. */
static inline void record_lose(struct thread_record *r, uint32_t event, enum loss_reason why,
			       uint64_t weight)
{
	struct record_losses *l = &r->lost[event];

	/* Single writer (the thread itself): plain read-modify-write is enough. */
	atomic_store_explicit(&l->count[why],
			      atomic_load_explicit(&l->count[why], memory_order_relaxed) + 1,
			      memory_order_relaxed);
	atomic_store_explicit(&l->weight[why],
			      atomic_load_explicit(&l->weight[why], memory_order_relaxed) + weight,
			      memory_order_relaxed);
}

#endif
