/*
 * method_timing.c - jdk.MethodTiming: for a method, how often it was called so far and how long a call took on average.
 *
 * These are no samples but sums, told anew in each chunk of a recording or each second, and they only grow: the largest
 * of each method counts (fold_raise). A sum has no part within a range of time, and belongs to no thread.
 */
#include "common/base/wide.h"
#include "profile/readers/jfr/event_handlers.h"

void watch_timing(struct chunk_watches *w, const struct watch *watch)
{
	struct method_timing *t;

	if (w->selection->in_range || w->threads)
		return;
	t = VECTOR_PUSH(&w->timings);
	if (!t) {
		w->fold->no_memory = true;
		return;
	}
	t->method = watch->slots[SLOT_OBJECT];
	t->calls = watch->slots[SLOT_A];
	/* Long.MIN_VALUE: unknown */
	t->average = (int64_t)watch->slots[SLOT_WEIGHT] > 0 ? watch->slots[SLOT_WEIGHT] : 0;
	t->unit = watch->unit;
}

/* AVERAGE of all calls, in ns; ticks are the chunk's. */
static uint64_t time_of(const struct chunk_watches *w, const struct method_timing *t)
{
	uint64_t sum = wide_scale(t->average, t->calls, 0, 1);

	if (t->unit == UNIT_TICKS)
		return w->chunk->ticks_per_second ? wide_scale(sum, NS_PER_S, 0, w->chunk->ticks_per_second) : 0;
	return wide_scale(sum, metadata_unit_ns(t->unit), 0, 1);
}

void watches_fold_timings(struct chunk_watches *w)
{
	uint32_t family, frame, stack;
	size_t i;

	if (!w->timings.count || !family_wanted(w->selection->families, "timing"))
		return;
	family = fold_family(w->fold, "timing", false, NULL);
	if (family != UINT32_MAX)
		w->fold->families.items[family].sums = true;
	for (i = 0; i < w->timings.count && !w->fold->no_memory; i++) {
		const struct method_timing *t = &w->timings.items[i];

		frame = names_method(&w->names, t->method);
		stack = frame == LISTS_FAILED ? LISTS_FAILED : fold_leaf(w->fold, w->names.empty_stack, frame);
		if (stack != LISTS_FAILED)
			fold_raise(w->fold, family, stack, t->calls, time_of(w, t));
		else
			w->fold->no_memory = true;
	}
}
