/*
 * native_maps.c - what threads have told of their mappings (map_changes.h) becomes the ranges that there are
 * (map_ranges.h), each with the sum that its sample has gone to.
 */
#include "agent/sources/nativemap/native_maps.h"

#include <pthread.h>
#include <stdlib.h>

#include "agent/sources/nativemap/map_changes.h"
#include "common/base/map_ranges.h"
#include "agent/sources/nativemap/nativemap.h"
#include "common/os/os.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a session begins while the one before is still shown */
static struct map_ranges ranges;
static uint64_t missed; /* since they were told */
static bool behind;     /* some were missed since the kernel was asked */

struct reading {
	block_freed_fn *fn; /* NULL: what goes is not told */
	void *arg;
	const struct map_change *change;
};

bool native_maps_open(void)
{
	bool ready;

	pthread_mutex_lock(&lock);
	ready = map_changes_open();
	map_changes_clear();
	map_ranges_free(&ranges);
	missed = 0;
	behind = false;
	pthread_mutex_unlock(&lock);
	return ready;
}

void native_maps_stored(const struct field_note *n, uint32_t owner)
{
	if (n->values[NATIVEMAP_TICKET])
		map_change_own(n->values[NATIVEMAP_TICKET], owner);
}

static void tell(const struct map_range *piece, void *arg)
{
	const struct reading *r = arg;

	if (r->fn && !piece->reserved)
		/* before what comes in its place */
		r->fn(r->change->time - (r->change->what != MAP_GONE), r->change->record, piece->start,
		      piece->end - piece->start, r->arg);
}

static void take(const struct map_change *c, uint32_t owner, void *arg)
{
	struct reading *r = arg;
	struct map_range new = {c->start, c->end, c->time, owner, c->what == MAP_RESERVED};

	r->change = c;
	missed += !map_ranges_cut(&ranges, c->start, c->end, tell, r);
	/* without an owner its sample is lost, and counted as that */
	if (new.reserved || (c->what == MAP_BROUGHT && owner))
		missed += !map_ranges_add(&ranges, &new);
}

/* From *ARG up to START nothing is mapped. */
static void forget_gap(uint64_t start, uint64_t end, void *arg)
{
	uint64_t *from = arg;

	if (start > *from)
		map_ranges_cut(&ranges, *from, start, NULL, NULL);
	*from = MAX(*from, end);
}

/* Changes found no room: what the kernel has no more is gone, whichever call took it away. */
static void catch_up(void)
{
	uint64_t from = 0;

	if (!behind)
		return;
	behind = os_each_mapping(forget_gap, &from) != 0;
	if (!behind)
		forget_gap(UINT64_MAX, UINT64_MAX, &from);
}

struct owners {
	block_owned_fn *fn;
	void *arg;
};

/* Of a mapping that is no range yet. */
static uint32_t move(uint32_t owner, void *arg)
{
	const struct owners *o = arg;

	return o->fn(&(struct block_there){0, 0, owner}, o->arg);
}

void native_maps_each(block_owned_fn *fn, void *arg)
{
	size_t i;

	pthread_mutex_lock(&lock);
	catch_up();
	for (i = 0; i < ranges.count; i++) {
		struct map_range *r = &ranges.items[i];
		uint64_t bytes = r->end - r->start;

		if (!r->reserved)
			r->owner = fn(&(struct block_there){bytes, r->time, r->owner}, arg);
	}
	map_changes_move(move, &(struct owners){fn, arg});
	pthread_mutex_unlock(&lock);
}

void native_maps_gather(void)
{
	map_changes_gather();
}

uint64_t native_maps_freed(bool wanted, block_freed_fn *fn, void *arg)
{
	struct reading r = {wanted ? fn : NULL, arg, NULL};
	uint64_t told;

	pthread_mutex_lock(&lock);
	told = missed + map_changes_read(take, &r);
	missed = 0;
	behind |= told != 0;
	pthread_mutex_unlock(&lock);
	return told;
}

uint64_t native_maps_reserved(void)
{
	uint64_t bytes = 0;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < ranges.count; i++)
		bytes += ranges.items[i].reserved ? ranges.items[i].end - ranges.items[i].start : 0;
	pthread_mutex_unlock(&lock);
	return bytes;
}
