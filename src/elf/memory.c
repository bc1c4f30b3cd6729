#include "elf/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* For sandboxes that forbid process_vm_readv. */
static ssize_t copy_by_file(void *to, uintptr_t address, size_t size)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = pread(fd, to, size, (off_t)address);
	close(fd);
	return n;
}

size_t memory_copy(void *to, uintptr_t address, size_t size)
{
	size_t done = 0;

	while (done < size) {
		struct iovec local = {(char *)to + done, size - done};
		struct iovec remote = {(void *)(address + done), size - done};
		ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

		if (n < 0)
			n = copy_by_file(local.iov_base, address + done, size - done);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
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
