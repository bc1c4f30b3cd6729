#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

bool vector_grow(void **items, size_t count, size_t *capacity, size_t size)
{
	if (count == *capacity) {
		size_t wanted = *capacity ? *capacity * 2 : 16;
		void *bigger = realloc(*items, wanted * size);

		if (!bigger)
			return false;
		*items = bigger;
		*capacity = wanted;
	}
	memset((char *)*items + count * size, 0, size);
	return true;
}
