/*
 * write_calls.c - an agent that times write(2) of 64 bytes to a pipe that it empties itself, over and over, and writes a
 * line each 100 ms: the least ns for a call of those of 20 runs (bench/io_rows.py).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CALLS 500 /* they fit into a pipe */

static int ends[2];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double run(void)
{
	static char bytes[64 * CALLS];
	double begin = now(), took;
	int i;

	for (i = 0; i < CALLS; i++)
		if (write(ends[1], bytes, 64) != 64)
			return 1e9;
	took = now() - begin;
	if (read(ends[0], bytes, sizeof(bytes)) != sizeof(bytes))
		return 1e9;
	return took / CALLS;
}

static void *time_calls(void *arg)
{
	for (;;) {
		struct timespec rest = {0, 50000000};
		double least = 1e9;
		int i;

		for (i = 0; i < 200; i++) {
			double one = run();

			least = one < least ? one : least;
		}
		printf("WRITE %.2f\n", least);
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
	return pipe2(ends, O_CLOEXEC) || pthread_create(&thread, NULL, time_calls, NULL) ? JNI_ERR : JNI_OK;
}
