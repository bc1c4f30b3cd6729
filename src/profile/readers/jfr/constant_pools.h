/*
 * constant_pools.h - the constants of a chunk: for each type that matters, where the value of a key lies.
 *
 * Keys are any 64-bit numbers. Each gets a place in its pool, 0, 1, 2 …, by which others keep what
 * they know of the constant; events are counted by the places of their stacks. Keys that lie close
 * together, as those of stacks do, are looked up in an array.
 */
#ifndef JSTROBE_READERS_JFR_CONSTANT_POOLS_H
#define JSTROBE_READERS_JFR_CONSTANT_POOLS_H

#include "profile/readers/jfr/chunk.h"
#include "profile/readers/jfr/field_layout.h"

#define POOL_NO_PLACE UINT32_MAX

struct constant {
	uint64_t key;
	const uint8_t *at; /* its value in the file */
	uint32_t known;    /* what chunk_names.c made of it, + 1; 0 = nothing yet */
	bool truncated;    /* a stack that says so */
};

struct pool {
	bool wanted;
	VECTOR(struct constant) constants;
	uint32_t *direct; /* key - lowest → place + 1, for keys within the span */
	uint64_t lowest, span; /* span 0: by map */
	uint64_t room; /* of `direct`, where it is zeroed but for this chunk's keys */
	struct map map; /* key → place + 1 */
};

struct pools {
	struct pool *of_type; /* by the types' places in the metadata */
	uint32_t count;
	bool damaged; /* some constants could not be read */
	const uint8_t *begin, *end; /* of the chunk's events */
};

/* Room for the pools of M. 0 or -ENOMEM; free in both cases. */
int pools_init(struct pools *p, const struct metadata *m);
/* Gather the constants of C's types that are marked `wanted`, and forget those of the chunk before. 0 or -ENOMEM. */
int pools_load(struct pools *p, const struct chunk *c, struct field_layouts *layouts);
void pools_free(struct pools *p);

/* The place of KEY; POOL_NO_PLACE. */
static inline uint32_t pool_find(const struct pool *p, uint64_t key)
{
	const uint32_t *slot;

	if (p->span)
		return key - p->lowest < p->span ? p->direct[key - p->lowest] - 1 : POOL_NO_PLACE;
	slot = map_get(&p->map, key);
	return slot ? *slot - 1 : POOL_NO_PLACE;
}

#endif
