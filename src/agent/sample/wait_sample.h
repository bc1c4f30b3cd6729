/*
 * wait_sample.h - a thread that is about to wait for a lock, or has waited, takes its own sample.
 *
 * Not in a signal but in a callback of the JVM or a probe, in normal code, on the thread itself: its last Java
 * frame is noted in its JavaThread, and the walk begins there. The same rules hold as in a handler, for the
 * same queue is written and a signal may come at any moment: until wait_leave it counts as `recursion`.
 */
#ifndef JSTROBE_SAMPLE_WAIT_SAMPLE_H
#define JSTROBE_SAMPLE_WAIT_SAMPLE_H

#include "agent/walk/caller.h"
#include "agent/zone/zone.h"

/* What follows a sample of a wait in its queue. */
struct wait_note {
	uint64_t duration;     /* ns, but for what was told of it before */
	union {
		uint64_t owner_id; /* Thread.getId of who held the lock when the wait began, 0 = see owner_tid */
		uint64_t address;  /* of a native lock, whose owner is known by owner_tid alone */
	};
	const struct stack_trace *owner_stack; /* its stack then; NULL = not known */
	uint32_t owner_tid;    /* the same by the system's number; both 0: none, or not known */
	uint32_t class;        /* the lock's, as class_number gave it; 0 = not known */
	uint32_t identity;     /* identity hash code of the lock; 0 = not known */
	uint16_t owner_epoch;    /* lower bits of the era in which owner_stack was taken */
	bool owner_virtual : 1; /* owner_id is certainly of a virtual thread */
	bool open : 1;         /* it goes on: this is its time so far */
	bool again : 1;        /* a sample of this session has told of it before */
	uint8_t kind : 4;      /* enum lock_kind */
	uint64_t told;         /* ns of this wait that samples before this one have, see waits_tell_open */
} __attribute__((aligned(8)));
_Static_assert(sizeof(struct wait_note) == sizeof(struct sample), "they share a queue");
_Static_assert(LOCK_KINDS <= 16, "wait_note.kind");

/*
 * The running thread's record, entered; NULL: it has none, or nothing is sampled now. Until wait_leave the caller
 * must not block, allocate or call the JVM.
 */
struct thread_record *wait_enter(uint32_t event);
void wait_leave(struct thread_record *r);

/*
 * The stack of R, entered, from its last Java frame on without the innermost frames, up to that of METHOD (a Method*),
 * or where it is none of the innermost or not known (0), without SKIP of them; NULL when there is no stack, or no room
 * for it. *ERA: as in struct sample.
 */
const struct stack_trace *wait_walk(struct thread_record *r, uint32_t skip, uintptr_t method, uint16_t *epoch);

/* The same from the caller FROM of a function of ours on, with native frames. */
const struct stack_trace *wait_walk_from(struct thread_record *r, const struct walk_caller *from, uint16_t *epoch);

/* T was just taken: if the collector has not seen it yet, it shall name it now and not when the wait is over. */
void wait_announce(struct thread_record *r, uint32_t event, const struct stack_trace *t, uint16_t epoch);

/*
 * R, entered, has waited as S and N say: a sample if the time waited since its last one has come to the event's
 * interval, else the time is carried to the next one. False: it is one, of S->weight, and the queue has no room.
 */
bool wait_take(struct thread_record *r, struct sample *s, const struct wait_note *n);

/* R, entered, has waited for DURATION more: whether wait_take would make a sample of it; wait_carry: it is none. */
bool wait_would_be_due(const struct thread_record *r, uint32_t event, uint64_t duration);
void wait_carry(struct thread_record *r, uint32_t event, uint64_t duration);

/* As wait_take, without a stack to show: the sample is lost for WHY, if it were one. */
void wait_lose(struct thread_record *r, uint32_t event, uint64_t duration, enum loss_reason why);

/*
 * The thread that holds what others wait for is asked for its stack by a signal, one at a time. wait_ask: R will be;
 * the question's number. wait_answer: for R's handler. wait_answered: the stack that the question brought, for as
 * long as no WAIT_ANSWERS further ones were asked; NULL: none (yet).
 */
#define WAIT_ANSWERS 1024
uint64_t wait_ask(const struct thread_record *r);
void wait_answer(struct thread_record *r, uint32_t event, void *context);
const struct stack_trace *wait_answered(uint64_t number, uint16_t *epoch);
/* The stack of answer I, below WAIT_ANSWERS. The collector; and at the end, when no handler is inside. */
kept_stack *wait_answer_kept(uint32_t i);

/*
 * The stack of HOLDER, which waits itself or is in native code, from outside, by R, entered. NULL: it was not so, or is
 * not any more. HOLDER must be held (zone.held).
 */
const struct stack_trace *wait_look(struct thread_record *holder, struct thread_record *r, uint32_t event,
				    uint16_t *epoch);

#endif
