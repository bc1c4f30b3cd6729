/* lib_malloc.h - a library that allocates and frees by its own slots (test_sources_nativemem.c). */
#ifndef TESTS_UNIT_LIB_MALLOC_H
#define TESTS_UNIT_LIB_MALLOC_H

#include <stddef.h>

struct malloc_calls {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *p, size_t size);
	void *(*reallocarray)(void *p, size_t n, size_t size);
	void (*free)(void *p);
	int (*posix_memalign)(void **p, size_t alignment, size_t size);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	void *(*memalign)(size_t alignment, size_t size);
	void *(*valloc)(size_t size);
	char *(*strdup)(const char *s);
};

typedef const struct malloc_calls *malloc_calls_fn(void);

#endif
