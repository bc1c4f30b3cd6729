/*
 * lock_check.h - each lock that is taken tells which ones its thread holds (make CHECK_LOCKS=1).
 *
 * Included before everything else in such a build: pthread_mutex_lock() and its likes become the functions below. An order
 * that is new goes as a line "A > B" (B was waited for while A was held) into the file that JSTROBE_LOCK_ORDER names.
 * tests/jvm/test_locks.py runs sessions of all kinds and compares with the order in docs/inside/architecture.md.
 */
#ifndef JSTROBE_TESTS_LOCK_CHECK_H
#define JSTROBE_TESTS_LOCK_CHECK_H

#ifndef __ASSEMBLER__
#include <pthread.h>

/* LOCK is waited for, or (TRY) taken where it is free, by FUNCTION; TEXT is how FILE spells it. What FUNCTION returns. */
int lock_check(void *lock, int (*function)(void *), int try, const char *text, const char *file);
void lock_check_unlock(void *lock);
/* LOCK, which is new, has the name that TEXT and FILE make, in whatever file it is taken. */
void lock_check_named(void *lock, const char *text, const char *file);

#define LOCK_CHECK(f, lock, try) lock_check(lock, (int (*)(void *))(f), try, #lock, __FILE__)
#define pthread_mutex_lock(m) LOCK_CHECK(pthread_mutex_lock, m, 0)
#define pthread_mutex_trylock(m) LOCK_CHECK(pthread_mutex_trylock, m, 1)
#define pthread_rwlock_rdlock(m) LOCK_CHECK(pthread_rwlock_rdlock, m, 0)
#define pthread_rwlock_wrlock(m) LOCK_CHECK(pthread_rwlock_wrlock, m, 0)
#define pthread_rwlock_tryrdlock(m) LOCK_CHECK(pthread_rwlock_tryrdlock, m, 1)
#define pthread_rwlock_trywrlock(m) LOCK_CHECK(pthread_rwlock_trywrlock, m, 1)
#define pthread_mutex_unlock(m) (lock_check_unlock(m), pthread_mutex_unlock(m))
#define pthread_rwlock_unlock(m) (lock_check_unlock(m), pthread_rwlock_unlock(m))
#define pthread_mutex_init(m, a) (lock_check_named(m, #m, __FILE__), pthread_mutex_init(m, a))
#define pthread_rwlock_init(m, a) (lock_check_named(m, #m, __FILE__), pthread_rwlock_init(m, a))
#endif

#endif
