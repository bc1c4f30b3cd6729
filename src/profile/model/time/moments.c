/*
 * moments.c - moments are gathered, and become fewer where they are too many.
 */
#include "profile/model/time/moments.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"

#define RECENT 65536 /* moments that are found again: 256 KB, which a core has at hand */

static int by_place(const struct profile_moment *x, const struct profile_moment *y)
{
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int by_time(const void *a, const void *b)
{
	const struct profile_moment *x = a, *y = b;
	int place = by_place(x, y);

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return place ? place : x->span < y->span ? -1 : x->span > y->span;
}

/* Longer steps do not change this order, but for spans. */
static int by_place_and_time(const void *a, const void *b)
{
	const struct profile_moment *x = a, *y = b;
	int place = by_place(x, y);

	return place ? place : x->at < y->at ? -1 : x->at > y->at ? 1 : x->span < y->span ? -1 : x->span > y->span;
}

void moments_sort(struct moments *m)
{
	if (m->items.count)
		qsort(m->items.items, m->items.count, sizeof(*m->items.items), by_time);
}

/* Samples and weight of one moment as part of another; false: together they are more than a moment holds. */
static bool take_in(struct profile_moment *to, const struct profile_moment *from)
{
	uint32_t samples;
	uint64_t weight;

	if (to->at != from->at || to->stack != from->stack || to->thread != from->thread || to->span != from->span ||
	    __builtin_add_overflow(to->samples, from->samples, &samples) ||
	    __builtin_add_overflow(to->weight, from->weight, &weight))
		return false;
	to->samples = samples;
	to->weight = weight;
	return true;
}

/* What is of one step, count, thread and span becomes one, where it stands beside each other. */
static void merge(struct moments *m)
{
	struct profile_moment *items = m->items.items;
	size_t i, kept = 0;

	for (i = 0; i < m->items.count; i++)
		if (!kept || !take_in(&items[kept - 1], &items[i]))
			items[kept++] = items[i];
	m->items.count = kept;
}

/* Steps twice as long. */
static void coarsen(struct moments *m)
{
	struct profile_moment *items = m->items.items;
	size_t i;

	m->step *= 2;
	for (i = 0; i < m->items.count; i++) {
		/* a wait that ends in a step lasts into it */
		items[i].span = (uint32_t)(((uint64_t)items[i].at + items[i].span) / 2 - items[i].at / 2);
		items[i].at /= 2;
	}
}

/* Make them fewer: half of what there may be, so that one more is not the next sort. */
static void shrink(struct moments *m, size_t most)
{
	qsort(m->items.items, m->items.count, sizeof(*m->items.items), by_place_and_time);
	merge(m);
	while (m->items.count > most / 2 && m->step < MOMENTS_LONGEST) {
		coarsen(m);
		merge(m);
	}
	/* that many counts and threads are apart: steps of hours do not help */
	m->full = MAX(most, 2 * m->items.count);
	free(m->recent);
	m->recent = NULL;
}

/* Where moments like MOMENT were put lately; NULL: it is not known. */
static uint32_t *recent_of(struct moments *m, const struct profile_moment *moment)
{
	uint64_t key = ((uint64_t)moment->stack << 32 | moment->thread) ^ ((uint64_t)moment->at << 16 | moment->span);

	if (!m->recent)
		m->recent = calloc(RECENT, sizeof(*m->recent));
	return m->recent ? &m->recent[hash_mix(key) % RECENT] : NULL;
}

/*
 * They come about in the order of time, so what is of one step comes together. Where all samples fit, each stays a
 * moment of its own only as long as steps are short.
 */
static void put(struct moments *m, const struct profile_moment *moment)
{
	uint32_t *recent = recent_of(m, moment);
	struct profile_moment *to;

	if (recent && *recent && take_in(&m->items.items[*recent - 1], moment))
		return;
	to = VECTOR_PUSH(&m->items);
	m->failed |= !to;
	if (!to)
		return;
	*to = *moment;
	if (recent)
		*recent = (uint32_t)m->items.count;
}

void moments_add(struct moments *m, int64_t at, uint64_t span, uint32_t count, uint32_t thread, uint64_t samples,
		 uint64_t weight)
{
	size_t most = m->most ? m->most : SIZE_MAX;
	uint64_t from = at < 0 ? 0 : (uint64_t)at;

	if (!m->step)
		m->step = MOMENTS_STEP;
	if (m->items.count >= MAX(most, m->full))
		shrink(m, most);
	while (from / m->step > UINT32_MAX || span / m->step > UINT32_MAX)
		coarsen(m);
	put(m, &(struct profile_moment){(uint32_t)(from / m->step), (uint32_t)(span / m->step), count, thread,
					(uint32_t)MIN(samples, (uint64_t)UINT32_MAX), weight});
}

void moments_join(struct moments *m, const struct moments *from, const uint32_t *counts, const uint32_t *threads)
{
	size_t i;

	m->failed |= from->failed;
	while (m->step && m->step < from->step)
		coarsen(m);
	for (i = 0; i < from->items.count && !m->failed; i++) {
		const struct profile_moment *t = &from->items.items[i];

		moments_add(m, (int64_t)(t->at * from->step), t->span * from->step, counts[t->stack],
			    t->thread == PROFILE_NO_THREAD ? t->thread : threads[t->thread], t->samples, t->weight);
	}
}

void moments_earlier(struct moments *m, uint64_t ns)
{
	uint64_t steps = m->step ? ns / m->step : 0;
	size_t i;

	for (i = 0; i < m->items.count; i++)
		m->items.items[i].at -= (uint32_t)MIN((uint64_t)m->items.items[i].at, steps);
	free(m->recent); /* which finds them by their times */
	m->recent = NULL;
}

void moments_free(struct moments *m)
{
	free(m->items.items);
	free(m->recent);
	memset(m, 0, sizeof(*m));
}
