#include "common/base/map.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/pages.h"

#define PAGED_FROM 256u /* slots: 4 KB */
#define ROOM_KEPT 4096u /* slots */

/* Where KEY is put, if that place is free. */
static uint32_t home(uint64_t key)
{
	return (uint32_t)hash_mix(key ^ seed());
}

static struct map_slot *find(const struct map *m, uint64_t key)
{
	uint32_t at = home(key);

	for (;; at++) {
		struct map_slot *s = &m->slots[at & (m->capacity - 1)];

		if (!s->used || s->key == key)
			return s;
	}
}

/* Large ones in pages of their own, see pages.h. */
static bool is_paged(uint32_t capacity)
{
	return capacity >= PAGED_FROM;
}

static struct map_slot *new_slots(uint32_t capacity)
{
	return is_paged(capacity) ? pages_alloc(capacity * sizeof(struct map_slot))
				  : calloc(capacity, sizeof(struct map_slot));
}

static void free_slots(struct map *m)
{
	if (is_paged(m->capacity))
		pages_free(m->slots, m->capacity * sizeof(*m->slots));
	else
		free(m->slots);
}

static bool grow(struct map *m)
{
	struct map bigger = {0};
	uint32_t i;

	bigger.capacity = m->capacity ? m->capacity * 2 : 64;
	bigger.slots = new_slots(bigger.capacity);
	if (!bigger.slots)
		return false;
	for (i = 0; i < m->capacity; i++)
		if (m->slots[i].used)
			*find(&bigger, m->slots[i].key) = m->slots[i];
	bigger.count = m->count;
	free_slots(m);
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

/* What was put off its place by the one that goes moves up: no gap may lie before a key on its way. */
void map_remove(struct map *m, uint64_t key)
{
	uint32_t mask = m->capacity - 1, gap, at;
	struct map_slot *s = m->capacity ? find(m, key) : NULL;

	if (!s || !s->used)
		return;
	for (gap = at = (uint32_t)(s - m->slots);;) {
		at = (at + 1) & mask;
		if (!m->slots[at].used)
			break;
		if (((at - home(m->slots[at].key)) & mask) < ((at - gap) & mask))
			continue;
		m->slots[gap] = m->slots[at];
		gap = at;
	}
	m->slots[gap] = (struct map_slot){0};
	m->count--;
}

size_t map_bytes(const struct map *m)
{
	return m->capacity * sizeof(struct map_slot);
}

void map_clear(struct map *m)
{
	/* what few keys have left of many is not gone through time and again */
	if (m->capacity > ROOM_KEPT && m->count < m->capacity / 16)
		map_free(m);
	if (m->count)
		memset(m->slots, 0, m->capacity * sizeof(*m->slots));
	m->count = 0;
}

void map_free(struct map *m)
{
	free_slots(m);
	*m = (struct map){0};
}
