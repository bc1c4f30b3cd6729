/*
 * wall_waits.c - where a thread waits, by files of the kernel's that stay open.
 *
 * To open such a file takes longer than to read it, and of threads that move many times a second (a JVM's own that wait
 * for the clock) it is read each time.
 */
#include <errno.h>
#include <unistd.h>

#include "agent/sources/wall/wall.h"
#include "common/base/file_identity.h"
#include "common/os/os.h"

#define KEPT 16 /* files, each by its thread's number */
#define SHARE 4 /* of the descriptors that are free, at most one in so many is ours */

static struct {
	pid_t tid; /* 0 = none is open */
	int fd;
	struct file_identity file;
} kept[KEPT];
static uint32_t room; /* so many files may be open; 0: each is closed at once */

static void forget(uint32_t i)
{
	if (kept[i].tid && file_identity_same(file_identity_of(kept[i].fd), kept[i].file))
		close(kept[i].fd);
	kept[i].tid = 0;
}

static void forget_all(void)
{
	uint32_t i;

	for (i = 0; i < KEPT; i++)
		forget(i);
}

void wall_waits_open(void)
{
	unsigned limit = os_descriptor_limit(), open = os_descriptors_open();

	room = limit > open ? MIN((limit - open) / SHARE, KEPT) : 0;
}

void wall_waits_close(void)
{
	forget_all();
	room = 0;
}

void wall_waits_gone(pid_t tid)
{
	uint32_t i = room ? (uint32_t)tid % room : 0;

	if (kept[i].tid == tid)
		forget(i);
}

bool wall_waits(pid_t tid, uintptr_t *sp, uintptr_t *pc)
{
	uint32_t i = room ? (uint32_t)tid % room : 0;
	enum os_waits waits;

	if (!room)
		return os_thread_waits(tid, sp, pc);
	waits = kept[i].tid == tid && file_identity_same(file_identity_of(kept[i].fd), kept[i].file) ?
		os_thread_waits_at(kept[i].fd, sp, pc) : OS_GONE;
	/* Another thread may have its number by now. */
	if (waits == OS_GONE) {
		forget(i);
		kept[i].fd = os_thread_waits_open(tid);
		if (kept[i].fd < 0) {
			if (errno == EMFILE || errno == ENFILE)
				wall_waits_close(); /* the program needs them */
			return false;
		}
		kept[i].tid = tid;
		kept[i].file = file_identity_of(kept[i].fd);
		waits = os_thread_waits_at(kept[i].fd, sp, pc);
	}
	return waits == OS_WAITS;
}
