/*
 * map.h - from 64-bit keys to 32-bit values. Open addressing, grows by itself.
 *
 * Zeroed = empty. Normal code, one thread at a time.
 */
#ifndef JSTROBE_BASE_MAP_H
#define JSTROBE_BASE_MAP_H

#include "common/base/base.h"

struct map {
	struct map_slot *slots;
	uint32_t capacity; /* power of two, or 0 */
	uint32_t count;
};
struct map_slot {
	uint64_t key;
	uint32_t value;
	uint32_t used;
};

/* The value of KEY, or NULL. Valid until the next map_put. */
uint32_t *map_get(const struct map *m, uint64_t key);
/* A place for KEY's value, new ones 0 with *FRESH (may be NULL) true; NULL when out of memory. */
uint32_t *map_put(struct map *m, uint64_t key, bool *fresh);
/*
 * The place of the number of what has HASH and is the same as WANTED, by a full comparison: IS_SAME is asked for each
 * number (never 0) that could be it. 0 stands there if it is new, and is for the caller to fill in. NULL when out of
 * memory. What only shares a hash takes the next keys, so HASH alone finds nothing in M.
 */
static inline uint32_t *map_intern(struct map *m, uint64_t hash, bool (*is_same)(uint32_t number, const void *wanted),
				   const void *wanted)
{
	uint32_t *slot;

	do
		slot = map_put(m, hash++, NULL);
	while (slot && *slot && !is_same(*slot, wanted));
	return slot;
}
/* Forget KEY, if it is there; no value stays where it was. */
void map_remove(struct map *m, uint64_t key);
/* Bytes of memory that M takes. */
size_t map_bytes(const struct map *m);
/* Forget all keys, but keep the room. */
void map_clear(struct map *m);
void map_free(struct map *m);

#endif
