#include "elf/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * Plain file calls come first: sandboxes allow them, while a strict one may kill
 * a process that calls process_vm_readv. That is for processes that may not open
 * their own memory file (no /proc, or marked as not dumpable).
 */
static ssize_t copy_some(int fd, void *to, uintptr_t address, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)address, size};

	if (fd >= 0)
		return pread(fd, to, size, (off_t)address);
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
}

size_t memory_copy(void *to, uintptr_t address, size_t size)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	size_t done = 0;

	while (done < size) {
		ssize_t n = copy_some(fd, (char *)to + done, address + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	return done;
}

size_t pages_bytes(size_t size)
{
	return (size + 4095) & ~(size_t)4095;
}

void *pages_alloc(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

void *pages_grow(void *pages, size_t old_size, size_t new_size)
{
	if (!pages)
		return pages_alloc(new_size);
	pages = mremap(pages, old_size, new_size, MREMAP_MAYMOVE);
	return pages == MAP_FAILED ? NULL : pages;
}

void pages_free(void *pages, size_t size)
{
	if (pages)
		munmap(pages, size);
}
