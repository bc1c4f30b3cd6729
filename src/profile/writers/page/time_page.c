/*
 * time_page.c - the member `time` of the page's data, for web/timeline.js: when which samples were taken.
 *
 *   step     ns of a step; steps: how many the profile is long
 *   quantum  what weights are counted in; usual: quanta of a sample, where nothing else is said
 *   places   varints, three each: node of the tree, thread + 1 (0: not known), activity + 1 (0: not known); the
 *            most frequent ones first; placeCount: how many
 *   moments  of each, in the order of time:
 *              varint  place × 16, + steps since the one before × 4 (3: 3 + the number that follows), + 1: span and
 *                      samples follow (else 0 and 1), + 2: a weight follows
 *              [varint steps], [varint span in steps, varint samples]
 *              [varint of a number with its sign in the lowest bit: quanta beside samples × usual]
 *   count    how many
 *   fine     where steps are long, how many samples were taken in each of shorter ones: step, count and, as varints,
 *            counts
 *
 * A sample is 2 to 4 bytes this way. Weights of sampled time are rounded to a hundredth of a sample, others are whole.
 */
#include "profile/writers/page/time_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_writer.h"
#include "common/base/map.h"
#include "common/base/vector.h"
#include "common/base/wide.h"
#include "profile/model/sorted.h"
#include "profile/writers/page/page_put.h"

#define QUANTA 100        /* of a sample */
#define MOST_QUANTA ((uint64_t)1 << 61) /* of a moment */

struct place {
	uint32_t node, thread; /* thread: + 1 */
	uint8_t activity;      /* + 1 */
	uint32_t number, moments;
};

struct timeline {
	const struct profile *profile;
	uint32_t *nodes;       /* of each stack */
	VECTOR(struct place) places;
	uint32_t *place_of;    /* of each moment */
	uint64_t quantum, usual;
};

/* The node that each stack of S ends in: nodes are numbered as the tree has them, from 1 on. */
static uint32_t *nodes_of(const struct sorted *s)
{
	uint32_t *nodes = calloc((size_t)s->profile->stack_count + 1, sizeof(*nodes));
	uint32_t *way = calloc((size_t)s->depth + 1, sizeof(*way));
	uint32_t i, level, number = 0;

	for (i = 0; nodes && way && i < s->count; i++) {
		uint32_t depth = sorted_depth(s, i);

		for (level = s->items[i].shared; level < depth; level++)
			way[level] = ++number;
		nodes[s->items[i].stack] = way[depth - 1];
	}
	if (!way) {
		free(nodes);
		nodes = NULL;
	}
	free(way);
	return nodes;
}

/* Whether the weights of samples are all about alike. */
static bool is_even(const struct profile *p, uint64_t usual)
{
	uint64_t i;

	for (i = 0; i < p->moment_count; i++) {
		uint64_t one = p->moments[i].weight / MAX(p->moments[i].samples, 1u);

		if (one / 4 > usual || one < usual / 4)
			return false;
	}
	return true;
}

/* Files may have any weights: none is more than MOST_QUANTA, so that what two of them differ by has a sign. */
static void find_quantum(struct timeline *t)
{
	const struct profile *p = t->profile;
	uint64_t samples = 0, weight = 0, heaviest = 0, usual, i;
	uint32_t most = 1;

	for (i = 0; i < p->moment_count; i++) {
		samples += p->moments[i].samples;
		weight = wide_add(weight, p->moments[i].weight);
		heaviest = MAX(heaviest, p->moments[i].weight);
		most = MAX(most, p->moments[i].samples);
	}
	usual = samples ? weight / samples : 0;
	t->quantum = usual > QUANTA && is_even(p, usual) ? usual / QUANTA : 1;
	t->quantum = MAX(t->quantum, heaviest / MOST_QUANTA + 1);
	t->usual = usual / t->quantum;
	if (t->usual > MOST_QUANTA / most)
		t->usual = 0;
}

static int by_moments(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->moments != y->moments ? (x->moments < y->moments ? 1 : -1) : x->number < y->number ? -1 : 1;
}

/* The place of NODE, THREAD and ACTIVITY by SEEN, which has them all; NULL: no memory. */
static struct place *place_of(struct timeline *t, struct map *seen, uint32_t node, uint32_t thread, uint8_t activity)
{
	/* two maps would be one number more: threads are far below 2^28, activities below 16 */
	uint32_t *slot = map_put(seen, (uint64_t)node << 32 | (uint64_t)(thread & 0xfffffff) << 4 | activity, NULL);
	struct place *place;

	if (!slot)
		return NULL;
	if (*slot)
		return &t->places.items[*slot - 1];
	place = VECTOR_PUSH(&t->places);
	if (!place)
		return NULL;
	*place = (struct place){node, thread, activity, *slot = (uint32_t)t->places.count, 0};
	return place;
}

/* Find the places of all moments, the most frequent ones first. */
static bool find_places(struct timeline *t, const uint8_t *activity)
{
	const struct profile *p = t->profile;
	struct map seen = {0};
	uint32_t *now;
	uint64_t i;

	t->place_of = malloc(p->moment_count * sizeof(*t->place_of));
	for (i = 0; t->place_of && i < p->moment_count; i++) {
		const struct profile_moment *m = &p->moments[i];
		bool known = m->stack != PROFILE_NO_STACK; /* else it is of the root */
		struct place *place = place_of(t, &seen, known ? t->nodes[m->stack] : 0, m->thread + 1,
					       known && activity ? activity[m->stack] + 1 : 0);

		if (!place)
			break;
		place->moments++;
		t->place_of[i] = place->number;
	}
	map_free(&seen);
	now = calloc(t->places.count + 1, sizeof(*now));
	if (!t->place_of || i < p->moment_count || !now) {
		free(now);
		return false;
	}
	if (t->places.count)
		qsort(t->places.items, t->places.count, sizeof(*t->places.items), by_moments);
	for (i = 0; i < t->places.count; i++)
		now[t->places.items[i].number] = (uint32_t)i;
	for (i = 0; i < p->moment_count; i++)
		t->place_of[i] = now[t->place_of[i]];
	free(now);
	return true;
}

static void put_places(struct json_writer *w, const struct timeline *t, const struct format_options *options)
{
	struct page_bytes e = PAGE_BYTES(w, "places", options);
	size_t i;

	for (i = 0; i < t->places.count; i++) {
		page_varint(&e, t->places.items[i].node);
		page_varint(&e, t->places.items[i].thread);
		page_varint(&e, t->places.items[i].activity);
	}
	page_bytes_end(&e);
	json_put_number(w, "placeCount", t->places.count);
}

#define STEPS_MORE 3

static void put_moment(struct page_bytes *e, const struct timeline *t, const struct profile_moment *m, uint32_t place,
		       uint32_t steps)
{
	uint64_t rest = m->weight % t->quantum;
	int64_t quanta = (int64_t)(m->weight / t->quantum + (rest >= t->quantum - rest));
	int64_t beside = quanta - (int64_t)(m->samples * t->usual);
	bool more = m->span || m->samples != 1;

	page_varint(e, (uint64_t)place << 4 | MIN(steps, STEPS_MORE) << 2 | (beside ? 2 : 0) | (more ? 1 : 0));
	if (steps >= STEPS_MORE)
		page_varint(e, steps - STEPS_MORE);
	if (more) {
		page_varint(e, m->span);
		page_varint(e, m->samples);
	}
	if (beside)
		page_varint(e, beside < 0 ? (uint64_t)-beside << 1 | 1 : (uint64_t)beside << 1);
}

static void put_moments(struct json_writer *w, const struct timeline *t, const struct format_options *options)
{
	struct page_bytes e = PAGE_BYTES(w, "moments", options);
	const struct profile *p = t->profile;
	uint32_t before = 0;
	uint64_t i;

	for (i = 0; i < p->moment_count; i++) {
		put_moment(&e, t, &p->moments[i], t->place_of[i], p->moments[i].at - before);
		before = p->moments[i].at;
	}
	page_bytes_end(&e);
	json_put_number(w, "count", p->moment_count);
}

/* Samples weigh about alike: what they are in counts is what they are in weight. */
static void put_fine(struct json_writer *w, const struct profile *p, const struct format_options *options)
{
	struct page_bytes e;
	uint64_t i;

	json_object(w, "fine");
	json_put_numbers(w, {"step", p->fine_step}, {"count", p->fine_count});
	e = (struct page_bytes)PAGE_BYTES(w, "counts", options);
	for (i = 0; i < p->fine_count; i++)
		page_varint(&e, p->fine_counts[i]);
	page_bytes_end(&e);
	json_end(w);
}

/* How many steps the profile is long: to its end, or to that of its last sample, as JSON has it (json_times.c). */
static uint64_t steps_of(const struct profile *p)
{
	uint64_t steps = (p->duration + p->moment_step - 1) / p->moment_step, i;

	for (i = 0; i < p->moment_count; i++)
		steps = MAX(steps, (uint64_t)p->moments[i].at + p->moments[i].span + 1);
	return steps;
}

int time_page_put(struct json_writer *w, const struct sorted *s, const uint8_t *activity,
		  const struct format_options *options)
{
	struct timeline t = {.profile = s->profile, .nodes = nodes_of(s)};
	bool ok;

	find_quantum(&t);
	ok = t.nodes && find_places(&t, activity);
	if (ok) {
		json_object(w, "time");
		json_put_numbers(w, {"step", t.profile->moment_step}, {"steps", steps_of(t.profile)},
				 {"quantum", t.quantum}, {"usual", t.usual});
		put_places(w, &t, options);
		put_moments(w, &t, options);
		if (t.profile->fine_counts && t.quantum > 1)
			put_fine(w, t.profile, options);
		json_end(w);
	}
	free(t.nodes);
	free(t.places.items);
	free(t.place_of);
	return ok ? 0 : -ENOMEM;
}
