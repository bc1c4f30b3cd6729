/*
 * limits.c - limits of this process: descriptors.
 */
#include <dirent.h>
#include <sys/resource.h>

#include "os/os.h"

unsigned os_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > 1u << 30)
		return 1u << 20;
	return (unsigned)limit.rlim_cur;
}

unsigned os_descriptors_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count > 3 ? count - 3 : 0; /* ".", ".." and the directory itself */
}
