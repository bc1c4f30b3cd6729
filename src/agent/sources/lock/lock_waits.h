/*
 * lock_waits.h - what is known of threads that wait for a lock, from the moment they begin until they have it.
 *
 *   begin: stack, lock, owner ─▶ a place in the table, by the number of the Java thread ─▶ end: a sample, if due
 *
 * All that costs something is done at the begin, when no thread waits for this one; at the end, which may be with the
 * lock in hand, only the clock is read and what is known goes into the queue. The place belongs to the thread of Java,
 * not of the system: a virtual thread may wake up on another one.
 *
 * Waits in native code are in the same table (agent/sources/nativelock): of threads by the system's number, with the
 * stack from their caller on. Either kind is an event of its own.
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

/* Whose waits they are. */
enum waits_of { WAITS_OF_JAVA, WAITS_OF_NATIVE, WAITS_SOURCES };

struct wait_begin {
	uint64_t thread;      /* Thread.getId; of a native wait, which sets none, it is the system's number */
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
	/* of native waits: */
	const struct walk_caller *from; /* who called */
	uintptr_t address;    /* of the lock */
	uintptr_t also;       /* another one that the thread may wait for in the same call; or 0 */
};

/* Which of the session's events OF has; -1 = waits are not noted: before waits_open, after waits_halt. */
int waits_event(enum waits_of of);
/*
 * The session that ends is followed by one like it (KEEP): waits that go on then do so there, with what is known of
 * them, and ends of waits must be told in between, too. Before waits_halt. Or it is not: nothing is kept.
 */
void waits_keep_open(bool keep);
/* Whether ends of waits are to be told. */
bool waits_listens(enum waits_of of);
/* Whether OF has an event of the session; waits are noted from now on. */
bool waits_are_wanted(enum waits_of of);
void waits_open(enum waits_of of);
/*
 * When the wait began, os_monotonic, where it did not before, at SINCE; 0: nothing is known of it, and it is counted
 * nowhere.
 */
uint64_t waits_begin(struct wait_begin *b, uint64_t since);
/* A wait that began at SINCE and is over now: what waits_begin and waits_end make of it, at less cost. */
void waits_brief(struct wait_begin *b, uint64_t since);
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

/* What was begun is no wait: it failed at once. */
void waits_cancel(uint64_t thread, enum lock_kind kind);
/* The event number E of OF begins. -ENOMEM. */
int waits_start(enum waits_of of, uint32_t e, const char *name, struct error *err);
/* No wait of OF that ends from now on is noted. */
void waits_halt(enum waits_of of);
/* As in struct engine_ops. */
int waits_arm(struct thread_record *r, uint32_t e);
void waits_silence(struct thread_record *r, uint32_t e);
void waits_disarm(struct thread_record *r, uint32_t e, bool at_work);
/* The memory of the table goes back. No thread is inside. */
void waits_release(void);

#endif
