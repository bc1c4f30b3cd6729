/*
 * native_locks.c - the native methods of truth.NativeLocks: locks of all kinds, each waited for in a function of its
 * own, and how long that took by a clock of this library.
 */

#include <errno.h>
#include <jni.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

enum { MUTEX, TIMED, RECURSIVE, INHERITING, READ, WRITE, SPIN, CONDITION, SEMAPHORE, KINDS };

static pthread_mutex_t mutexes[KINDS];
static pthread_rwlock_t rwlocks[KINDS];
static pthread_spinlock_t spin;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static struct timespec in_ms(long ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* No jumps: each is on the stack while it waits. */
#define TAKE(name, ...)                                          \
	__attribute__((noinline)) long locks_##name(int kind)    \
	{                                                        \
		struct timespec until = in_ms(20);               \
		long began = now();                              \
		int volatile rc = __VA_ARGS__;                   \
		long took = now() - began;                       \
                                                                 \
		(void)until;                                     \
		(void)kind;                                      \
		return rc ? -took : took;                        \
	}

TAKE(mutex, pthread_mutex_lock(&mutexes[kind]))
TAKE(timed, (until = in_ms(10000), pthread_mutex_timedlock(&mutexes[kind], &until)))
TAKE(recursive, pthread_mutex_lock(&mutexes[kind]))
TAKE(inheriting, pthread_mutex_lock(&mutexes[kind]))
TAKE(read, pthread_rwlock_rdlock(&rwlocks[0]))
TAKE(write, pthread_rwlock_wrlock(&rwlocks[0]))
TAKE(spin, pthread_spin_lock(&spin))
TAKE(semaphore, sem_timedwait(&semaphore, &until))

__attribute__((noinline)) long locks_condition(int kind)
{
	struct timespec until = in_ms(20);
	long began, took;

	pthread_mutex_lock(&mutexes[kind]);
	began = now();
	pthread_cond_timedwait(&condition, &mutexes[kind], &until);
	took = now() - began;
	pthread_mutex_unlock(&mutexes[kind]);
	return took;
}

static long (*const take[KINDS])(int) = {
	locks_mutex, locks_timed, locks_recursive, locks_inheriting, locks_read, locks_write, locks_spin,
	locks_condition, locks_semaphore,
};

JNIEXPORT void JNICALL Java_truth_NativeLocks_open(JNIEnv *env, jclass type)
{
	pthread_mutexattr_t a;
	int i;

	(void)env;
	(void)type;
	for (i = 0; i < KINDS; i++) {
		pthread_mutexattr_init(&a);
		if (i == RECURSIVE)
			pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
		if (i == INHERITING)
			pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
		pthread_mutex_init(&mutexes[i], &a);
		pthread_rwlock_init(&rwlocks[i], NULL);
	}
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&semaphore, 0, 0);
}

/* Lock what KIND says; ns that it took, negative if it failed. */
JNIEXPORT jlong JNICALL Java_truth_NativeLocks_take(JNIEnv *env, jclass type, jint kind)
{
	(void)env;
	(void)type;
	return take[kind](kind);
}

/* The holder's side: as it is waited for, so it is held; a reader waits for a writer, and a writer for a reader. */
JNIEXPORT void JNICALL Java_truth_NativeLocks_hold(JNIEnv *env, jclass type, jint kind)
{
	(void)env;
	(void)type;
	if (kind == READ)
		pthread_rwlock_wrlock(&rwlocks[0]);
	else if (kind == WRITE)
		pthread_rwlock_rdlock(&rwlocks[0]);
	else if (kind == SPIN)
		pthread_spin_lock(&spin);
	else
		pthread_mutex_lock(&mutexes[kind]);
}

JNIEXPORT void JNICALL Java_truth_NativeLocks_give(JNIEnv *env, jclass type, jint kind)
{
	(void)env;
	(void)type;
	if (kind == READ || kind == WRITE)
		pthread_rwlock_unlock(&rwlocks[0]);
	else if (kind == SPIN)
		pthread_spin_unlock(&spin);
	else
		pthread_mutex_unlock(&mutexes[kind]);
}

/* NS since FROM: asleep, or, a few microseconds, not. */
static void hold_for(long from, long ns)
{
	struct timespec rest = {0, ns};

	if (ns >= 10000)
		nanosleep(&rest, NULL);
	while (now() - from < ns)
		;
}

/* Take and give a mutex ROUNDS times, held for HELD ns each; ns that taking it took, if it was not free. */
__attribute__((noinline)) long locks_fight(long rounds, long held)
{
	long sum = 0, i;

	for (i = 0; i < rounds; i++) {
		long began = now(), got;

		pthread_mutex_lock(&mutexes[MUTEX]);
		got = now();
		if (got - began > 300)
			sum += got - began;
		hold_for(got, held);
		pthread_mutex_unlock(&mutexes[MUTEX]);
		hold_for(now(), held / 2);
	}
	return sum;
}

JNIEXPORT jlong JNICALL Java_truth_NativeLocks_fight(JNIEnv *env, jclass type, jlong rounds, jlong held)
{
	(void)env;
	(void)type;
	return locks_fight(rounds, held);
}
