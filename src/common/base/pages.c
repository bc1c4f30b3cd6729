#include "common/base/pages.h"

#include <sys/mman.h>

#define FIRST_BYTES (16u << 10) /* of an array */

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

bool paged_grow(void **items, size_t *room, size_t size)
{
	size_t wanted = *room ? *room * 2 : MAX(FIRST_BYTES / size, (size_t)1);
	void *bigger = pages_grow(*items, *room * size, wanted * size);

	if (!bigger)
		return false;
	*items = bigger;
	*room = wanted;
	return true;
}
