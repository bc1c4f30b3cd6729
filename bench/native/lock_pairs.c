/*
 * lock_pairs.c - an agent that times locks that are free: a line each 100 ms with the least ns, of 20 runs, for
 * pthread_mutex_lock and unlock (PAIR), and for pthread_rwlock_rdlock and unlock (READ) (bench/nativelock_rows.py).
 */
#include "least_ns.h"

#define PAIRS 100000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static double run_mutex(void)
{
	double begin = now_ns();
	int i;

	for (i = 0; i < PAIRS; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return (now_ns() - begin) / PAIRS;
}

static double run_rwlock(void)
{
	double begin = now_ns();
	int i;

	for (i = 0; i < PAIRS; i++) {
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
	return (now_ns() - begin) / PAIRS;
}

static void say(void)
{
	say_least("PAIR", run_mutex, 20);
	say_least("READ", run_rwlock, 20);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)vm;
	(void)options;
	(void)reserved;
	return say_for_ever(say);
}
