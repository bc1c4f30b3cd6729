/*
 * lock_pairs.c - an agent that times locks that are free: a line each 100 ms with the least ns, of 20 runs, for
 * pthread_mutex_lock and unlock (PAIR), and for pthread_rwlock_rdlock and unlock (READ) (bench/nativelock_rows.py).
 */
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define PAIRS 100000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double run_mutex(void)
{
	double begin = now();
	int i;

	for (i = 0; i < PAIRS; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return (now() - begin) / PAIRS;
}

static double run_rwlock(void)
{
	double begin = now();
	int i;

	for (i = 0; i < PAIRS; i++) {
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
	return (now() - begin) / PAIRS;
}

static double least(double (*run)(void))
{
	double least = 1e9;
	int i;

	for (i = 0; i < 20; i++) {
		double one = run();

		least = one < least ? one : least;
	}
	return least;
}

static void *time_pairs(void *arg)
{
	for (;;) {
		struct timespec rest = {0, 50000000};

		printf("PAIR %.2f\n", least(run_mutex));
		printf("READ %.2f\n", least(run_rwlock));
		fflush(stdout);
		nanosleep(&rest, NULL);
	}
	return arg;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	pthread_t thread;

	(void)vm;
	(void)options;
	(void)reserved;
	return pthread_create(&thread, NULL, time_pairs, NULL) ? JNI_ERR : JNI_OK;
}
