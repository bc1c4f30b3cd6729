/*
 * lacking.c - functions that not every libc has which the library may meet: glibc before 2.33 has no stat() and
 * before 2.27 no memfd_create(), musl has none of the checked forms that libiberty was compiled to call.
 *
 * Linked into the library only, where they take the place of libc's, hidden from everybody else. The kernel's
 * struct stat is libc's on the 64-bit CPUs for which libraries are released.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_newfstatat
int fstatat(int folder, const char *restrict path, struct stat *restrict out, int flags)
{
	return (int)syscall(SYS_newfstatat, folder, path, out, flags);
}

int stat(const char *restrict path, struct stat *restrict out)
{
	return fstatat(AT_FDCWD, path, out, 0);
}

int lstat(const char *restrict path, struct stat *restrict out)
{
	return fstatat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *out)
{
	return (int)syscall(SYS_fstat, fd, out);
}
#endif

int memfd_create(const char *name, unsigned flags)
{
	return (int)syscall(SYS_memfd_create, name, flags);
}

int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...);
int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(to, room, format, arguments);
	va_end(arguments);
	return length;
}

int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...);
int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(to, size < room ? size : room, format, arguments);
	va_end(arguments);
	return length;
}
