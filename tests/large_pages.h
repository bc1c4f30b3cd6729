/*
 * large_pages.h - mmap() of perf events as on a kernel with larger pages: what is asked for is rounded up to whole
 * ones, of which the first holds no data. Instead of libc's, for all code of the program or library that includes this;
 * large_page() is the includer's: bytes, 0 = as the machine's own.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t large_page(void);

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
	size_t page = large_page();

	if (page && fd >= 0 && is_perf(fd)) {
		/* all of it is this mapping's, also what munmap() is told that is not there here */
		bytes = (bytes + page - 1) / page * page;
		address = (void *)syscall(SYS_mmap, NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		bytes += (size_t)sysconf(_SC_PAGESIZE) - page;
		flags |= MAP_FIXED;
	}
	return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}
