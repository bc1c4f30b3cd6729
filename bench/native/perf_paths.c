/*
 * perf_paths.c - what the kernel takes for one CPU-clock sample, by the way it is delivered.
 *
 *   cc -O2 -o perf_paths bench/native/perf_paths.c && ./perf_paths
 *
 * A thread does fixed work; its CPU time with a perf event of 100 µs, less that without, divided
 * by the samples. The handler only counts. See docs/inside/history-cost.md for what it showed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PERIOD 100000
#define WORK 150000000L
#define RING 8192

struct way {
	const char *what;
	uint64_t sample_type;
	int no_signal, sigtrap, one_shot, ring;
};

static const struct way ways[] = {
	{"timer alone, nothing delivered", PERF_SAMPLE_READ, 1, 0, 0, 1},
	{"signal (F_SETSIG)", 0, 0, 0, 0, 0},
	{"signal, ring with count and kernel stack (jstrobe)",
	 PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN, 0, 0, 0, 1},
	{"the same, one shot and re-armed by ioctl",
	 PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN, 0, 0, 1, 1},
	{"SIGTRAP by the kernel itself (attr.sigtrap)", 0, 0, 1, 0, 0},
};

static const struct way *way;
static volatile long samples;
static struct perf_event_mmap_page *ring;
static int fd;

static void on_sample(int signo, siginfo_t *info, void *context)
{
	(void)signo, (void)info, (void)context;
	samples++;
	if (ring)
		ring->data_tail = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	if (way->one_shot) {
		ioctl(fd, PERF_EVENT_IOC_RESET, 0);
		ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
	}
}

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double work(void)
{
	double start = cpu();
	volatile uint64_t x = 1;
	long i;

	for (i = 0; i < WORK; i++)
		x = x * 31 + (uint64_t)i;
	return cpu() - start;
}

static int open_event(void)
{
	struct f_owner_ex owner = {F_OWNER_TID, (int)syscall(SYS_gettid)};
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = PERIOD;
	attr.sample_type = way->sample_type;
	attr.exclude_callchain_user = 1;
	attr.disabled = 1;
	attr.wakeup_events = way->no_signal ? 1u << 30 : 1;
	attr.sigtrap = way->sigtrap;
	attr.remove_on_exec = way->sigtrap;
	fd = (int)syscall(SYS_perf_event_open, &attr, owner.pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -1;
	ring = way->ring ? mmap(NULL, RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : NULL;
	if (!way->no_signal && !way->sigtrap) {
		fcntl(fd, F_SETFL, O_ASYNC);
		fcntl(fd, F_SETSIG, SIGSTKFLT);
		fcntl(fd, F_SETOWN_EX, &owner);
	}
	return way->one_shot ? ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) : ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

static int measure(void)
{
	double before, with, after;

	samples = 0;
	before = work();
	if (open_event()) {
		perror(way->what);
		return 1;
	}
	with = work();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (ring)
		munmap(ring, RING);
	close(fd);
	after = work();
	if (way->no_signal)
		samples = (long)(with / PERIOD);
	printf("%8.0f ns a sample  %s\n", (with - (before + after) / 2) / (double)samples, way->what);
	return 0;
}

int main(void)
{
	struct sigaction action;
	size_t i;
	int turn;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_sample;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGSTKFLT, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	for (turn = 0; turn < 3; turn++)
		for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
			way = &ways[i];
			measure();
		}
	return 0;
}
