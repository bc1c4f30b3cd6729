#include "lib_locks.h"

/* Calls, not addresses: those would be slots of data, which are bound at once. And no jumps: the caller is this. */
#define CALL(name, real, parameters, arguments)     \
	static int call_##name parameters           \
	{                                           \
		int volatile result = real arguments; \
		return result;                      \
	}

typedef const struct timespec *until_t;

CALL(lock, pthread_mutex_lock, (pthread_mutex_t *m), (m))
CALL(timedlock, pthread_mutex_timedlock, (pthread_mutex_t *m, until_t t), (m, t))
CALL(clocklock, pthread_mutex_clocklock, (pthread_mutex_t *m, clockid_t c, until_t t), (m, c, t))
CALL(rdlock, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l))
CALL(wrlock, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l))
CALL(timedrdlock, pthread_rwlock_timedrdlock, (pthread_rwlock_t *l, until_t t), (l, t))
CALL(timedwrlock, pthread_rwlock_timedwrlock, (pthread_rwlock_t *l, until_t t), (l, t))
CALL(clockrdlock, pthread_rwlock_clockrdlock, (pthread_rwlock_t *l, clockid_t c, until_t t), (l, c, t))
CALL(clockwrlock, pthread_rwlock_clockwrlock, (pthread_rwlock_t *l, clockid_t c, until_t t), (l, c, t))
CALL(spin_lock, pthread_spin_lock, (pthread_spinlock_t *s), (s))
CALL(cond_wait, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m))
CALL(cond_timedwait, pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m, until_t t), (c, m, t))
CALL(cond_clockwait, pthread_cond_clockwait, (pthread_cond_t *c, pthread_mutex_t *m, clockid_t k, until_t t),
     (c, m, k, t))
CALL(sem_wait, sem_wait, (sem_t *s), (s))
CALL(sem_timedwait, sem_timedwait, (sem_t *s, until_t t), (s, t))
CALL(sem_clockwait, sem_clockwait, (sem_t *s, clockid_t c, until_t t), (s, c, t))

__attribute__((visibility("default"))) const struct lock_calls *lock_calls(void);

const struct lock_calls *lock_calls(void)
{
	static const struct lock_calls calls = {
		call_lock, call_timedlock, call_clocklock, call_rdlock, call_wrlock, call_timedrdlock, call_timedwrlock,
		call_clockrdlock, call_clockwrlock, call_spin_lock, call_cond_wait, call_cond_timedwait,
		call_cond_clockwait, call_sem_wait, call_sem_timedwait, call_sem_clockwait,
	};

	return &calls;
}
