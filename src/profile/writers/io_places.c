#include "profile/writers/io_places.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/square_root.h"
#include "profile/model/askers.h"

/* The innermost frame that is the program's own; else the innermost one. S's last frame says what it was about. */
static uint32_t place_of(const struct profile *p, const struct profile_stack *s)
{
	uint32_t depth = s->depth > 1 ? s->depth - 1 : 0;

	return asker_caller(p, s, depth, s->frames[s->depth > 1 ? depth - 1 : 0]);
}

static int heaviest_first(const void *a, const void *b)
{
	const struct io_place *x = a, *y = b;

	return x->weight < y->weight ? 1 : x->weight > y->weight ? -1 : 0;
}

int io_places_find(struct io_places *places, const struct profile *p, unsigned style)
{
	uint32_t i;

	*places = (struct io_places){.count = 0};
	if (name_table_build(&places->names, p, style))
		return -ENOMEM;
	places->items = calloc((size_t)places->names.count + 1, sizeof(*places->items));
	if (!places->items)
		return -ENOMEM;
	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		uint32_t name = s->depth ? places->names.of_frame[place_of(p, s)] : places->names.no_frames;
		struct io_place *place = &places->items[name];

		place->name = name;
		place->weight += s->weight;
		place->samples += s->samples;
		place->error += s->outside;
	}
	qsort(places->items, places->names.count, sizeof(*places->items), heaviest_first);
	while (places->count < places->names.count && places->items[places->count].weight)
		places->count++;
	for (i = 0; i < places->count; i++) /* of moments that weigh the interval each */
		places->items[i].error = (uint64_t)square_root((double)places->items[i].error * (double)p->interval);
	return 0;
}

void io_places_free(struct io_places *places)
{
	name_table_free(&places->names);
	free(places->items);
}
