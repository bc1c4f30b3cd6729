/*
 * vector.h - growable arrays for normal code.
 *
 *   VECTOR(struct point) points = {0};
 *   struct point *p = VECTOR_PUSH(&points);   // NULL when out of memory
 *   free(points.items);
 */
#ifndef JSTROBE_BASE_VECTOR_H
#define JSTROBE_BASE_VECTOR_H

#include "base/base.h"

#define VECTOR(type)             \
	struct {                 \
		type *items;     \
		size_t count;    \
		size_t capacity; \
	}

/* Room for one more item of SIZE bytes; false when out of memory. */
bool vector_grow(void **items, size_t count, size_t *capacity, size_t size);

/* A pointer to a new zeroed last item, or NULL when out of memory. */
#define VECTOR_PUSH(v)                                                                     \
	(vector_grow((void **)&(v)->items, (v)->count, &(v)->capacity, sizeof(*(v)->items)) \
		 ? &(v)->items[(v)->count++]                                               \
		 : NULL)

#endif
