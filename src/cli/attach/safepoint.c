/*
 * safepoint.c - whether a JVM stands at a safepoint, or waits for threads to reach one, seen from outside.
 *
 * Nothing says so but its VM thread: it computes without a break, or, while it waits for threads, naps of a
 * millisecond follow each other (SafepointSynchronize's back_off, JDK 14 and later). Otherwise it wakes about once
 * a second.
 */
#include <stdio.h>
#include <string.h>

#include "cli/attach/process.h"
#include "common/base/base.h"
#include "common/os/os.h"

#define WINDOW (300 * NS_PER_MS)
#define NAPS 40 /* in the window: 250 where nothing else runs, 20 with as many collections a second */

/* What thread TID of PID has done so far: ns on a CPU, and how often it was put on one. */
static bool read_work(pid_t pid, pid_t tid, unsigned long long *cpu, unsigned long long *turns)
{
	char name[64], text[128];

	snprintf(name, sizeof(name), "task/%d/schedstat", (int)tid);
	return process_read(pid, name, text, sizeof(text)) > 0 && sscanf(text, "%llu %*u %llu", cpu, turns) == 2;
}

static bool is_vm_thread(pid_t pid, pid_t tid, const void *unused)
{
	char name[64], text[32];

	snprintf(name, sizeof(name), "task/%d/comm", (int)tid);
	return process_read(pid, name, text, sizeof(text)) > 0 && strcmp(text, "VM Thread\n") == 0;
}

bool process_has_vm_thread(pid_t pid)
{
	return process_find_thread(pid, is_vm_thread, NULL) != 0;
}

bool process_at_safepoint(pid_t pid)
{
	unsigned long long cpu, turns, cpu_then, turns_then;
	pid_t tid = process_find_thread(pid, is_vm_thread, NULL);

	if (!tid || !read_work(pid, tid, &cpu_then, &turns_then))
		return false;
	os_sleep(WINDOW);
	return read_work(pid, tid, &cpu, &turns) &&
	       (cpu - cpu_then > WINDOW / 10 * 6 || turns - turns_then > NAPS);
}
