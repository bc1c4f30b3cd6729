#include "common/base/map_ranges.h"

#include <stdlib.h>
#include <string.h>

/* The first range that ends behind ADDRESS. */
static size_t first_behind(const struct map_ranges *r, uint64_t address)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Room for one more at place AT. */
static bool open_place(struct map_ranges *r, size_t at)
{
	if (r->count >= MAP_RANGES_LIMIT)
		return false;
	if (r->count == r->capacity) {
		size_t capacity = r->capacity ? 2 * r->capacity : 64;
		struct map_range *more = realloc(r->items, capacity * sizeof(*more));

		if (!more)
			return false;
		r->items = more;
		r->capacity = capacity;
	}
	memmove(&r->items[at + 1], &r->items[at], (r->count - at) * sizeof(*r->items));
	r->count++;
	return true;
}

static void tell(const struct map_range *r, uint64_t start, uint64_t end, map_range_fn *fn, void *arg)
{
	struct map_range piece = *r;

	piece.start = start;
	piece.end = end;
	if (fn)
		fn(&piece, arg);
}

bool map_ranges_cut(struct map_ranges *r, uint64_t start, uint64_t end, map_range_fn *fn, void *arg)
{
	size_t at = first_behind(r, start), last = at;
	struct map_range *range = r->items ? &r->items[at] : NULL;

	if (at < r->count && range->start < start && range->end > end) {
		if (!open_place(r, at))
			return false;
		r->items[at] = r->items[at + 1];
		r->items[at].end = start;
		r->items[at + 1].start = end;
		tell(&r->items[at], start, end, fn, arg);
		return true;
	}
	if (at < r->count && range->start < start) {
		tell(range, start, range->end, fn, arg);
		range->end = start;
		last = ++at;
	}
	for (; last < r->count && r->items[last].end <= end; last++)
		tell(&r->items[last], r->items[last].start, r->items[last].end, fn, arg);
	if (last < r->count && r->items[last].start < end) {
		tell(&r->items[last], r->items[last].start, end, fn, arg);
		r->items[last].start = end;
	}
	if (last > at)
		memmove(&r->items[at], &r->items[last], (r->count - last) * sizeof(*r->items));
	r->count -= last - at;
	return true;
}

bool map_ranges_add(struct map_ranges *r, const struct map_range *new)
{
	size_t at = first_behind(r, new->start);

	if (!open_place(r, at))
		return false;
	r->items[at] = *new;
	return true;
}

void map_ranges_free(struct map_ranges *r)
{
	free(r->items);
	*r = (struct map_ranges){0};
}
