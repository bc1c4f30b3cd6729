/*
 * Perf events as on a kernel with pages of LARGE_PAGES bytes: what is mapped of one is rounded up to whole pages, of
 * which the first holds no data. getpagesize() stays as it is: other memory of the process is as large as before.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "../../large_pages.h"

static size_t large_page(void)
{
	const char *said = getenv("LARGE_PAGES");

	return said ? (size_t)atol(said) : 0;
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return mmap(address, bytes, protection, flags, fd, offset);
}
