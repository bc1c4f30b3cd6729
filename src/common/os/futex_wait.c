/*
 * futex_wait.c - sleeping until a word changes, without a condition variable.
 *
 * Who wakes from pthread_cond_timedwait takes the mutex as if others waited for it, and wakes them when it lets go.
 * The kernel looks for them among all waiters that share a bucket of its table: 0.3 ms, each time, in a process with
 * ten thousand threads that wait (Linux 6.18, glibc 2.36). A plain wait looks for none.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/os/os.h"

void os_wait_while(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
	uint64_t now = os_monotonic(), until = ns > UINT64_MAX - now ? UINT64_MAX : now + ns;

	while (atomic_load(word) == value && now < until) {
		struct timespec rest = {(time_t)((until - now) / NS_PER_S), (long)((until - now) % NS_PER_S)};

		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &rest, NULL, 0);
		now = os_monotonic();
	}
}

void os_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Not pthread_mutex_timedlock: it goes by the clock that can be set. */
bool os_lock_within(pthread_mutex_t *mutex, uint64_t ns)
{
	uint64_t until = os_monotonic() + ns;

	while (pthread_mutex_trylock(mutex)) {
		if (os_monotonic() >= until)
			return false;
		os_sleep(NS_PER_MS);
	}
	return true;
}
