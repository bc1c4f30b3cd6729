/*
 * Perf events as on a kernel with pages of LARGE_PAGES bytes: what is mapped of one is rounded up to whole pages, of
 * which the first holds no data. getpagesize() stays as it is: other memory of the process is as large as before.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL 4096u

static size_t page(void)
{
	const char *said = getenv("LARGE_PAGES");

	return said ? (size_t)atol(said) : REAL;
}

static int is_perf(int fd)
{
	char link[64], name[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name));
	return n > 0 && memmem(name, (size_t)n, "perf_event", 10);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	if (fd >= 0 && is_perf(fd)) {
		/* all of it is this mapping's, also what munmap() is told that is not there here */
		bytes = (bytes + page() - 1) / page() * page();
		address = (void *)syscall(SYS_mmap, NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		bytes += REAL - page();
		flags |= MAP_FIXED;
	}
	return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return mmap(address, bytes, protection, flags, fd, offset);
}
