/*
 * perf.c - perf events of the software clock "cpu-clock", one a thread.
 *
 * It is driven by a high-resolution timer: exact at 1 ms and 100 µs, where CPU
 * timers are bound to the scheduler's tick (4 ms at CONFIG_HZ=250).
 * PERF_EVENT_IOC_REFRESH is not used: it hangs Linux 6.16 and 6.17.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/os.h"

#define RING_BYTES (2 * 4096)

int os_perf_open(pid_t tid, uint64_t interval, bool kernel)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = interval;
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN;
	attr.exclude_callchain_user = 1;
	attr.exclude_callchain_kernel = !kernel;
	attr.exclude_kernel = !kernel;
	attr.disabled = 1;
	attr.wakeup_events = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void *os_perf_map(int fd)
{
	void *ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		return NULL;
	madvise(ring, RING_BYTES, MADV_DONTFORK);
	return ring;
}

void os_perf_unmap(void *ring)
{
	if (ring)
		munmap(ring, RING_BYTES);
}

int os_perf_signal(int fd, pid_t tid, int signo)
{
	struct f_owner_ex owner = {F_OWNER_TID, tid};

	if (fcntl(fd, F_SETFL, O_ASYNC) || fcntl(fd, F_SETSIG, signo) ||
	    fcntl(fd, F_SETOWN_EX, &owner) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	return 0;
}

int os_perf_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}
