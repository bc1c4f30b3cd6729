/*
 * lock_waits.h - what is known of threads that wait for a lock, from the moment they begin until they have it.
 *
 *   begin: stack, lock, owner ─▶ a place in the table, by the number of the Java thread ─▶ end: a sample, if due
 *
 * All that costs something is done at the begin, when no thread waits for this one; at the end, which may be with the
 * lock in hand, only the clock is read and what is known goes into the queue. The place belongs to the thread of Java,
 * not of the system: a virtual thread may wake up on another one.
 *
 * The table has WAITS_LIMIT places; a wait that finds no place is lost under `too_many_waits`.
 * Functions are for the waiting thread itself, in normal code.
 */
#ifndef JSTROBE_SOURCES_LOCK_LOCK_WAITS_H
#define JSTROBE_SOURCES_LOCK_LOCK_WAITS_H

#include "agent/collect/sources.h"
#include "agent/sample/wait_sample.h"
#include "common/base/error.h"

#define WAITS_FEW 4096u
#define WAITS_LIMIT (WAITS_FEW << 10) /* with less address space, fewer */

struct wait_begin {
	uint64_t thread;      /* Thread.getId */
	enum lock_kind kind;
	uint32_t skip;        /* innermost frames that are left out */
	uintptr_t method;     /* Method* of the frame that shall be the innermost; 0 = not known, see wait_walk */
	uint32_t class, identity; /* as in struct wait_note */
	uint64_t owner_id;    /* of a synchroniser: of the thread that holds it, 0 = none */
	uintptr_t owner_java; /* its JavaThread*, which may be gone by now; 0 = none, or a virtual thread */
	const void *monitor;  /* a JNI reference to the object that is about to be entered, or NULL */
	uint32_t owner_tid;   /* set by waits_begin, as owner_id of a monitor is */
	uint64_t virtual_id;  /* the thread's number if it is a virtual one, else 0 */
	bool owner_virtual;   /* owner_id is a virtual thread's */
};

/* Which of the session's events is `lock`; -1 = waits are not noted: before waits_open, after waits_halt. */
int waits_event(void);
/*
 * The session that ends is followed by one like it (KEEP): waits that go on then do so there, with what is known of
 * them, and ends of waits must be told in between, too. Before waits_halt. Or it is not: nothing is kept.
 */
void waits_keep_open(bool keep);
/* Whether ends of waits are to be told. */
bool waits_listens(void);
/* Whether `lock` is an event of the session; waits are noted from now on. */
bool waits_are_wanted(void);
void waits_open(void);
/* When the wait began, os_monotonic; 0: nothing is known of it, and it is counted nowhere. */
uint64_t waits_begin(struct wait_begin *b);
/* A wait of THREAD and KIND is over. BEGAN: as waits_begin gave it, 0 = take whatever stands there. */
void waits_end(uint64_t thread, enum lock_kind kind, uint64_t began);

/*
 * FN of the waits that have not ended: of LATELY, those that were not reported for a while; else all, and the time
 * since the last time is told now, if it comes to the event's interval, else the weight is 0. Once told, it is not
 * again when the wait ends: who tells and who ends it agree by one exchange. The collector, and after the stop.
 */
void waits_tell_open(bool lately, waits_told_fn *fn, void *arg);
/* And of those that are over and found no room in a queue: samples that were taken. The same. */
void waits_tell_done(waits_told_fn *fn, void *arg);

/* FN of each stack that is kept for waits that have not ended. The collector. */
void waits_change_kept(kept_stack_fn *fn, void *arg);

/* No wait that ends from now on is noted. */
void waits_halt(void);
/* The memory of the table goes back. No thread is inside. */
void waits_release(void);

#endif
