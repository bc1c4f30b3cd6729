/*
 * dead_disk.c - preloaded into a JVM: a disk that does not answer any more (NFS whose server is gone) once
 * JSTROBE_TEST_DISK, a file, is there. It has to do with "*dead.html" alone, whatever the rest of the name.
 *   "rename"   taking that name never ends
 *   "write"    such a file has a name from the start, and writing to it, and removing it, never end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is(const char *what)
{
	const char *path = getenv("JSTROBE_TEST_DISK");
	char text[16] = "";
	int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return false;
	if (syscall(SYS_read, fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	syscall(SYS_close, fd);
	return strcmp(text, what) == 0;
}

static void hang(void)
{
	for (;;)
		pause();
}

int renameat(int from, const char *name, int to, const char *new_name)
{
	if (strstr(new_name, "dead.html") && is("rename"))
		hang();
	return (int)syscall(SYS_renameat2, from, name, to, new_name, 0);
}

int unlinkat(int folder, const char *name, int flags)
{
	if (strstr(name, "dead.html") && is("write"))
		hang();
	return (int)syscall(SYS_unlinkat, folder, name, flags);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	char self[64], name[4096];
	ssize_t length;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	length = readlink(self, name, sizeof(name) - 1);
	name[length > 0 ? length : 0] = '\0';
	if (strstr(name, "dead.html") && is("write"))
		hang();
	return syscall(SYS_write, fd, bytes, n);
}

int openat(int folder, const char *name, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	if ((flags & O_TMPFILE) == O_TMPFILE && is("write")) {
		errno = ENOTSUP;
		return -1;
	}
	return (int)syscall(SYS_openat, folder, name, flags, mode);
}

int openat64(int folder, const char *name, int flags, ...) __attribute__((alias("openat")));
