/*
 * Walking another process's file system. /proc/PID/root leads there, but a link inside that begins
 * with / would then lead into our own file system: a container whose /tmp is a link to /etc must
 * not make root write into the host's /etc. The kernel can resolve a path inside a root (5.6);
 * before that, or where a seccomp filter does not know the call, no link is followed at all.
 */
#include "cli/attach/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int root_of(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The same without links, one folder after the other. */
static int walk(int root, const char *path, int flags)
{
	char copy[PATH_MAX], *word, *next, *rest;
	int fd, at = dup(root);

	snprintf(copy, sizeof(copy), "%s", path);
	word = strtok_r(copy, "/", &rest);
	while (at >= 0 && word) {
		next = strtok_r(NULL, "/", &rest);
		if (strcmp(word, "..") == 0) {
			close(at);
			return -ELOOP;
		}
		fd = openat(at, word, O_CLOEXEC | O_NOFOLLOW |
			    (next ? O_PATH | O_DIRECTORY : flags));
		close(at);
		at = fd;
		word = next;
	}
	return at < 0 ? -errno : at;
}

int root_open(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT,
	};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd >= 0)
		return fd;
	return errno == ENOSYS || errno == EPERM ? walk(root, path, flags) : -errno;
}
