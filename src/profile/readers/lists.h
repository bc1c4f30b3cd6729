/*
 * lists.h - lists of 32-bit numbers, each kept once and called by number: stacks (of frames), frames
 * (of the numbers of their names), threads.
 *
 * Zeroed = empty. Normal code, one thread at a time.
 */
#ifndef JSTROBE_READERS_LISTS_H
#define JSTROBE_READERS_LISTS_H

#include "common/base/vector.h"

#define LISTS_FAILED UINT32_MAX

struct list_place {
	size_t first;
	uint32_t count, hash;
};

/* A list that is being made. */
struct numbers {
	uint32_t *items;
	size_t count, capacity;
};

struct lists {
	VECTOR(uint32_t) words; /* of all lists, one behind the other */
	VECTOR(struct list_place) places;
	uint32_t *slots; /* number + 1, 0 = free */
	uint32_t slot_count;
};

/* The number of WORDS[0..COUNT), kept from now on; LISTS_FAILED when out of memory. */
uint32_t lists_add(struct lists *l, const uint32_t *words, uint32_t count);
/* The words of list NUMBER; valid until the next lists_add. */
const uint32_t *lists_get(const struct lists *l, uint32_t number, uint32_t *count);
/* Nothing more will be added: give back what that needs. */
void lists_close(struct lists *l);
void lists_free(struct lists *l);

#endif
