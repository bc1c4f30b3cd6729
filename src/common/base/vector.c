#include "common/base/vector.h"

#include <stdlib.h>

bool vector_grow(void **items, size_t *capacity, size_t size)
{
	return vector_reserve(items, capacity, size, *capacity ? *capacity * 2 : 16);
}

bool vector_reserve(void **items, size_t *capacity, size_t size, size_t wanted)
{
	void *bigger;

	if (wanted <= *capacity)
		return true;
	wanted = MAX(wanted, *capacity + *capacity / 2);
	bigger = wanted <= SIZE_MAX / size ? realloc(*items, wanted * size) : NULL;
	if (!bigger)
		return false;
	*items = bigger;
	*capacity = wanted;
	return true;
}
