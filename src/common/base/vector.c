#include "common/base/vector.h"

#include <stdlib.h>

bool vector_grow(void **items, size_t *capacity, size_t size)
{
	size_t wanted = *capacity ? *capacity * 2 : 16;
	void *bigger = realloc(*items, wanted * size);

	if (!bigger)
		return false;
	*items = bigger;
	*capacity = wanted;
	return true;
}
