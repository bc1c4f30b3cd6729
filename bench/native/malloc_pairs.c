/*
 * malloc_pairs.c - an agent that times malloc(64) and free over and over, and writes a line each 100 ms: the least ns for
 * a pair of those of 20 runs (bench/nativemem_rows.py).
 */
#include <stdlib.h>

#include "least_ns.h"

#define PAIRS 100000

static double run(void)
{
	double begin = now_ns();
	int i;

	for (i = 0; i < PAIRS; i++) {
		char *volatile p = malloc(64);

		free(p);
	}
	return (now_ns() - begin) / PAIRS;
}

static void say(void)
{
	say_least("PAIR", run, 20);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)vm;
	(void)options;
	(void)reserved;
	return say_for_ever(say);
}
