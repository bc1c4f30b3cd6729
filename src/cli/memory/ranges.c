/*
 * ranges.c - what is known of address ranges. Sources speak in the order of how sure they are; where two say something
 * of one range, the earlier one holds.
 */
#include <stdlib.h>

#include "cli/memory/resident.h"

void ranges_add(struct ranges *c, uint64_t start, uint64_t end, enum memory_line line, const char *what)
{
	struct owned_range *claim = start < end ? VECTOR_PUSH(c) : NULL;

	if (claim)
		*claim = (struct owned_range){start, end, line, (uint32_t)c->count, what};
	else if (start < end)
		c->failed = true;
}

static int by_start(const void *a, const void *b)
{
	const struct owned_range *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : x->rank < y->rank ? -1 : 1;
}

/* Put [FROM, TO) of CLAIM behind the others; next to its own kind it is the same range. */
static void put(struct ranges *out, const struct owned_range *claim, uint64_t from, uint64_t to)
{
	struct owned_range *last = out->count ? &out->items[out->count - 1] : NULL, *next;

	if (last && last->end == from && last->rank == claim->rank) {
		last->end = to;
		return;
	}
	next = VECTOR_PUSH(out);
	if (!next) {
		out->failed = true;
		return;
	}
	*next = *claim;
	next->start = from;
	next->end = to;
}

/* Claims that hold at one address; few, as ranges are seldom in each other. */
struct active {
	VECTOR(const struct owned_range *) items;
};

static const struct owned_range *best(struct active *a, uint64_t at, uint64_t *next)
{
	const struct owned_range *found = NULL;
	size_t i, kept = 0;

	for (i = 0; i < a->items.count; i++) {
		const struct owned_range *claim = a->items.items[i];

		if (claim->end <= at)
			continue;
		a->items.items[kept++] = claim;
		if (!found || claim->rank < found->rank)
			found = claim;
		*next = MIN(*next, claim->end);
	}
	a->items.count = kept;
	return found;
}

void ranges_settle(struct ranges *c)
{
	struct ranges out = {.failed = c->failed};
	struct active active = {0};
	uint64_t at = 0, next;
	size_t i = 0, k;

	if (c->count)
		qsort(c->items, c->count, sizeof(*c->items), by_start);
	while (i < c->count || active.items.count) {
		const struct owned_range *holds;

		if (!active.items.count)
			at = c->items[i].start;
		for (; i < c->count && c->items[i].start <= at; i++) {
			const struct owned_range **slot = VECTOR_PUSH(&active.items);

			if (slot)
				*slot = &c->items[i];
			else
				out.failed = true;
		}
		next = i < c->count ? c->items[i].start : UINT64_MAX;
		holds = best(&active, at, &next);
		if (holds)
			put(&out, holds, at, next);
		at = next;
		if (out.failed)
			break;
	}
	free(active.items.items);
	/* what comes later ranks behind all of these */
	for (k = 0; k < out.count; k++)
		out.items[k].rank = (uint32_t)k + 1;
	free(c->items);
	*c = out;
}

size_t ranges_after(const struct ranges *c, uint64_t address)
{
	size_t low = 0, high = c->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
