/*
 * least_ns.h - of agents that time something over and over on a thread of their own and write the least ns of some runs
 * as a line, again and again.
 */
#ifndef BENCH_NATIVE_LEAST_NS_H
#define BENCH_NATIVE_LEAST_NS_H

#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* "NAME 12.34": the least that RUN says, of so many RUNS. */
static void say_least(const char *name, double (*run)(void), int runs)
{
	double least = 1e9;
	int i;

	for (i = 0; i < runs; i++) {
		double one = run();

		least = one < least ? one : least;
	}
	printf("%s %.2f\n", name, least);
}

static void (*say_all)(void);

static void *say_again(void *arg)
{
	for (;;) {
		struct timespec rest = {0, 50000000};

		say_all();
		fflush(stdout);
		nanosleep(&rest, NULL);
	}
	return arg;
}

/* SAY again and again, from now on; what Agent_OnLoad returns. */
static jint say_for_ever(void (*say)(void))
{
	pthread_t thread;

	say_all = say;
	return pthread_create(&thread, NULL, say_again, NULL) ? JNI_ERR : JNI_OK;
}

#endif
