/*
 * moments.c - moments are gathered, and become fewer where they are too many.
 */
#include "profile/model/time/moments.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "profile/model/time/moment_order.h"

#define RECENT 65536 /* moments that are found again: 512 KB, which a core has at hand */
#define AHEAD 32     /* moments whose places are asked for together */

void moments_sort(struct moments *m)
{
	moment_order_time(m->items.items, m->items.count);
	m->sorted = 0;
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

/* The sorted ones and those that came since become one row; false: there is no memory to do so. */
static bool sort_in(struct moments *m)
{
	struct profile_moment *items = m->items.items, *to, *late, *end;
	size_t old = m->sorted, since = m->items.count - old;

	moment_order_place(items + old, since);
	m->sorted = m->items.count;
	if (!old || !since || moment_order_compare_place(&items[old - 1], &items[old]) <= 0)
		return true;
	late = malloc(since * sizeof(*late));
	if (!late)
		return false;
	memcpy(late, items + old, since * sizeof(*late));
	/* from the end on, where there is room */
	for (to = items + old + since, end = late + since; end > late;)
		*--to = old && moment_order_compare_place(&items[old - 1], end - 1) > 0 ? items[--old] : *--end;
	free(late);
	return true;
}

static void sort_by_place(struct moments *m)
{
	if (!sort_in(m))
		moment_order_place(m->items.items, m->items.count);
}

static void forget_recent(struct moments *m)
{
	free(m->recent);
	m->recent = NULL;
}

/* From now on it is counted when samples were taken, those that are there too: their steps are short yet. */
static void begin_fine(struct moments *m)
{
	size_t i;

	if (m->fine.step || m->fine.given_up)
		return;
	fine_counts_begin(&m->fine);
	if (m->step > m->fine.step)
		fine_counts_give_up(&m->fine);
	for (i = 0; i < m->items.count; i++) {
		const struct profile_moment *t = &m->items.items[i];

		fine_counts_add(&m->fine, t->at * m->step, t->samples);
		if (t->span)
			fine_counts_give_up(&m->fine);
	}
}

/* Make them fewer: half of what there may be, so that one more is not the next sort. */
static void shrink(struct moments *m, size_t most)
{
	begin_fine(m);
	sort_by_place(m);
	merge(m);
	while (m->items.count > most / 2 && m->step < MOMENTS_LONGEST) {
		coarsen(m);
		merge(m);
	}
	m->sorted = m->items.count;
	/* that many counts and threads are apart: steps of hours do not help */
	m->full = MAX(most, 2 * m->items.count);
	forget_recent(m);
}

static uint64_t hash_of(const struct profile_moment *moment)
{
	return hash_mix(((uint64_t)moment->stack << 32 | moment->thread) ^ ((uint64_t)moment->at << 16 | moment->span));
}

/*
 * They come about in the order of time, so what is of one step comes together. Where all samples fit, each stays a
 * moment of its own only as long as steps are short.
 */
static void put(struct moments *m, const struct profile_moment *moment, uint64_t hash)
{
	uint64_t *recent = m->recent ? &m->recent[hash % RECENT] : NULL;
	struct profile_moment *to;

	if (recent && *recent && *recent >> 32 == hash >> 32 &&
	    take_in(&m->items.items[(uint32_t)*recent - 1], moment))
		return;
	to = VECTOR_PUSH(&m->items);
	m->failed |= !to;
	if (!to)
		return;
	*to = *moment;
	if (recent)
		*recent = hash >> 32 << 32 | (uint32_t)m->items.count;
}

static struct profile_moment moment_of(const struct moments *m, const struct moment_seen *seen)
{
	uint64_t at = seen->at < 0 ? 0 : (uint64_t)seen->at;

	return (struct profile_moment){(uint32_t)(at / m->step), (uint32_t)(seen->span ? seen->span / m->step : 0),
				       seen->count, seen->thread, (uint32_t)MIN(seen->samples, (uint64_t)UINT32_MAX),
				       seen->weight};
}

/* Whether NS are no more steps than a moment can say. */
static bool fits(const struct moments *m, uint64_t ns)
{
	return m->step > UINT64_MAX >> 32 || ns < m->step << 32;
}

/* Add N of them, at most AHEAD. What a place's look-up waits for is memory: all places are asked for first. */
static void add_block(struct moments *m, const struct moment_seen *seen, size_t n)
{
	struct profile_moment moments[AHEAD];
	uint64_t hashes[AHEAD];
	size_t i;

	for (i = 0; i < n; i++)
		while (!fits(m, seen[i].at < 0 ? 0 : (uint64_t)seen[i].at) || !fits(m, seen[i].span))
			coarsen(m);
	if (!m->recent)
		m->recent = calloc(RECENT, sizeof(*m->recent));
	for (i = 0; i < n; i++) {
		moments[i] = moment_of(m, &seen[i]);
		hashes[i] = hash_of(&moments[i]);
		if (m->recent)
			__builtin_prefetch(&m->recent[hashes[i] % RECENT], 1);
	}
	for (i = 0; i < n && m->recent; i++) {
		uint64_t recent = m->recent[hashes[i] % RECENT];

		if (recent >> 32 == hashes[i] >> 32)
			__builtin_prefetch(&m->items.items[(uint32_t)recent - 1], 1);
	}
	for (i = 0; i < n; i++)
		put(m, &moments[i], hashes[i]);
}

/* What lasts is no count of one step. */
static void count_finely(struct moments *m, const struct moment_seen *seen, size_t n)
{
	size_t i;

	for (i = 0; i < n && !m->fine.given_up; i++) {
		fine_counts_add(&m->fine, seen[i].at < 0 ? 0 : (uint64_t)seen[i].at, seen[i].samples);
		if (seen[i].span)
			fine_counts_give_up(&m->fine);
	}
}

/* COUNTED: fine counts have them already. */
static void add_all(struct moments *m, const struct moment_seen *seen, size_t n, bool counted)
{
	size_t most = m->most ? m->most : SIZE_MAX, i, block;

	if (!m->step)
		m->step = MOMENTS_STEP;
	for (i = 0; i < n; i += block) {
		if (m->items.count >= MAX(most, m->full))
			shrink(m, most);
		block = MIN(MIN(n - i, (size_t)AHEAD), MAX(most, m->full) - m->items.count);
		if (m->fine.step && !counted)
			count_finely(m, seen + i, block);
		add_block(m, seen + i, block);
	}
}

void moments_add_all(struct moments *m, const struct moment_seen *seen, size_t n)
{
	add_all(m, seen, n, false);
}

void moments_add(struct moments *m, int64_t at, uint64_t span, uint32_t count, uint32_t thread, uint64_t samples,
		 uint64_t weight)
{
	moments_add_all(m, &(struct moment_seen){at, span, count, thread, samples, weight}, 1);
}

void moments_join(struct moments *m, const struct moments *from, const uint32_t *counts, const uint32_t *threads)
{
	struct moment_seen seen[AHEAD];
	size_t i, n;

	m->failed |= from->failed;
	if (from->fine.step) {
		begin_fine(m);
		fine_counts_join(&m->fine, &from->fine);
	}
	while (m->step && m->step < from->step)
		coarsen(m);
	for (i = 0; i < from->items.count && !m->failed; i += n) {
		for (n = 0; n < AHEAD && i + n < from->items.count; n++) {
			const struct profile_moment *t = &from->items.items[i + n];

			seen[n] = (struct moment_seen){
				(int64_t)(t->at * from->step), t->span * from->step, counts[t->stack],
				t->thread == PROFILE_NO_THREAD ? t->thread : threads[t->thread], t->samples, t->weight};
		}
		add_all(m, seen, n, from->fine.step != 0);
	}
}

void moments_earlier(struct moments *m, uint64_t ns)
{
	uint64_t steps = m->step ? ns / m->step : 0;
	size_t i;

	for (i = 0; i < m->items.count; i++)
		m->items.items[i].at -= (uint32_t)MIN((uint64_t)m->items.items[i].at, steps);
	forget_recent(m); /* which finds them by their times */
	if (m->fine.step)
		fine_counts_give_up(&m->fine);
}

void moments_free(struct moments *m)
{
	free(m->items.items);
	free(m->recent);
	fine_counts_free(&m->fine);
	memset(m, 0, sizeof(*m));
}
