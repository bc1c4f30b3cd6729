#include "faulty.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "syscall_arguments.h"

static _Atomic unsigned calls, fail_from;
static _Atomic int kind = -1;
static atomic_bool for_ever;

void fault_at(enum fault what, unsigned n, bool ever)
{
	atomic_store(&kind, -1);
	atomic_store(&calls, 0);
	atomic_store(&fail_from, n);
	atomic_store(&for_ever, ever);
	atomic_store(&kind, (int)what);
}

void fault_stop(void)
{
	atomic_store(&kind, -1);
}

unsigned fault_seen(void)
{
	return atomic_load(&calls);
}

const char *fault_name(enum fault what)
{
	static const char *const names[FAULTS] = {
		"allocation", "mapping", "perf event", "timer", "file",
	};

	return names[what];
}

static bool fails(enum fault what, int error)
{
	unsigned n, from;

	if (atomic_load(&kind) != (int)what)
		return false;
	n = atomic_fetch_add(&calls, 1) + 1;
	from = atomic_load(&fail_from);
	if (n != from && !(from && n > from && atomic_load(&for_ever)))
		return false;
	errno = error;
	return true;
}

#define WRAP(type, name, parameters, arguments, what, error, failed)     \
	type __real_##name parameters;                                   \
	type __wrap_##name parameters;                                   \
	type __wrap_##name parameters                                    \
	{                                                                \
		return fails(what, error) ? failed : __real_##name arguments; \
	}

WRAP(void *, malloc, (size_t n), (n), FAULT_MEMORY, ENOMEM, NULL)
WRAP(void *, calloc, (size_t n, size_t size), (n, size), FAULT_MEMORY, ENOMEM, NULL)
WRAP(void *, realloc, (void *p, size_t n), (p, n), FAULT_MEMORY, ENOMEM, NULL)
WRAP(char *, strdup, (const char *s), (s), FAULT_MEMORY, ENOMEM, NULL)
WRAP(char *, strndup, (const char *s, size_t n), (s, n), FAULT_MEMORY, ENOMEM, NULL)
WRAP(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t offset),
     (at, n, prot, flags, fd, offset), FAULT_MAP, ENOMEM, MAP_FAILED)
WRAP(int, mprotect, (void *at, size_t n, int prot), (at, n, prot), FAULT_MAP, ENOMEM, -1)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), FAULT_FILE, EMFILE, NULL)
WRAP(DIR *, opendir, (const char *path), (path), FAULT_FILE, EMFILE, NULL)

void *__real_mremap(void *at, size_t old, size_t n, int flags, ...);
void *__wrap_mremap(void *at, size_t old, size_t n, int flags, ...);
void *__wrap_mremap(void *at, size_t old, size_t n, int flags, ...)
{
	return fails(FAULT_MAP, ENOMEM) ? MAP_FAILED : __real_mremap(at, old, n, flags);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return fails(FAULT_FILE, EMFILE) ? -1 : __real_open(path, flags, mode);
}

/* Runs in handlers, too: nothing here that may not. Reads as many arguments as there can be. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
__attribute__((no_sanitize_address)) long __wrap_syscall(long number, ...)
{
	long a[6];

	SYSCALL_ARGUMENTS(number, a);
	if ((number == SYS_perf_event_open && fails(FAULT_PERF, EMFILE)) ||
	    (number == SYS_timer_create && fails(FAULT_TIMER, EAGAIN)))
		return -1;
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
