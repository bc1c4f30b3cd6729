#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static struct map_slot *find(const struct map *m, uint64_t key)
{
	uint32_t at = (uint32_t)map_hash(key);

	for (;; at++) {
		struct map_slot *s = &m->slots[at & (m->capacity - 1)];

		if (!s->used || s->key == key)
			return s;
	}
}

static bool grow(struct map *m)
{
	struct map bigger = {0};
	uint32_t i;

	bigger.capacity = m->capacity ? m->capacity * 2 : 64;
	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (i = 0; i < m->capacity; i++)
		if (m->slots[i].used)
			*find(&bigger, m->slots[i].key) = m->slots[i];
	bigger.count = m->count;
	free(m->slots);
	*m = bigger;
	return true;
}

uint32_t *map_get(const struct map *m, uint64_t key)
{
	struct map_slot *s = m->capacity ? find(m, key) : NULL;

	return s && s->used ? &s->value : NULL;
}

uint32_t *map_put(struct map *m, uint64_t key, bool *fresh)
{
	struct map_slot *s;

	if (m->count * 4 >= m->capacity * 3 && !grow(m))
		return NULL;
	s = find(m, key);
	if (fresh)
		*fresh = !s->used;
	if (!s->used) {
		s->used = 1;
		s->key = key;
		m->count++;
	}
	return &s->value;
}

void map_clear(struct map *m)
{
	if (m->count)
		memset(m->slots, 0, m->capacity * sizeof(*m->slots));
	m->count = 0;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}
