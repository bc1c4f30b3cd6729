/*
 * pages.h - working memory in pages of its own, which go straight back to the system: the heap of the host program
 * must not grow because of us, and what comes and goes in megabytes would leave holes in it. Normal code, any thread.
 */
#ifndef JSTROBE_BASE_PAGES_H
#define JSTROBE_BASE_PAGES_H

#include "common/base/vector.h"

/* Zeroed pages for SIZE (> 0) bytes, or NULL. Free with the same SIZE. */
void *pages_alloc(size_t size);
void *pages_grow(void *pages, size_t old_size, size_t new_size);
void pages_free(void *pages, size_t size);
/* Bytes really taken by pages_alloc(SIZE). */
size_t pages_bytes(size_t size);

/*
 * A growable array in such pages, for one thread at a time:
 *
 *   PAGED(struct point) points = {0};
 *   struct point *p = PAGED_PUSH(&points);   // zeroed; NULL when out of memory
 *   PAGED_FREE(&points);
 *
 * A vector has a capacity, this has room: what is meant for one of them does not compile with the other.
 */
#define PAGED(type)                 \
	struct {                    \
		type *items;        \
		size_t count, room; \
	}

/* Twice the room, or room for the first items; false when out of memory. */
bool paged_grow(void **items, size_t *room, size_t size);

#define PAGED_PUSH(v)                                                                                \
	(vector_extend((void **)&(v)->items, (v)->count, &(v)->room, sizeof(*(v)->items), paged_grow) \
		 ? &(v)->items[(v)->count++] : NULL)

#define PAGED_FREE(v)                                                     \
	do {                                                              \
		pages_free((v)->items, (v)->room * sizeof(*(v)->items)); \
		(v)->items = NULL;                                        \
		(v)->count = (v)->room = 0;                               \
	} while (0)

#endif
