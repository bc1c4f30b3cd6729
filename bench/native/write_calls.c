/*
 * write_calls.c - an agent that times write(2) of 64 bytes to a pipe that it empties itself, over and over, and writes a
 * line each 100 ms: the least ns for a call of those of 200 runs (bench/io_rows.py).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "least_ns.h"

#define CALLS 500 /* they fit into a pipe */

static int ends[2];

static double run(void)
{
	static char bytes[64 * CALLS];
	double begin = now_ns(), took;
	int i;

	for (i = 0; i < CALLS; i++)
		if (write(ends[1], bytes, 64) != 64)
			return 1e9;
	took = now_ns() - begin;
	if (read(ends[0], bytes, sizeof(bytes)) != sizeof(bytes))
		return 1e9;
	return took / CALLS;
}

static void say(void)
{
	say_least("WRITE", run, 200);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)vm;
	(void)options;
	(void)reserved;
	return pipe2(ends, O_CLOEXEC) ? JNI_ERR : say_for_ever(say);
}
