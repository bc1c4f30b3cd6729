/*
 * wall_waits.c - where a thread waits, by files of the kernel's that stay open.
 *
 * To open such a file takes longer than to read it, and of threads that move many times a second (a JVM's own that wait
 * for the clock) it is read each time.
 */
#include <unistd.h>

#include "engine/wall.h"
#include "os/os.h"

#define KEPT 16 /* files, each by its thread's number */

static struct {
	pid_t tid; /* 0 = none is open */
	int fd;
} kept[KEPT];

static void forget(uint32_t i)
{
	if (kept[i].tid)
		close(kept[i].fd);
	kept[i].tid = 0;
}

bool wall_waits(pid_t tid, uintptr_t *sp, uintptr_t *pc)
{
	uint32_t i = (uint32_t)tid % KEPT;
	enum os_waits waits = kept[i].tid == tid ? os_thread_waits_at(kept[i].fd, sp, pc) : OS_GONE;

	/* Another thread may have its number by now. */
	if (waits == OS_GONE) {
		forget(i);
		kept[i].fd = os_thread_waits_open(tid);
		if (kept[i].fd < 0)
			return false;
		kept[i].tid = tid;
		waits = os_thread_waits_at(kept[i].fd, sp, pc);
	}
	return waits == OS_WAITS;
}

void wall_waits_close(void)
{
	uint32_t i;

	for (i = 0; i < KEPT; i++)
		forget(i);
}
