/*
 * lock_calls.c - the functions of libc that wait for a lock, as they are put into the images' GOT.
 *
 * Each tries for the lock first, which is what libc's does, too, and returns: that is all where it is free. What
 * the try says but "busy" is what the caller gets, as the real call says the same at that moment: that the mutex is
 * inconsistent, that a count has come to its limit, that the caller has it. Everything else is left to the real call.
 *
 * To try for a read lock takes longer than to take it, by as much as reading its state takes: the unlock before has
 * just written that word. Other words of it say too late that a writer comes, and one's own atomic addition to it,
 * which would save a nanosecond, is not ours to do.
 */
#include "agent/sources/nativelock/lock_calls.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "agent/hooks/hooked_calls.h"
#include "agent/sources/nativelock/native_waits.h"

/* Locks of the program, not ours: a build that checks the order of locks (CHECK_LOCKS) has macros of these names. */
#undef pthread_mutex_lock
#undef pthread_mutex_trylock
#undef pthread_rwlock_rdlock
#undef pthread_rwlock_tryrdlock
#undef pthread_rwlock_wrlock
#undef pthread_rwlock_trywrlock

typedef const struct timespec *until_t;

/* What ours call; NULL: libc has no such function, and no slot has ours. Set once. */
static struct {
	int (*pthread_mutex_lock)(pthread_mutex_t *), (*pthread_mutex_trylock)(pthread_mutex_t *);
	int (*pthread_mutex_timedlock)(pthread_mutex_t *, until_t);
	int (*pthread_mutex_clocklock)(pthread_mutex_t *, clockid_t, until_t);
	int (*pthread_rwlock_rdlock)(pthread_rwlock_t *), (*pthread_rwlock_tryrdlock)(pthread_rwlock_t *);
	int (*pthread_rwlock_timedrdlock)(pthread_rwlock_t *, until_t);
	int (*pthread_rwlock_clockrdlock)(pthread_rwlock_t *, clockid_t, until_t);
	int (*pthread_rwlock_wrlock)(pthread_rwlock_t *), (*pthread_rwlock_trywrlock)(pthread_rwlock_t *);
	int (*pthread_rwlock_timedwrlock)(pthread_rwlock_t *, until_t);
	int (*pthread_rwlock_clockwrlock)(pthread_rwlock_t *, clockid_t, until_t);
	int (*pthread_spin_lock)(pthread_spinlock_t *), (*pthread_spin_trylock)(pthread_spinlock_t *);
	int (*pthread_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
	int (*pthread_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, until_t);
	int (*pthread_cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, until_t);
	int (*sem_wait)(sem_t *), (*sem_trywait)(sem_t *);
	int (*sem_timedwait)(sem_t *, until_t), (*sem_clockwait)(sem_t *, clockid_t, until_t);
	void (*pthread_testcancel)(void);
} libc;

/* ---- locks ---- */

/* The lock is held by others now, or the call has failed at once. */
static bool has_slept(int rc)
{
	return rc == 0 || rc == EOWNERDEAD || rc == ENOTRECOVERABLE || rc == ETIMEDOUT;
}

/*
 * our_NAME with PARAMETERS, the first of which is `lock`, of KIND, whose owner OWNER finds: TRY first, if IF, then the
 * real call with ARGUMENTS. All that has a frame is in wait_in_NAME, which is jumped to, so that WALK_CALLER is of the
 * function that the program has called; where a compiler calls it, a walk leaves our_NAME out.
 */
#define LOCK(name, kind_, owner_, try, if_, parameters, arguments)                                           \
	static __attribute__((noinline)) int wait_in_##name parameters                                       \
	{                                                                                                    \
		struct native_wait w = {.kind = kind_, .lock = (const void *)lock, .from = WALK_CALLER};     \
		int rc;                                                                                      \
                                                                                                             \
		if (!native_wait_on(&w))                                                                     \
			return libc.name arguments;                                                          \
		while (native_wait_again(&w)) {                                                              \
			rc = libc.try(lock);                                                                 \
			if (rc == EBUSY)                                                                     \
				continue;                                                                    \
			native_wait_brief(&w);                                                               \
			return rc;                                                                           \
		}                                                                                            \
		w.owner = owner_;                                                                            \
		native_wait_begin(&w);                                                                       \
		rc = libc.name arguments;                                                                    \
		native_wait_end(&w, has_slept(rc));                                                          \
		return rc;                                                                                   \
	}                                                                                                    \
                                                                                                             \
	static int our_##name parameters                                                                     \
	{                                                                                                    \
		int rc;                                                                                      \
                                                                                                             \
		if (!(if_))                                                                                  \
			return libc.name arguments;                                                          \
		rc = libc.try(lock);                                                                         \
		return likely(rc != EBUSY) ? rc : wait_in_##name arguments;                                  \
	}

/* A time or clock that the real call may refuse is its own business: it says so of a lock that is free, too. */
#define TIME_IS_VALID ((unsigned long)until->tv_nsec < NS_PER_S)
#define CLOCK_IS_VALID ((clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && TIME_IS_VALID)
#define CLOCK_SUITS (CLOCK_IS_VALID && (clock == CLOCK_REALTIME || !native_mutex_inherits(lock)))
#define MUTEX LOCK_MUTEX, native_mutex_owner(lock), pthread_mutex_trylock
#define READER LOCK_READER, native_rwlock_owner(lock), pthread_rwlock_tryrdlock
#define WRITER LOCK_WRITER, native_rwlock_owner(lock), pthread_rwlock_trywrlock
#define SPINNER LOCK_SPIN, 0, pthread_spin_trylock
#define EXPAND(...) LOCK(__VA_ARGS__)

EXPAND(pthread_mutex_lock, MUTEX, true, (pthread_mutex_t *lock), (lock))
EXPAND(pthread_mutex_timedlock, MUTEX, TIME_IS_VALID, (pthread_mutex_t *lock, until_t until), (lock, until))
EXPAND(pthread_mutex_clocklock, MUTEX, CLOCK_SUITS, (pthread_mutex_t *lock, clockid_t clock, until_t until),
       (lock, clock, until))
EXPAND(pthread_rwlock_rdlock, READER, true, (pthread_rwlock_t *lock), (lock))
EXPAND(pthread_rwlock_timedrdlock, READER, TIME_IS_VALID, (pthread_rwlock_t *lock, until_t until), (lock, until))
EXPAND(pthread_rwlock_clockrdlock, READER, CLOCK_IS_VALID, (pthread_rwlock_t *lock, clockid_t clock, until_t until),
       (lock, clock, until))
EXPAND(pthread_rwlock_wrlock, WRITER, true, (pthread_rwlock_t *lock), (lock))
EXPAND(pthread_rwlock_timedwrlock, WRITER, TIME_IS_VALID, (pthread_rwlock_t *lock, until_t until), (lock, until))
EXPAND(pthread_rwlock_clockwrlock, WRITER, CLOCK_IS_VALID, (pthread_rwlock_t *lock, clockid_t clock, until_t until),
       (lock, clock, until))
EXPAND(pthread_spin_lock, SPINNER, true, (pthread_spinlock_t *lock), (lock))

/* ---- conditions: each call waits ---- */

#define CONDITION(name, parameters, arguments)                                                     \
	static int our_##name parameters                                                           \
	{                                                                                          \
		struct native_wait w = {.kind = LOCK_CONDITION, .lock = condition, .also = mutex}; \
		int rc;                                                                            \
                                                                                                   \
		if (!native_wait_on(&w))                                                           \
			return libc.name arguments;                                                \
		w.from = WALK_CALLER;                                                              \
		native_wait_begin(&w);                                                             \
		rc = libc.name arguments;                                                          \
		native_wait_end(&w, has_slept(rc));                                                \
		return rc;                                                                         \
	}

CONDITION(pthread_cond_wait, (pthread_cond_t *condition, pthread_mutex_t *mutex), (condition, mutex))
CONDITION(pthread_cond_timedwait, (pthread_cond_t *condition, pthread_mutex_t *mutex, until_t until),
	  (condition, mutex, until))
CONDITION(pthread_cond_clockwait, (pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, until_t until),
	  (condition, mutex, clock, until))

/* ---- semaphores ---- */

/* As sem_wait begins; errno stays as it is if it succeeds. */
static bool has_count(sem_t *semaphore)
{
	int saved = errno;

	libc.pthread_testcancel();
	if (libc.sem_trywait(semaphore) == 0)
		return true;
	errno = saved;
	return false;
}

#define SEMAPHORE(name, if_, parameters, arguments)                                        \
	static int our_##name parameters                                                   \
	{                                                                                  \
		struct native_wait w = {.kind = LOCK_SEMAPHORE, .lock = semaphore};        \
		int rc;                                                                    \
                                                                                           \
		if (!(if_))                                                                \
			return libc.name arguments;                                        \
		if (has_count(semaphore))                                                  \
			return 0;                                                          \
		if (!native_wait_on(&w))                                                   \
			return libc.name arguments;                                        \
		w.from = WALK_CALLER;                                                      \
		native_wait_begin(&w);                                                     \
		rc = libc.name arguments;                                                  \
		native_wait_end(&w, rc == 0 || errno == ETIMEDOUT || errno == EINTR);      \
		return rc;                                                                 \
	}

SEMAPHORE(sem_wait, true, (sem_t *semaphore), (semaphore))
SEMAPHORE(sem_timedwait, TIME_IS_VALID, (sem_t *semaphore, until_t until), (semaphore, until))
SEMAPHORE(sem_clockwait, CLOCK_IS_VALID, (sem_t *semaphore, clockid_t clock, until_t until), (semaphore, clock, until))

/* ---- in and out ---- */

#define CALL(name) {#name, (void *)our_##name, (void **)&libc.name}
/* What ours call besides: resolved, and in no slot. */
#define USED(name) {#name, NULL, (void **)&libc.name}

static const struct hooked_call mutexes[] = {
	USED(pthread_mutex_trylock), CALL(pthread_mutex_lock), CALL(pthread_mutex_timedlock),
	CALL(pthread_mutex_clocklock), USED(pthread_spin_trylock), CALL(pthread_spin_lock),
};
static const struct hooked_call rwlocks[] = {
	USED(pthread_rwlock_tryrdlock), USED(pthread_rwlock_trywrlock), CALL(pthread_rwlock_rdlock),
	CALL(pthread_rwlock_timedrdlock), CALL(pthread_rwlock_clockrdlock), CALL(pthread_rwlock_wrlock),
	CALL(pthread_rwlock_timedwrlock), CALL(pthread_rwlock_clockwrlock),
};
static const struct hooked_call idle[] = {
	CALL(pthread_cond_wait), CALL(pthread_cond_timedwait), CALL(pthread_cond_clockwait),
	USED(pthread_testcancel), USED(sem_trywait), CALL(sem_wait), CALL(sem_timedwait), CALL(sem_clockwait),
};

static struct hooked_calls sets[] = {
	{.calls = mutexes, .count = ARRAY_LEN(mutexes)}, {.calls = rwlocks, .count = ARRAY_LEN(rwlocks)},
	{.calls = idle, .count = ARRAY_LEN(idle)},
};
enum { MUTEXES, RWLOCKS, IDLE };

bool lock_calls_install(bool with_idle)
{
	bool done = hooked_calls_install(&sets[MUTEXES]);

	if (done && native_rwlocks_can_be_tried())
		done = hooked_calls_install(&sets[RWLOCKS]);
	if (done && with_idle)
		done = hooked_calls_install(&sets[IDLE]);
	if (!done)
		lock_calls_remove();
	return done;
}

void lock_calls_refresh(void)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(sets); i++)
		hooked_calls_refresh(&sets[i]);
}

void lock_calls_remove(void)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(sets); i++)
		hooked_calls_remove(&sets[i]);
}
