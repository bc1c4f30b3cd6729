/*
 * reserve.c - address space that becomes memory as it is needed.
 *
 * Where the system promises no more memory than it has (vm.overcommit_memory=2) all that may be
 * written counts, whatever MAP_NORESERVE says; what may only be read does not.
 */
#include <errno.h>
#include <sys/mman.h>

#include "common/base/own_memory.h"
#include "common/os/os.h"

void *os_reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* A huge page for the first word of a range would be paid for in a handler. */
	madvise(p, bytes, MADV_NOHUGEPAGE);
	own_memory_add(p, bytes);
	return p;
}

void os_unreserve(void *start, size_t bytes)
{
	own_memory_remove(start);
	munmap(start, bytes);
}

int os_make_writable(void *start, size_t bytes)
{
	return mprotect(start, bytes, PROT_READ | PROT_WRITE) ? -errno : 0;
}
