#include "lib_maps.h"

#include <sys/mman.h>

/* Calls, no jumps: the caller is this. */
static void *map(void *at, size_t size, int protection, int flags)
{
	void *volatile p = mmap(at, size, protection, flags | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p;
}

static int unmap(void *at, size_t size)
{
	volatile int rc = munmap(at, size);

	return rc;
}

static void *remap(void *at, size_t size, size_t wanted, int flags)
{
	void *volatile p = mremap(at, size, wanted, flags);

	return p;
}

__attribute__((visibility("default"))) const struct map_functions *map_functions(void);

const struct map_functions *map_functions(void)
{
	static const struct map_functions all = {map, unmap, remap};

	return &all;
}
