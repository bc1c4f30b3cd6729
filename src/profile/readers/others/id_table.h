/*
 * id_table.h - where the items of a table stand that a file calls by ids of its own: 1, 2, 3 as a rule, but any number
 * may be one. Inner header of the readers room.
 */
#ifndef JSTROBE_READERS_ID_TABLE_H
#define JSTROBE_READERS_ID_TABLE_H

#include <stdlib.h>

#include "common/base/map.h"
#include "common/base/vector.h"

#define ID_TABLE_NONE UINT64_MAX

/* Zeroed = empty. */
struct id_table {
	VECTOR(uint64_t) items; /* where they stand */
	struct map by_id;       /* id → place + 1; empty as long as each has the id place + 1 */
};

/* The place of the item called ID; UINT32_MAX: there is none. */
static inline uint32_t id_table_place(const struct id_table *t, uint64_t id)
{
	const uint32_t *place;

	if (!t->by_id.count)
		return id && id <= t->items.count ? (uint32_t)(id - 1) : UINT32_MAX;
	place = map_get(&t->by_id, id);
	return place && *place ? *place - 1 : UINT32_MAX;
}

/* Where the item called ID stands; ID_TABLE_NONE. */
static inline uint64_t id_table_get(const struct id_table *t, uint64_t id)
{
	uint32_t place = id_table_place(t, id);

	return place == UINT32_MAX ? ID_TABLE_NONE : t->items.items[place];
}

/* ID stands for item number PLACE; the first that is called so stays. False: out of memory. */
static inline bool id_table_name(struct id_table *t, uint64_t id, uint32_t place)
{
	uint32_t *slot = map_put(&t->by_id, id, NULL);

	if (slot && !*slot)
		*slot = place + 1;
	return slot;
}

/* The item called ID stands at AT. False: out of memory. */
static inline bool id_table_add(struct id_table *t, uint64_t id, uint64_t at)
{
	uint64_t *item = t->items.count < UINT32_MAX - 1 ? VECTOR_PUSH(&t->items) : NULL;
	uint32_t i;

	if (!item)
		return false;
	*item = at;
	if (!t->by_id.count && id == t->items.count)
		return true;
	if (!t->by_id.count)
		for (i = 0; i + 1 < t->items.count; i++)
			if (!id_table_name(t, i + 1, i))
				return false;
	return id_table_name(t, id, (uint32_t)t->items.count - 1);
}

static inline void id_table_free(struct id_table *t)
{
	free(t->items.items);
	map_free(&t->by_id);
}

#endif
