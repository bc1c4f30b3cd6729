/*
 * threads.c - the threads of this process, from /proc/self/task.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/os.h"

pid_t os_gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

int os_each_thread(void (*fn)(pid_t tid, void *arg), void *arg)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			fn((pid_t)atoi(entry->d_name), arg);
	closedir(dir);
	return 0;
}

void os_thread_name(pid_t tid, char *name, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	name[0] = '\0';
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, name, size - 1);
	close(fd);
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

bool os_thread_exists(pid_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}
