#include "profile/exports/timed_samples.h"

#include <stdlib.h>

#include "common/base/wide.h"
#include "profile/exports/sample_times.h"
#include "profile/model/profile_unit.h"

static int by_stack(const struct timed_sample *x, const struct timed_sample *y)
{
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct timed_sample *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return by_stack(x, y);
}

static int by_time(const void *a, const void *b)
{
	const struct timed_sample *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return by_stack(x, y);
}

static bool take_moments(struct timed_samples *t, const struct profile *p)
{
	uint64_t *weights = sample_times_weights(p);
	size_t i;

	t->count = p->moment_count;
	t->items = weights ? calloc(t->count + 1, sizeof(*t->items)) : NULL;
	for (i = 0; t->items && i < t->count; i++) {
		const struct profile_moment *m = &p->moments[i];

		t->items[i] = (struct timed_sample){wide_times(m->at, p->moment_step), weights[i],
						    wide_times(m->span, p->moment_step), m->samples, m->stack, MIN(m->thread, p->thread_count)};
	}
	if (t->items)
		qsort(t->items, t->count, sizeof(*t->items), by_thread_and_time);
	free(weights);
	return t->items;
}

static bool take_stacks(struct timed_samples *t, const struct profile *p)
{
	uint64_t at = 0;
	size_t i;

	t->count = p->stack_count;
	t->items = calloc(t->count + 1, sizeof(*t->items));
	for (i = 0; t->items && i < t->count; i++)
		t->items[i] = (struct timed_sample){0, p->stacks[i].weight, 0, p->stacks[i].samples,
						    (uint32_t)i, MIN(p->stacks[i].thread, p->thread_count)};
	if (!t->items)
		return false;
	qsort(t->items, t->count, sizeof(*t->items), by_thread_and_time);
	for (i = 0; i < t->count; i++) {
		at = i && t->items[i].thread == t->items[i - 1].thread ? at : 0;
		t->items[i].time = at;
		at = wide_add(at, profile_is_time(p) ? t->items[i].weight : NS_PER_MS);
	}
	return true;
}

bool timed_samples_build(struct timed_samples *t, const struct profile *p)
{
	*t = (struct timed_samples){.count = 0};
	return profile_has_times(p) ? take_moments(t, p) : take_stacks(t, p);
}

void timed_samples_by_time(struct timed_samples *t)
{
	qsort(t->items, t->count, sizeof(*t->items), by_time);
}

void timed_samples_free(struct timed_samples *t)
{
	free(t->items);
	*t = (struct timed_samples){.count = 0};
}
