#include "profile/readers/lists.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"

static bool grow(struct lists *l)
{
	uint32_t count = l->slot_count ? l->slot_count * 2 : 256, *slots, at;
	size_t i;

	slots = count ? calloc(count, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	for (i = 0; i < l->places.count; i++) {
		for (at = l->places.items[i].hash; slots[at & (count - 1)]; at++)
			;
		slots[at & (count - 1)] = (uint32_t)i + 1;
	}
	free(l->slots);
	l->slots = slots;
	l->slot_count = count;
	return true;
}

static bool append(struct lists *l, const uint32_t *words, uint32_t count)
{
	if (!VECTOR_RESERVE(&l->words, l->words.count + count))
		return false;
	if (count)
		memcpy(l->words.items + l->words.count, words, count * sizeof(*words));
	l->words.count += count;
	return true;
}

uint32_t lists_add(struct lists *l, const uint32_t *words, uint32_t count)
{
	uint32_t hash = (uint32_t)hash_seeded(words, count * sizeof(*words)), at, number;
	struct list_place *place;

	if (l->places.count * 4 >= (size_t)l->slot_count * 3 && !grow(l))
		return LISTS_FAILED;
	for (at = hash; l->slots[at & (l->slot_count - 1)]; at++) {
		number = l->slots[at & (l->slot_count - 1)] - 1;
		place = &l->places.items[number];
		if (place->hash == hash && place->count == count &&
		    (!count || memcmp(l->words.items + place->first, words, count * sizeof(*words)) == 0))
			return number;
	}
	place = VECTOR_PUSH(&l->places);
	if (!place)
		return LISTS_FAILED;
	*place = (struct list_place){l->words.count, count, hash};
	if (!append(l, words, count)) {
		l->places.count--;
		return LISTS_FAILED;
	}
	l->slots[at & (l->slot_count - 1)] = (uint32_t)l->places.count;
	return (uint32_t)l->places.count - 1;
}

const uint32_t *lists_get(const struct lists *l, uint32_t number, uint32_t *count)
{
	const struct list_place *place = &l->places.items[number];

	*count = place->count;
	/* without any words there is no memory for them, and NULL is not to be added to */
	return place->count ? l->words.items + place->first : l->words.items;
}

void lists_close(struct lists *l)
{
	free(l->slots);
	l->slots = NULL;
	l->slot_count = 0;
}

void lists_free(struct lists *l)
{
	free(l->words.items);
	free(l->places.items);
	free(l->slots);
	memset(l, 0, sizeof(*l));
}
