#include "common/base/proc_self.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static const char *folder(void)
{
	static atomic_int found; /* 0: was not looked for, 1: old kernel, 2: it is there */
	int is = atomic_load(&found);

	if (!is) {
		is = access("/proc/thread-self", F_OK) == 0 ? 2 : 1;
		atomic_store(&found, is);
	}
	return is == 2 ? "thread-self" : "self";
}

const char *proc_self(char path[PROC_SELF_MAX], const char *name)
{
	snprintf(path, PROC_SELF_MAX, "/proc/%s/%s", folder(), name);
	return path;
}

const char *proc_self_fd(char path[PROC_SELF_MAX], int fd)
{
	snprintf(path, PROC_SELF_MAX, "/proc/%s/fd/%d", folder(), fd);
	return path;
}
