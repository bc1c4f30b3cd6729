/*
 * malloc_pairs.c - an agent that times malloc(64) and free over and over, and writes a line each 100 ms: the least ns for
 * a pair of those of 20 runs (bench/nativemem_rows.py).
 */
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PAIRS 100000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double run(void)
{
	double begin = now();
	int i;

	for (i = 0; i < PAIRS; i++) {
		char *volatile p = malloc(64);

		free(p);
	}
	return (now() - begin) / PAIRS;
}

static void *time_pairs(void *arg)
{
	for (;;) {
		struct timespec rest = {0, 50000000};
		double least = 1e9;
		int i;

		for (i = 0; i < 20; i++) {
			double one = run();

			least = one < least ? one : least;
		}
		printf("PAIR %.2f\n", least);
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
