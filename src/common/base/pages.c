#include "common/base/pages.h"

#include <sys/mman.h>

#include "common/base/own_memory.h"

#define FIRST_BYTES (16u << 10) /* of an array */

size_t pages_bytes(size_t size)
{
	return (size + 4095) & ~(size_t)4095;
}

void *pages_alloc(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	own_memory_add(pages, pages_bytes(size));
	return pages;
}

void *pages_grow(void *pages, size_t old_size, size_t new_size)
{
	void *grown;

	if (!pages)
		return pages_alloc(new_size);
	own_memory_remove(pages);
	grown = mremap(pages, old_size, new_size, MREMAP_MAYMOVE);
	own_memory_add(grown == MAP_FAILED ? pages : grown, pages_bytes(grown == MAP_FAILED ? old_size : new_size));
	return grown == MAP_FAILED ? NULL : grown;
}

void pages_free(void *pages, size_t size)
{
	if (!pages)
		return;
	own_memory_remove(pages);
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
