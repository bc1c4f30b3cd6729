/* events.c - the native methods of truth.Events: a known number of system calls, calls and page faults. */
#define _GNU_SOURCE
#include <jni.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

/* Exported: the tests set breakpoints and probes on them. */
JNIEXPORT volatile long truth_variable;

JNIEXPORT __attribute__((noinline)) void truth_target(void)
{
	__asm__ volatile("" ::: "memory");
}

JNIEXPORT __attribute__((noinline)) void truth_touch(char *memory, jlong pages)
{
	jlong i;

	for (i = 0; i < pages; i++)
		((volatile char *)memory)[i * PAGE] = 1;
}

JNIEXPORT void JNICALL Java_truth_Events_calls(JNIEnv *env, jclass type, jlong n)
{
	jlong i;

	(void)env;
	(void)type;
	for (i = 0; i < n; i++) {
		syscall(SYS_getppid);
		truth_target();
		truth_variable = i;
	}
}

JNIEXPORT void JNICALL Java_truth_Events_faults(JNIEnv *env, jclass type, jlong pages)
{
	size_t size = (size_t)pages * PAGE;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)env;
	(void)type;
	if (memory == MAP_FAILED)
		return;
	madvise(memory, size, MADV_NOHUGEPAGE);
	truth_touch(memory, pages);
	munmap(memory, size);
}

/* Waits that give the CPU away N times. */
JNIEXPORT void JNICALL Java_truth_Events_waits(JNIEnv *env, jclass type, jlong n)
{
	struct timespec ms = {0, 1000000};

	(void)env;
	(void)type;
	while (n-- > 0)
		nanosleep(&ms, NULL);
}

/* ---- windows: CPU time between truth_begin and truth_end, and outside ---- */

#define BURN_NS 4000000

JNIEXPORT __attribute__((noinline)) void truth_begin(void)
{
	__asm__ volatile("" ::: "memory");
}

JNIEXPORT __attribute__((noinline)) void truth_end(void)
{
	__asm__ volatile("nop" ::: "memory");
}

static uint64_t thread_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline __attribute__((always_inline)) void spin(void)
{
	uint64_t until = thread_cpu() + BURN_NS;
	int i;

	while (thread_cpu() < until)
		for (i = 0; i < 1000; i++)
			truth_variable = i;
}

JNIEXPORT __attribute__((noinline)) void truth_inside(void)
{
	spin();
}

JNIEXPORT __attribute__((noinline)) void truth_outside(void)
{
	spin();
	__asm__ volatile("nop" ::: "memory");
}

JNIEXPORT void JNICALL Java_truth_Events_windows(JNIEnv *env, jclass type, jlong n)
{
	(void)env;
	(void)type;
	while (n-- > 0) {
		truth_outside();
		truth_begin();
		truth_inside();
		truth_end();
	}
	truth_outside();
}
