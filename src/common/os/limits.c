/*
 * limits.c - limits of this process: descriptors, pending signals, locked memory.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>

#include "common/base/proc_self.h"
#include "common/os/os.h"

#define PLENTY (1u << 20)

static unsigned soft_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur > 1u << 30)
		return PLENTY;
	return (unsigned)limit.rlim_cur;
}

unsigned os_descriptor_limit(void)
{
	return soft_limit(RLIMIT_NOFILE);
}

unsigned os_pending_limit(void)
{
	return soft_limit(RLIMIT_SIGPENDING);
}

unsigned os_pending_used(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned used = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigQ: %u/", &used) == 1)
			break;
	if (f)
		fclose(f);
	return used;
}

unsigned os_descriptors_open(void)
{
	char self[PROC_SELF_MAX];
	DIR *dir = opendir(proc_self(self, "fd"));
	unsigned count = 0;

	if (!dir)
		return os_descriptor_limit();
	while (readdir(dir))
		count++;
	closedir(dir);
	return count > 3 ? count - 3 : 0; /* ".", ".." and the directory itself */
}

/* So much for each CPU to the user, and RLIMIT_MEMLOCK to the process. */
uint64_t os_perf_memory(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_mlock_kb", "re");
	struct rlimit limit;
	unsigned kb = 0;

	if (f && fscanf(f, "%u", &kb) != 1)
		kb = 0;
	if (f)
		fclose(f);
	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		limit.rlim_cur = 0;
	return (uint64_t)kb * 1024 * os_cpus_online() + MIN((uint64_t)limit.rlim_cur, (uint64_t)1 << 30);
}
