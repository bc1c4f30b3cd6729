/*
 * native_waits.h - a thread that waits for a native lock, from the call that had to wait until it returns. Inner header
 * of the nativelock source; the waiting thread, in normal code.
 *
 *   try ─▶ got: no wait ┊ try a few times more ─▶ got: a brief wait ┊ stack, lock, owner noted ─▶ the real call ─▶ end
 *
 * What costs something is done before the thread sleeps. With the lock in hand only the clock is read, but for a brief
 * wait that is a sample: one that comes after as much waiting as the event's interval.
 */
#ifndef AGENT_SOURCES_NATIVELOCK_NATIVE_WAITS_H
#define AGENT_SOURCES_NATIVELOCK_NATIVE_WAITS_H

#include "agent/sources/lock/lock_waits.h"

struct native_wait {
	enum lock_kind kind;
	const void *lock;
	const void *also;      /* see struct wait_begin; or NULL */
	int owner;             /* who holds it, the system's number; 0: not known */
	struct walk_caller from;

	/* native_waits.c's own */
	uint64_t since, began, thread;
	uint32_t tries;
};

/* Whether waits are noted now; then W, whose first line is set, begins. */
bool native_wait_on(struct native_wait *w);
/* Whether the lock may be tried for once more, after a moment. */
bool native_wait_again(struct native_wait *w);
/* It was got that way. */
void native_wait_brief(struct native_wait *w);
/* The real call comes now; it has returned: SLEPT, or it failed at once. errno stays as it is. */
void native_wait_begin(struct native_wait *w);
void native_wait_end(struct native_wait *w, bool slept);

/* What has an owner is libc's own business: of glibc it is known where that stands. */
int native_mutex_owner(const void *mutex);
int native_rwlock_owner(const void *lock);
bool native_mutex_inherits(const void *mutex);

/* A session begins: numbers for the names of locks, facts of this libc and machine. */
void native_waits_open(void);
/* Whether pthread_rwlock_tryrdlock and -trywrlock can be used: a bug of glibc before 2.30 makes other threads hang. */
bool native_rwlocks_can_be_tried(void);

#endif
