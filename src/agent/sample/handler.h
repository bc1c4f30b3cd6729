/*
 * handler.h - the door by which signals come in. The engines install these.
 */
#ifndef JSTROBE_SAMPLE_HANDLER_H
#define JSTROBE_SAMPLE_HANDLER_H

#include <sched.h>
#include <signal.h>

#include "agent/zone/zone.h"

/* Overflow of a thread's perf event (si_fd leads to the record) or expiry of its CPU timer (si_value). */
void handler_thread(int signo, siginfo_t *info, void *context);
/* Expiry of the process's ITIMER_PROF; the record is found by the thread pointer. */
void handler_itimer(int signo, siginfo_t *info, void *context);

/*
 * What the expiry of a thread's timer S for EVENT weighs that came OVERRUN times more since. Expiries follow each other
 * by what they stand for, however late their signals come: the kernel looks at its tick. Its handler, or when that is
 * not at work.
 */
uint64_t handler_timer_weight(struct record_source *s, uint32_t event, uint64_t overrun);

/*
 * `inside` keeps what a record's thread reads in memory, and others out of the record: who enters is alone in it.
 *
 * A thread that frees unpublishes first, begins a new epoch (zone.epoch), lets all CPUs pass a barrier, and then
 * looks at `inside` (agent/threads/deferred.c). Two orders make that safe. The epoch is loaded first, with acquire: a
 * handler that shows a new one sees what was unpublished before that. And nothing that may be freed is loaded before
 * `inside` is seen by others: the barrier on the other side does that, or the fence here where the kernel has none.
 * tests/check/test_orders.py tries all orders.
 */
static inline uint32_t handler_epoch(void)
{
	return atomic_load_explicit(&zone.epoch, memory_order_acquire);
}

/* Enter R in EPOCH. False: another thread is in it. Any context. */
static inline bool handler_try(struct thread_record *r, uint32_t epoch)
{
	uint32_t out = 0;

	if (!atomic_compare_exchange_strong_explicit(&r->inside, &out, epoch, memory_order_seq_cst,
						     memory_order_relaxed))
		return false;
	atomic_signal_fence(memory_order_seq_cst);
	if (unlikely(atomic_load_explicit(&zone.fences, memory_order_relaxed)))
		atomic_thread_fence(memory_order_seq_cst);
	return true;
}

static inline void handler_leave(struct thread_record *r)
{
	atomic_store_explicit(&r->inside, 0, memory_order_release);
}

/* R, entered in EPOCH, was the wrong one, and may be anybody's by now: only what we have put there is taken away. */
static inline void handler_back_out(struct thread_record *r, uint32_t epoch)
{
	atomic_compare_exchange_strong_explicit(&r->inside, &epoch, 0, memory_order_release, memory_order_relaxed);
}

/*
 * For normal code that works on its own thread's record (thread end, a thread of ours): from enter to leave a signal
 * on this thread counts as `recursion` and its weight is carried to the next sample. Who came to the wrong record is
 * out of it in no time; should such a one be stopped there, it is no reason to wait for ever.
 */
static inline void handler_enter(struct thread_record *r)
{
	int tries;

	for (tries = 0; tries < 1000 && !handler_try(r, handler_epoch()); tries++)
		sched_yield();
}

/*
 * For callbacks: the running thread's record is known by its thread's number alone until a signal came; from now on it
 * is by its pointer. False: it has none, or not now.
 */
bool handler_learn(void);

/* The running thread's pointer, by which records know it. Any context. */
uintptr_t handler_thread_pointer(void);

#endif
