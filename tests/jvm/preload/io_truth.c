/*
 * io_truth.c - put before libc: counts calls that read, write and the like, their bytes and how long they took by
 * CLOCK_MONOTONIC, between a call of open for ".../io-truth-begin" and one for ".../io-truth-end". At the latter it
 * writes a line for each operation into the file that IO_TRUTH names: word, calls, bytes, ns.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { READ, WRITE, ACCEPT, CONNECT, OPEN, SYNC, SENDFILE, OPERATIONS };
static const char *const words[] = {"read", "write", "accept", "connect", "open", "sync", "sendfile"};

static atomic_bool on;
static _Atomic uint64_t calls[OPERATIONS], bytes[OPERATIONS], spent[OPERATIONS];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What is said to the program on its standard input, and what it answers, is none of it. */
static void count(int operation, int fd, uint64_t since, int64_t result)
{
	uint64_t took = now() - since;

	if (!on || fd <= 2)
		return;
	calls[operation]++;
	spent[operation] += took;
	if (result > 0 && operation != ACCEPT && operation != OPEN)
		bytes[operation] += (uint64_t)result;
}

#define CALL(name, type, parameters, arguments, operation)                     \
	type name parameters                                                   \
	{                                                                      \
		static type(*next) parameters;                                 \
		uint64_t since;                                                \
		type result;                                                   \
		int saved;                                                     \
                                                                               \
		if (!next)                                                     \
			*(void **)&next = dlsym(RTLD_NEXT, #name);             \
		since = now();                                                 \
		result = next arguments;                                       \
		saved = errno;                                                 \
		count(operation, fd, since, (int64_t)result);                      \
		errno = saved;                                                 \
		return result;                                                 \
	}

CALL(read, ssize_t, (int fd, void *to, size_t n), (fd, to, n), READ)
CALL(write, ssize_t, (int fd, const void *from, size_t n), (fd, from, n), WRITE)
CALL(pread64, ssize_t, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at), READ)
CALL(pwrite64, ssize_t, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at), WRITE)
CALL(readv, ssize_t, (int fd, const struct iovec *v, int n), (fd, v, n), READ)
CALL(writev, ssize_t, (int fd, const struct iovec *v, int n), (fd, v, n), WRITE)
CALL(recv, ssize_t, (int fd, void *to, size_t n, int flags), (fd, to, n, flags), READ)
CALL(send, ssize_t, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags), WRITE)
CALL(recvfrom, ssize_t, (int fd, void *to, size_t n, int flags, struct sockaddr *peer, socklen_t *length),
     (fd, to, n, flags, peer, length), READ)
CALL(sendto, ssize_t, (int fd, const void *from, size_t n, int flags, const struct sockaddr *peer, socklen_t length),
     (fd, from, n, flags, peer, length), WRITE)
CALL(accept, int, (int fd, struct sockaddr *peer, socklen_t *length), (fd, peer, length), ACCEPT)
CALL(accept4, int, (int fd, struct sockaddr *peer, socklen_t *length, int flags), (fd, peer, length, flags), ACCEPT)
CALL(connect, int, (int fd, const struct sockaddr *peer, socklen_t length), (fd, peer, length), CONNECT)
CALL(fsync, int, (int fd), (fd), SYNC)
CALL(fdatasync, int, (int fd), (fd), SYNC)
CALL(sendfile64, ssize_t, (int fd, int from, off64_t *at, size_t n), (fd, from, at, n), SENDFILE)

static int ends_in(const char *path, const char *end)
{
	size_t length = strlen(path), of = strlen(end);

	return length >= of && strcmp(path + length - of, end) == 0;
}

static void put(void)
{
	const char *path = getenv("IO_TRUTH");
	FILE *file = path ? fopen(path, "w") : NULL;
	int i;

	for (i = 0; file && i < OPERATIONS; i++)
		fprintf(file, "%s %llu %llu %llu\n", words[i], (unsigned long long)calls[i],
			(unsigned long long)bytes[i], (unsigned long long)spent[i]);
	if (file)
		fclose(file);
}

int open64(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	uint64_t since;
	va_list list;
	int mode, fd, saved;

	va_start(list, flags);
	mode = va_arg(list, int);
	va_end(list);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "open64");
	since = now();
	fd = next(path, flags, mode);
	saved = errno;
	if (ends_in(path, "/io-truth-end")) {
		on = 0;
		put();
	}
	count(OPEN, 3, since, fd);
	if (ends_in(path, "/io-truth-begin"))
		on = 1;
	errno = saved;
	return fd;
}
