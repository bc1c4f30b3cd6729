/* burn.c - the native method of truth.NativeBurn: use CPU time, call nothing that waits. */
#include <jni.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static volatile unsigned long burn_sink;

static long long cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Kept out of line so that a native frame of known name lies on the stack. */
__attribute__((noinline)) static void burn_for(long long ns)
{
	bool for_ever = ns == INT64_MAX;
	long long end = for_ever ? ns : cpu_now() + ns;

	do {
		int i;

		for (i = 0; i < 100000; i++)
			burn_sink = burn_sink * 31 + i;
	} while (for_ever || cpu_now() < end);
}

JNIEXPORT void JNICALL Java_truth_NativeBurn_burn(JNIEnv *env, jclass type, jlong ns)
{
	(void)env;
	(void)type;
	burn_for(ns);
}
