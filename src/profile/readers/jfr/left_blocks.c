#include "profile/readers/jfr/left_blocks.h"

#include <stdlib.h>

#include "common/base/map_ranges.h"
#include "common/base/wide.h"

#define WHOLE (100 * 1000u)

void left_blocks_note(struct left_blocks *l, const struct left_event *e)
{
	struct left_event *new = l->events.count < UINT32_MAX - 1 ? VECTOR_PUSH(&l->events) : NULL;

	if (new)
		*new = *e;
	else
		l->no_memory = true;
}

static int by_time(const void *a, const void *b)
{
	const struct left_event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

/* A piece of a mapping goes. */
static void cut(const struct map_range *piece, void *arg)
{
	struct left_event *events = arg;

	events[piece->owner - 1].left -= piece->end - piece->start;
}

static void take_mapping(struct left_blocks *l, struct map_ranges *ranges, uint32_t number)
{
	struct left_event *e = &l->events.items[number - 1];
	uint64_t end;

	if (__builtin_add_overflow(e->address, e->size, &end))
		return;
	l->no_memory |= !map_ranges_cut(ranges, e->address, end, cut, l->events.items);
	if (!e->came)
		return;
	e->left = e->size;
	l->no_memory |= !map_ranges_add(ranges, &(struct map_range){e->address, end, 1, number, false});
}

static void take_block(struct left_blocks *l, uint32_t number)
{
	const struct left_event *e = &l->events.items[number - 1];
	uint32_t *known = e->came ? map_put(&l->blocks, e->address, NULL) : map_get(&l->blocks, e->address);

	if (known)
		*known = e->came ? number : 0;
	l->no_memory |= e->came && !known;
}

/* Of a block's address the last event decides. */
static bool is_left(const struct left_blocks *l, uint32_t number)
{
	const struct left_event *e = &l->events.items[number - 1];
	const uint32_t *known = e->size ? NULL : map_get(&l->blocks, e->address);

	return e->came && (e->size ? e->left != 0 : known && *known == number);
}

bool left_blocks_find(struct left_blocks *l, int64_t start, int64_t end)
{
	uint64_t span = end > start ? (uint64_t)end - (uint64_t)start : 0;
	int64_t until = end - (int64_t)wide_scale(span, l->tail, 0, WHOLE);
	struct map_ranges ranges = {0};
	uint32_t i;

	if (l->events.count)
		qsort(l->events.items, l->events.count, sizeof(*l->events.items), by_time);
	for (i = 1; i <= l->events.count && !l->no_memory; i++)
		if (l->events.items[i - 1].size)
			take_mapping(l, &ranges, i);
		else
			take_block(l, i);
	for (i = 1; i <= l->events.count && !l->no_memory; i++) {
		const struct left_event *e = &l->events.items[i - 1];
		uint32_t *place = is_left(l, i) && (!l->tail || e->time <= until) ?
				  map_put(&l->left, e->position, NULL) : NULL;

		if (place)
			*place = i;
	}
	map_ranges_free(&ranges);
	l->noting = false;
	return !l->no_memory;
}

uint64_t left_blocks_weight(const struct left_blocks *l, uint64_t position, uint64_t weight)
{
	const uint32_t *number = map_get(&l->left, position);

	if (!number)
		return 0;
	return l->events.items[*number - 1].size ? l->events.items[*number - 1].left : weight;
}

void left_blocks_free(struct left_blocks *l)
{
	free(l->events.items);
	map_free(&l->blocks);
	map_free(&l->left);
}
