/*
 * generation.c - memory that does not grow with the age of a session: when a recording begins a new chunk, or the
 * memory of a session with a flight recorder or a stream runs short, the account is made anew. Its heaviest stacks
 * stay, and those that somebody goes on with (runs that are open, sinks); the others become one, and traces are stored
 * in a new generation of their store (signal/trace.h). Sinks were given them all: only what other formats show of a
 * session is coarser.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/account.h"

#define KEPT 4000                /* stacks, of all events together */
#define WORTH_IT (4u << 20)      /* bytes of traces, below which their memory stays as it is */
#define EARLIER "[earlier_stacks]"

bool generation_is_full(const struct collector *c)
{
	return !c->options.keeps_traces && !c->pinned && !c->renew_traces && !zone.store.renewed &&
	       trace_store_bytes(&zone.store) > zone.store.size / 8 * 3;
}

/* The account that is given up. */
struct generation {
	struct collector *c;
	typeof(((struct collector *)0)->nodes) nodes;
	typeof(((struct collector *)0)->frame_list) frame_list;
	typeof(((struct collector *)0)->bcis) bcis;
	typeof(((struct collector *)0)->tallies) tallies;
	struct map by_node[RECORD_EVENTS];
	struct tally *merged;    /* equal ones are one */
	size_t merged_count;
	uint32_t *carried;       /* by node, its number now; 0 = it has none (yet) */
	uint32_t rest;           /* the one of stacks that were not kept */
};

static void set_aside(struct collector *c, struct generation *f)
{
	uint32_t e;

	memset(f, 0, sizeof(*f));
	f->c = c;
	f->nodes = c->nodes;
	f->frame_list = c->frame_list;
	f->bcis = c->bcis;
	f->tallies = c->tallies;
	memset(&c->nodes, 0, sizeof(c->nodes));
	memset(&c->frame_list, 0, sizeof(c->frame_list));
	memset(&c->bcis, 0, sizeof(c->bcis));
	memset(&c->tallies, 0, sizeof(c->tallies));
	for (e = 0; e < RECORD_EVENTS; e++) {
		f->by_node[e] = c->events[e].by_node;
		c->events[e].by_node = (struct map){0};
	}
}

static void drop(struct generation *f)
{
	uint32_t e;

	PAGED_FREE(&f->nodes);
	PAGED_FREE(&f->frame_list);
	PAGED_FREE(&f->bcis);
	PAGED_FREE(&f->tallies);
	free(f->merged);
	free(f->carried);
	for (e = 0; e < RECORD_EVENTS; e++)
		map_free(&f->by_node[e]);
}

/* Out of memory on the way: as it was. */
static void put_back(struct collector *c, struct generation *f)
{
	struct generation half;
	uint32_t e;

	set_aside(c, &half);
	drop(&half);
	c->nodes = f->nodes;
	c->frame_list = f->frame_list;
	c->bcis = f->bcis;
	c->tallies = f->tallies;
	for (e = 0; e < RECORD_EVENTS; e++)
		c->events[e].by_node = f->by_node[e];
	free(f->merged);
	free(f->carried);
}

static const uint32_t *frames_of(const struct generation *f, const struct tally *t)
{
	return &f->frame_list.items[f->nodes.items[t->node].first];
}

static uint64_t hash_of(const struct generation *f, const struct tally *t)
{
	const struct node *n = &f->nodes.items[t->node];
	uint64_t h = map_hash((uint64_t)n->depth << 40 | (uint64_t)t->event << 16 | n->end << 8 | t->state);
	uint32_t i;

	h = map_hash(h ^ ((uint64_t)t->request << 32 | t->thread));
	for (i = 0; i < n->depth; i++)
		h = map_hash(h ^ frames_of(f, t)[i]);
	return h;
}

/* Whether A and B are one, now that positions in methods do not matter any more. */
static bool are_equal(const struct generation *f, const struct tally *a, const struct tally *b)
{
	const struct node *m = &f->nodes.items[a->node], *n = &f->nodes.items[b->node];

	return a->event == b->event && a->thread == b->thread && a->state == b->state &&
	       a->request == b->request && m->end == n->end && m->depth == n->depth &&
	       memcmp(frames_of(f, a), frames_of(f, b), n->depth * sizeof(uint32_t)) == 0;
}

/* F's tallies, equal ones added up; false when out of memory. */
static bool merge(struct generation *f)
{
	struct map known = {0}; /* hash → 1 + index of the first with it */
	uint32_t *slot = NULL;
	size_t i;

	f->merged = malloc(f->tallies.count * sizeof(*f->merged) + 1);
	for (i = 0; f->merged && i < f->tallies.count; i++) {
		const struct tally *t = &f->tallies.items[i];

		slot = map_put(&known, hash_of(f, t), NULL);
		if (!slot)
			break;
		if (*slot && are_equal(f, &f->merged[*slot - 1], t)) {
			f->merged[*slot - 1].samples += t->samples;
			f->merged[*slot - 1].weight += t->weight;
			continue;
		}
		if (!*slot)
			*slot = (uint32_t)f->merged_count + 1;
		f->merged[f->merged_count++] = *t;
	}
	map_free(&known);
	return f->merged && i == f->tallies.count;
}

static int heaviest_first(const void *a, const void *b)
{
	uint64_t x = ((const struct tally *)a)->samples, y = ((const struct tally *)b)->samples;

	return x < y ? 1 : x > y ? -1 : 0;
}

static bool carry_over(struct collector *c, struct generation *f)
{
	uint32_t earlier = frames_marker(&c->frames, EARLIER), node;
	size_t i;

	f->carried = calloc(f->nodes.count, sizeof(*f->carried));
	f->rest = earlier == FRAMES_NO_MEMORY ? 0 : account_stack_of(c, &earlier, 1, 0);
	if (!f->carried || !f->rest || !merge(f))
		return false;
	qsort(f->merged, f->merged_count, sizeof(*f->merged), heaviest_first);
	for (i = 0; i < f->merged_count; i++) {
		const struct tally *from = &f->merged[i];
		const struct node *n = &f->nodes.items[from->node];
		struct tally *to;

		node = i < KEPT ? account_stack_of(c, frames_of(f, from), n->depth, n->end) : f->rest;
		to = node ? account_tally(c, from->event, node, from->thread, from->state, from->request) : NULL;
		if (!to)
			return false;
		to->samples += from->samples;
		to->weight += from->weight;
	}
	return true;
}

uint32_t generation_node(struct generation *f, uint32_t node)
{
	const struct node *n = &f->nodes.items[node];
	uint32_t *now = &f->carried[node];

	if (node && !*now) {
		*now = account_stack_of(f->c, &f->frame_list.items[n->first], n->depth, n->end);
		if (*now)
			memcpy(&f->c->bcis.items[f->c->nodes.items[*now].first], &f->bcis.items[n->first],
			       n->depth * sizeof(*f->bcis.items));
	}
	return !node || *now ? *now : f->rest;
}

/* Runs that are open go on where they were. */
static void carry_runs(struct collector *c, struct generation *f)
{
	size_t i;

	for (i = 0; i < c->runs.count; i++) {
		c->runs.items[i].node = generation_node(f, c->runs.items[i].node);
		c->runs.items[i].shown = generation_node(f, c->runs.items[i].shown);
	}
}

bool generation_begin(struct collector *c)
{
	struct generation f;

	if (c->options.keeps_traces || c->pinned)
		return false;
	if (trace_store_bytes(&zone.store) > MIN(WORTH_IT, zone.store.size / 8 * 3))
		c->renew_traces = true;
	if (c->nodes.count <= KEPT)
		return false;
	set_aside(c, &f);
	if (!carry_over(c, &f)) {
		put_back(c, &f);
		return false;
	}
	map_free(&c->by_place);
	c->account++;
	carry_runs(c, &f);
	sink_renewed(c, &f);
	drop(&f);
	return true;
}
