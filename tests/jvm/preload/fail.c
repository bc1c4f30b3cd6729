/*
 * fail.c - preloaded into a JVM: calls to the system that libjstrobe.so makes fail when told to.
 * Only its own calls: the address that a call returns to tells.
 *
 * Told by the file that JSTROBE_TEST_FAIL names, six 8-byte numbers that both sides map:
 *   where libjstrobe.so lies, from and to; the kind of call; the first that fails; whether all
 *   after it fail; how many there were (counted here).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../unit/syscall_arguments.h"

enum { NOTHING, MEMORY, MAP, PERF, TIMER, THREAD, FILES, RING };

struct orders {
	_Atomic uint64_t from, to, kind, first, ever, seen;
};
static struct orders *orders;

__attribute__((constructor)) static void open_orders(void)
{
	const char *path = getenv("JSTROBE_TEST_FAIL");
	int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd < 0 ? MAP_FAILED
			 : (void *)syscall(SYS_mmap, NULL, sizeof(*orders), PROT_READ | PROT_WRITE,
					   MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (p != MAP_FAILED)
		orders = p;
}

static bool fails(uint64_t kind, int error, void *back)
{
	uint64_t n, first;

	if (!orders || orders->kind != kind || (uint64_t)back < orders->from || (uint64_t)back >= orders->to)
		return false;
	n = atomic_fetch_add(&orders->seen, 1) + 1;
	first = orders->first;
	if (n != first && !(first && n > first && orders->ever))
		return false;
	errno = error;
	return true;
}

#define BACK __builtin_return_address(0)
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	return fails(MEMORY, ENOMEM, BACK) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails(MEMORY, ENOMEM, BACK) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails(MEMORY, ENOMEM, BACK) ? NULL : __libc_realloc(p, n);
}

char *strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = fails(MEMORY, ENOMEM, BACK) ? NULL : __libc_malloc(n);

	return p ? memcpy(p, s, n) : NULL;
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	if (fails(MAP, ENOMEM, BACK) || (fd >= 0 && fails(RING, EPERM, BACK)))
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, offset);
}

void *mremap(void *at, size_t old, size_t n, int flags, ...)
{
	void *new = NULL;
	va_list args;

	va_start(args, flags);
	if (flags & MREMAP_FIXED)
		new = va_arg(args, void *);
	va_end(args);
	return fails(MAP, ENOMEM, BACK) ? MAP_FAILED : (void *)syscall(SYS_mremap, at, old, n, flags, new);
}

int mprotect(void *at, size_t n, int prot)
{
	return fails(MAP, ENOMEM, BACK) ? -1 : (int)syscall(SYS_mprotect, at, n, prot);
}

FILE *fopen(const char *path, const char *mode)
{
	return fails(FILES, EMFILE, BACK) ? NULL : REAL(fopen)(path, mode);
}

DIR *opendir(const char *path)
{
	return fails(FILES, EMFILE, BACK) ? NULL : REAL(opendir)(path);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	return fails(FILES, EMFILE, BACK) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
{
	return fails(THREAD, EAGAIN, BACK) ? EAGAIN : REAL(pthread_create)(t, a, f, arg);
}

/* Found beforehand: it is called in signal handlers, too. */
static long (*real_syscall)(long, ...);

__attribute__((constructor(101))) static void find_syscall(void)
{
	real_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
}

long syscall(long number, ...)
{
	long a[6];

	SYSCALL_ARGUMENTS(number, a);
	if ((number == SYS_perf_event_open && fails(PERF, EMFILE, BACK)) ||
	    (number == SYS_timer_create && fails(TIMER, EAGAIN, BACK)))
		return -1;
	return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
