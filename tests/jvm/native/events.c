/* events.c - the native methods of truth.Events: a known number of system calls, calls and page faults. */
#define _GNU_SOURCE
#include <jni.h>
#include <stddef.h>
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
