#include "profile/readers/jfr/first_allocs.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/wide.h"

#define BEGIN_WITHIN (2 * (int64_t)NS_PER_S) /* of a recording: its first statistics */
#define ENOUGH 10                            /* samples tell what is usual */

static struct allocating_thread *thread_of(struct first_allocs *f, uint64_t id)
{
	uint32_t *place = map_put(&f->by_id, id, NULL);
	struct allocating_thread *t;

	if (place && *place)
		return &f->threads.items[*place - 1];
	t = place ? VECTOR_PUSH(&f->threads) : NULL;
	if (t)
		*place = (uint32_t)f->threads.count;
	f->no_memory |= !t;
	return t;
}

void first_allocs_sample(struct first_allocs *f, uint64_t thread, int64_t time, uint64_t weight, uint64_t position)
{
	struct allocating_thread *t = thread_of(f, thread);

	if (!t)
		return;
	if (t->samples && time >= t->first_at) {
		t->most = MAX(t->most, weight);
	} else {
		t->most = MAX(t->most, t->first);
		t->first = weight;
		t->first_at = time;
		t->position = position;
	}
	t->samples++;
	t->weight = wide_add(t->weight, weight);
}

void first_allocs_sum(struct first_allocs *f, uint64_t thread, int64_t time, uint64_t bytes)
{
	struct allocating_thread *t = thread_of(f, thread);

	if (!t)
		return;
	if (!t->begin_at || time < t->begin_at) {
		t->begin_at = time;
		t->at_begin = bytes;
	}
	if (!t->end_at || time >= t->end_at) {
		t->end_at = time;
		t->at_end = bytes;
	}
}

void first_allocs_born(struct first_allocs *f, uint64_t thread)
{
	struct allocating_thread *t = thread_of(f, thread);

	if (t)
		t->born = true;
}

/* The mean of T's samples but for the first; of one that has no others OTHERWISE. */
static uint64_t usual_of(const struct allocating_thread *t, uint64_t otherwise)
{
	return t->samples > 1 ? (t->weight - t->first) / (t->samples - 1) : otherwise;
}

/* By how much the samples of T weigh more than it allocated; STATISTICS: the recording says what threads allocated. */
static uint64_t excess_of(const struct allocating_thread *t, int64_t start, bool statistics)
{
	uint64_t allocated;

	if (!statistics)
		return t->samples > ENOUGH && t->first / ENOUGH > t->most ? t->first : 0;
	if (!t->begin_at || t->begin_at / 2 - start / 2 > BEGIN_WITHIN / 2)
		return 0;
	/* it has ended before it was asked again */
	if (t->end_at == t->begin_at)
		return t->first_at > t->begin_at && t->first >= t->at_begin ? t->at_begin : 0;
	allocated = t->at_end > t->at_begin ? t->at_end - t->at_begin : 0;
	return t->weight > allocated ? t->weight - allocated : 0;
}

bool first_allocs_find(struct first_allocs *f, int64_t start)
{
	uint64_t weight = 0, samples = 0, usual, excess;
	bool statistics = false;
	uint32_t *place;
	size_t i;

	for (i = 0; i < f->threads.count; i++) {
		const struct allocating_thread *t = &f->threads.items[i];

		statistics |= t->begin_at != 0;
		weight = wide_add(weight, t->weight - t->first);
		samples += t->samples ? t->samples - 1 : 0;
	}
	for (i = 0; i < f->threads.count && !f->no_memory; i++) {
		struct allocating_thread *t = &f->threads.items[i];

		usual = usual_of(t, samples ? weight / samples : 0);
		excess = t->samples && !t->born ? excess_of(t, start, statistics) : 0;
		/* what it allocated in the moment before the first statistics is no reason */
		if (excess <= usual || t->first <= usual)
			continue;
		t->cut = MIN(excess, t->first - usual);
		place = map_put(&f->by_position, t->position, NULL);
		f->no_memory |= !place;
		if (place)
			*place = (uint32_t)i + 1;
	}
	f->noting = false;
	return !f->no_memory;
}

uint64_t first_allocs_cut(const struct first_allocs *f, uint64_t position)
{
	const uint32_t *place = map_get(&f->by_position, position);

	return place ? f->threads.items[*place - 1].cut : 0;
}

void first_allocs_free(struct first_allocs *f)
{
	free(f->threads.items);
	map_free(&f->by_id);
	map_free(&f->by_position);
	memset(f, 0, sizeof(*f));
}
