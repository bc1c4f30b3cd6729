/*
 * lib_maps.h - a library that maps and unmaps memory through slots of its own; those of the program that tests are left
 * alone.
 */
#ifndef TESTS_UNIT_LIB_MAPS_H
#define TESTS_UNIT_LIB_MAPS_H

#include <stddef.h>

struct map_functions {
	void *(*map)(void *at, size_t size, int protection, int flags);
	int (*unmap)(void *at, size_t size);
	void *(*remap)(void *at, size_t size, size_t wanted, int flags);
};

typedef const struct map_functions *map_functions_fn(void);

#endif
