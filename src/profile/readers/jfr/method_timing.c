/*
 * method_timing.c - jdk.MethodTiming: for a method, how often it was called so far and how long a call took on average.
 *
 * These are no samples but sums, told anew in each chunk of a recording or each second, and they only grow: the largest
 * of each method counts (read_aggregate_raise). A sum has no part within a range of time, and belongs to no thread.
 */
#include "common/base/wide.h"
#include "profile/readers/jfr/event_handlers.h"

void handler_timing(struct chunk_handlers *w, const struct event_handler *handler)
{
	struct method_timing *t;

	if (w->selection->in_range || w->threads)
		return;
	t = VECTOR_PUSH(&w->timings);
	if (!t) {
		w->aggregate->no_memory = true;
		return;
	}
	t->method = handler->slots[SLOT_OBJECT];
	t->calls = handler->slots[SLOT_A];
	/* Long.MIN_VALUE: unknown */
	t->average = (int64_t)handler->slots[SLOT_WEIGHT] > 0 ? handler->slots[SLOT_WEIGHT] : 0;
	t->unit = handler->unit;
}

/* AVERAGE of all calls, in ns; ticks are the chunk's. */
static uint64_t time_of(const struct chunk_handlers *w, const struct method_timing *t)
{
	uint64_t sum = wide_scale(t->average, t->calls, 0, 1);

	if (t->unit == UNIT_TICKS)
		return w->chunk->ticks_per_second ? wide_scale(sum, NS_PER_S, 0, w->chunk->ticks_per_second) : 0;
	return wide_scale(sum, metadata_unit_ns(t->unit), 0, 1);
}

void event_handlers_aggregate_timings(struct chunk_handlers *w)
{
	uint32_t family, frame, stack;
	size_t i;

	if (!w->timings.count || !family_wanted(w->selection->families, "timing"))
		return;
	family = read_aggregate_family(w->aggregate, "timing", WEIGHT_WALL, NULL);
	if (family != UINT32_MAX)
		w->aggregate->families.items[family].sums = true;
	for (i = 0; i < w->timings.count && !w->aggregate->no_memory; i++) {
		const struct method_timing *t = &w->timings.items[i];

		frame = names_method(&w->names, t->method);
		stack = frame == LISTS_FAILED ? LISTS_FAILED : read_aggregate_leaf(w->aggregate, w->names.empty_stack,
										   frame);
		if (stack != LISTS_FAILED)
			read_aggregate_raise(w->aggregate, family, stack, t->calls, time_of(w, t));
		else
			w->aggregate->no_memory = true;
	}
}
