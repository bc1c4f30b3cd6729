/*
 * lock_holder.h - the stack of the thread that holds what another one begins to wait for.
 *
 * At most 100 a second, and 2 of each lock, but never more than 230; and never by stopping anybody: a thread that
 * waits itself, or is in native code, is walked from outside; one that runs gets a signal and walks its own stack,
 * which may come too late for a short wait.
 */
#ifndef JSTROBE_SOURCES_LOCK_LOCK_HOLDER_H
#define JSTROBE_SOURCES_LOCK_LOCK_HOLDER_H

#include "agent/sources/lock/lock_waits.h"

struct holder_stack {
	kept_stack trace;          /* NULL = see number */
	uint16_t epoch;
	uint64_t number;           /* of the question that the holder was asked; 0 = none */
};

/* Look at the thread that B waits for, on the waiting thread, whose record R is entered. */
void waits_holder_look(struct thread_record *r, uint32_t event, const struct wait_begin *b, struct holder_stack *h);
/* The wait is over: what is known by now, in h->trace and h->era. */
void waits_holder_end(struct holder_stack *h);

/* Who holds a monitor, read from the JVM's own memory by loads that may fault. */

/*
 * The owner of the monitor that the running thread, of record R, waits to enter, into B; left alone when it cannot be
 * known. HANDLE: where the object's address is, a JNI reference. Within MonitorContendedEnter, R entered.
 */
void waits_monitor_owner(const struct thread_record *r, const void *handle, struct wait_begin *b);
/* The system's number of the thread of JAVA_THREAD, a JavaThread*, if it is alive and known; else 0. R entered. */
uint32_t waits_tid_of(uintptr_t java_thread);
/* The record of the thread that holds what B waits for, or carries it; NULL: not known. */
struct thread_record *waits_owner_record(const struct wait_begin *b);

#endif
