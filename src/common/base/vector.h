/*
 * vector.h - growable arrays for normal code.
 *
 *   VECTOR(struct point) points = {0};
 *   struct point *p = VECTOR_PUSH(&points);   // NULL when out of memory
 *   free(points.items);
 */
#ifndef JSTROBE_BASE_VECTOR_H
#define JSTROBE_BASE_VECTOR_H

#include <string.h>

#include "common/base/base.h"

#define VECTOR(type)                    \
	struct {                        \
		type *items;            \
		size_t count, capacity; \
	}

/* Twice the room, or room for the first items; false when out of memory. */
bool vector_grow(void **items, size_t *capacity, size_t size);
/* Room for WANTED items at least; false when out of memory. */
bool vector_reserve(void **items, size_t *capacity, size_t size, size_t wanted);

/* Room for one more item of SIZE bytes, which is zeroed: GROW makes it. False when out of memory. */
static inline bool vector_extend(void **items, size_t count, size_t *capacity, size_t size,
				 bool (*grow)(void **items, size_t *capacity, size_t size))
{
	if (unlikely(count == *capacity) && !grow(items, capacity, size))
		return false;
	memset((char *)*items + count * size, 0, size);
	return true;
}

/* A pointer to a new zeroed last item, or NULL when out of memory. */
#define VECTOR_PUSH(v)                                                                                    \
	(vector_extend((void **)&(v)->items, (v)->count, &(v)->capacity, sizeof(*(v)->items), vector_grow) \
		 ? &(v)->items[(v)->count++] : NULL)

/* Room for N items, new ones not zeroed, the count unchanged; false when out of memory. */
#define VECTOR_RESERVE(v, n) vector_reserve((void **)&(v)->items, &(v)->capacity, sizeof(*(v)->items), (n))

/* A and B, of one type, change places. */
#define VECTOR_SWAP(a, b)                \
	do {                             \
		typeof(*(a)) held = *(a); \
		*(a) = *(b);             \
		*(b) = held;             \
	} while (0)

#endif
