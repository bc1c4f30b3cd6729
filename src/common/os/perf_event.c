/*
 * perf_event.c - perf events, one a thread and event.
 *
 * The software clock "cpu-clock" is driven by a high-resolution timer: exact at 1 ms and
 * 100 µs, where CPU timers are bound to the scheduler's tick (4 ms at CONFIG_HZ=250).
 * PERF_EVENT_IOC_REFRESH is not used: it hangs Linux 6.16 and 6.17. Nor is precise_ip:
 * the stack is walked from where the signal finds the thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/os/os.h"
#include "cpu.h"

void os_perf_attr(const struct os_perf *spec, struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = spec->type;
	attr->config = spec->config;
	attr->config1 = spec->path ? (uintptr_t)spec->path : spec->config1; /* bp_addr, too */
	attr->config2 = spec->config2;                                      /* bp_len, too */
	attr->bp_type = spec->bp_type;
	attr->sample_period = spec->period;
	attr->sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
	attr->sample_regs_user = 1ull << CPU_PERF_SP | 1ull << CPU_PERF_PC;
	if (spec->scaled)
		attr->read_format =
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->exclude_callchain_user = 1;
	attr->exclude_callchain_kernel = !spec->kernel;
	attr->exclude_kernel = !spec->kernel;
	attr->exclude_hv = !spec->kernel;
	attr->remove_on_exec = spec->until_exec;
	attr->disabled = 1;
	attr->wakeup_events = 1;
}

/* What an older kernel, or one for another CPU, may not know; false: nothing of that was asked for. */
static bool drop_new_bits(struct perf_event_attr *attr)
{
	if (attr->remove_on_exec) {
		attr->remove_on_exec = 0;
		return true;
	}
	if (!attr->sample_regs_user)
		return false;
	attr->sample_regs_user = 0;
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_USER;
	return true;
}

int os_perf_open(pid_t tid, const struct os_perf *spec)
{
	struct perf_event_attr attr;
	int fd, rc;

	os_perf_attr(spec, &attr);
	do
		fd = (int)syscall(SYS_perf_event_open, &attr, tid, (int)spec->only_cpu - 1, -1,
				  PERF_FLAG_FD_CLOEXEC);
	while (fd < 0 && (errno == EINVAL || errno == ENOSYS) && drop_new_bits(&attr));
	if (fd < 0)
		return -errno;
	if (spec->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, spec->filter)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

bool os_perf_read(int fd, bool scaled, uint64_t words[3])
{
	ssize_t size = (scaled ? 3 : 1) * (ssize_t)sizeof(words[0]);

	uint64_t id;

	/* a program that closes all descriptors may have a file of its own there: nothing is taken out of that */
	return ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 && read(fd, words, (size_t)size) == size;
}

int os_perf_probe(void)
{
	struct os_perf clock = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .period = NS_PER_S,
		.kernel = true,
	};
	int fd = os_perf_open(os_gettid(), &clock);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

const char *os_perf_refusal(int rc)
{
	switch (-rc) {
	case EACCES:
	case EPERM:
		return "no permission for kernel profiling (kernel.perf_event_paranoid, seccomp); "
		       "as root: sysctl kernel.perf_event_paranoid=1";
	case ENOSYS:
	case ENOENT:
		return "this kernel or container offers no perf events";
	default:
		return error_text(-rc);
	}
}

static size_t page_bytes(void)
{
	return (size_t)getpagesize();
}

size_t os_perf_data_bytes(size_t data)
{
	size_t bytes = page_bytes();

	while (bytes < data)
		bytes *= 2;
	return bytes;
}

static size_t ring_bytes(const struct perf_event_mmap_page *page)
{
	return (size_t)(page->data_offset + page->data_size);
}

/* What the kernel says of RING, of BYTES; before Linux 4.1 it does not say it. False: there is no room for data. */
static bool is_usable(struct perf_event_mmap_page *page, size_t bytes)
{
	uint64_t size;

	if (!page->data_offset) {
		page->data_offset = page_bytes();
		page->data_size = bytes - page_bytes();
	}
	size = page->data_size;
	return size >= 4096 && (size & (size - 1)) == 0;
}

/*
 * The first write to the control page is a fault that the kernel (6.4 and later) begins anew under another lock, but
 * not while a signal is pending: then it goes back to the instruction. Where an event of page faults sends that signal
 * each time, and no handler makes it rarer, that never ends. So the page is written to here, without signals.
 */
static void touch(struct perf_event_mmap_page *page)
{
	sigset_t all, before;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	__atomic_store_n(&page->data_tail, 0, __ATOMIC_RELAXED);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void *os_perf_map(int fd, size_t data)
{
	size_t bytes = page_bytes() + os_perf_data_bytes(data);
	void *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		return NULL;
	if (!is_usable(ring, bytes)) {
		munmap(ring, bytes);
		return NULL;
	}
	madvise(ring, bytes, MADV_DONTFORK);
	touch(ring);
	return ring;
}

size_t os_perf_unmap(void *ring)
{
	const struct perf_event_mmap_page *page = ring;
	size_t data;

	if (!ring)
		return 0;
	data = (size_t)page->data_size;
	munmap(ring, ring_bytes(page));
	return data;
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

int os_perf_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

void os_close(int fd)
{
	close(fd);
}
