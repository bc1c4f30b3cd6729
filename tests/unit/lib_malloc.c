#include "lib_malloc.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Calls, not addresses: those would be slots of data, which are bound at once. And no jumps: the caller is this. */
#define CALL(name, type, parameters, arguments)      \
	static type call_##name parameters           \
	{                                            \
		type volatile result = name arguments; \
		return result;                       \
	}

CALL(malloc, void *, (size_t size), (size))
CALL(calloc, void *, (size_t n, size_t size), (n, size))
CALL(realloc, void *, (void *p, size_t size), (p, size))
CALL(reallocarray, void *, (void *p, size_t n, size_t size), (p, n, size))
CALL(posix_memalign, int, (void **p, size_t alignment, size_t size), (p, alignment, size))
CALL(aligned_alloc, void *, (size_t alignment, size_t size), (alignment, size))
CALL(memalign, void *, (size_t alignment, size_t size), (alignment, size))
CALL(valloc, void *, (size_t size), (size))
CALL(strdup, char *, (const char *s), (s))

static void call_free(void *p)
{
	free(p);
}

__attribute__((visibility("default"))) const struct malloc_calls *malloc_calls(void);

const struct malloc_calls *malloc_calls(void)
{
	static const struct malloc_calls calls = {
		call_malloc, call_calloc, call_realloc, call_reallocarray, call_free, call_posix_memalign,
		call_aligned_alloc, call_memalign, call_valloc, call_strdup,
	};

	return &calls;
}
