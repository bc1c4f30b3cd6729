/*
 * cpu_load.c - CPU time split into user and system, of machine, process and threads; and that of children.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/os/os.h"

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_usec * NS_PER_US;
}

int os_process_times(uint64_t *user, uint64_t *system)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u))
		return -errno;
	*user = ns_of(&u.ru_utime);
	*system = ns_of(&u.ru_stime);
	return 0;
}

uint64_t os_children_cpu(void)
{
	struct rusage u;

	return getrusage(RUSAGE_CHILDREN, &u) ? 0 : ns_of(&u.ru_utime) + ns_of(&u.ru_stime);
}

static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), code;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	code = errno;
	close(fd);
	if (n <= 0)
		return n ? -code : -EIO;
	text[n] = '\0';
	return 0;
}

/* Ticks of the clock: the ratio of the two is what counts. */
int os_machine_times(uint64_t *busy, uint64_t *all, uint64_t *steal)
{
	unsigned long long t[8] = {0}; /* user nice system idle iowait irq softirq steal */
	char text[512];
	int i, rc = read_text("/proc/stat", text, sizeof(text));

	if (rc)
		return rc;
	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4],
		   &t[5], &t[6], &t[7]) < 4)
		return -EINVAL;
	for (*all = 0, i = 0; i < 8; i++)
		*all += t[i];
	*busy = *all - t[3] - t[4];
	*steal = t[7];
	return 0;
}

/* Fields 14 and 15 of stat(5), in ticks. */
int os_thread_times(pid_t tid, uint64_t *user, uint64_t *system)
{
	uint64_t tick = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	char path[64], text[1024];
	unsigned long long u, s;
	const char *at;
	int field, rc;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	rc = read_text(path, text, sizeof(text));
	if (rc)
		return rc;
	at = strrchr(text, ')');
	for (field = 2; at && field < 14; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%llu %llu", &u, &s) != 2)
		return -EINVAL;
	*user = u * tick;
	*system = s * tick;
	return 0;
}

unsigned os_cpus_online(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}

uint64_t os_memory_total(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t os_memory_free(void)
{
	return (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}
