/*
 * handler.h - the door by which signals come in. The engines install these.
 */
#ifndef JSTROBE_SIGNAL_HANDLER_H
#define JSTROBE_SIGNAL_HANDLER_H

#include <signal.h>

#include "signal/zone.h"

/* Overflow of a thread's perf event (si_fd leads to the record) or expiry of its CPU timer (si_value). */
void handler_thread(int signo, siginfo_t *info, void *context);
/* Expiry of the process's ITIMER_PROF; the record is found by the thread pointer. */
void handler_itimer(int signo, siginfo_t *info, void *context);

/*
 * For callbacks in normal code that work on their own thread's record (thread end):
 * from enter to leave a signal on this thread counts as `recursion` and its weight is
 * carried to the next sample. The record must be the caller's own.
 */
static inline void handler_enter(struct thread_record *r)
{
	atomic_store(&r->inside, atomic_load_explicit(&zone.epoch, memory_order_relaxed));
}
static inline void handler_leave(struct thread_record *r)
{
	atomic_store_explicit(&r->inside, 0, memory_order_release);
}

/* The running thread's pointer, by which records know it. Any context. */
uintptr_t handler_thread_pointer(void);

#endif
