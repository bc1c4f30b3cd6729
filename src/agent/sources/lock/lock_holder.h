/*
 * lock_holder.h - the stack of the thread that holds what another one begins to wait for.
 *
 * At most 100 a second, and never by stopping anybody: a thread that waits itself, or is in native code, is walked from
 * outside; one that runs gets a signal and walks its own stack, which may come too late for a short wait.
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

#endif
