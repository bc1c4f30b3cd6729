#include "profile/exports/timed_samples.h"

#include <stdlib.h>

#include "common/base/wide.h"
#include "profile/exports/sample_times.h"
#include "profile/model/profile_unit.h"

static int by_stack(const struct timed_sample *x, const struct timed_sample *y)
{
	return x->stack < y->stack ? -1 : x->stack > y->stack;
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

/*
 * By time they nearly are, as moments are: what is of one time is to be sorted. A long run of it is as much work as all
 * at once, short ones cost next to nothing.
 */
static void sort_times(struct timed_samples *t)
{
	size_t i, next;
	bool sorted;

	for (i = 0; i < t->count; i = next) {
		sorted = true;
		for (next = i + 1; next < t->count && t->items[next].time == t->items[i].time; next++)
			sorted = sorted && by_time(&t->items[next - 1], &t->items[next]) <= 0;
		if (!sorted)
			qsort(&t->items[i], next - i, sizeof(*t->items), by_time);
	}
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
						    wide_times(m->span, p->moment_step), m->samples, m->stack,
						    MIN(m->thread, p->thread_count)};
	}
	free(weights);
	if (t->items)
		sort_times(t);
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
	qsort(t->items, t->count, sizeof(*t->items), by_time); /* by thread, as all are at 0 */
	for (i = 0; i < t->count; i++) {
		at = i && t->items[i].thread == t->items[i - 1].thread ? at : 0;
		t->items[i].time = at;
		at = wide_add(at, profile_is_time(p) ? t->items[i].weight : NS_PER_MS);
	}
	qsort(t->items, t->count, sizeof(*t->items), by_time);
	return true;
}

bool timed_samples_build(struct timed_samples *t, const struct profile *p)
{
	*t = (struct timed_samples){.threads = p->thread_count + (size_t)1};
	return profile_has_times(p) ? take_moments(t, p) : take_stacks(t, p);
}

bool timed_samples_by_thread(struct timed_samples *t)
{
	struct timed_sample *items = malloc((t->count + 1) * sizeof(*items));
	size_t *next = calloc(t->threads + 1, sizeof(*next)), i;

	/* how many each thread has, then where its next one goes */
	for (i = 0; items && next && i < t->count; i++)
		next[t->items[i].thread + 1]++;
	for (i = 1; items && next && i < t->threads; i++)
		next[i] += next[i - 1];
	for (i = 0; items && next && i < t->count; i++)
		items[next[t->items[i].thread]++] = t->items[i];
	if (!items || !next) {
		free(items);
		free(next);
		return false;
	}
	free(next);
	free(t->items);
	t->items = items;
	return true;
}

void timed_samples_free(struct timed_samples *t)
{
	free(t->items);
	*t = (struct timed_samples){.count = 0};
}
