/*
 * generation.c - memory that does not grow with the age of a session: the aggregate is one object, which is made anew
 * when much of it is not wanted any more, when a recording begins a new chunk, or when memory for traces runs short.
 * What is referred to is carried over (carry.h): threads that live, stacks that have samples, their names. So are
 * all sums: results are as they were, but that many threads that ended become few (carry_threads.c).
 *
 * Where the samples of a session are of ever new stacks, even what is wanted grows. From MERGE_AT on hidden classes
 * that have a name in common are one; and from a limit on the rarest stacks are. Both is counted, and outputs say so.
 * Traces are stored in a new generation of their store (agent/zone/stack_store.h); those that are kept until later,
 * of waits that have not ended, are copied into it before any thread uses it (agent/collect/sources.h).
 */
#include <stdlib.h>
#include <string.h>

#include "agent/collect/generation.h"
#include "agent/collect/aggregate.h"
#include "agent/collect/carry.h"
#include "agent/collect/held.h"
#include "agent/collect/sink.h"
#include "agent/collect/survivors.h"

#define MANY_STACKS 4000         /* below, a chunk that begins is no reason */
#define WORTH_IT (1u << 20)      /* bytes of traces, below which their memory stays as it is; … */
#define OF_RECORD 1024u          /* … and so many for each record, which has a piece of it */
#define FIRST_AT (1u << 20)      /* bytes held, from which on a new aggregate may be worth it */
#define MERGE_AT 10000           /* frames of hidden classes */
#define LATE_MOST (256u << 10)   /* bytes of traces that are kept just when their memory is renewed */
#define EARLIER "[earlier_stacks]"

/*
 * Bytes of traces from which on their memory is renewed at the latest; where most of it is kept, not again so soon, and
 * where that fills it, never.
 */
static size_t full_at(const struct collector *c)
{
	size_t eighth = zone.store.size / 8;

	if (c->bytes_kept >= eighth * 6)
		return SIZE_MAX;
	return MIN(MAX(eighth * 3, c->bytes_kept * 2), eighth * 7);
}

/* Bytes of traces from which on their memory is renewed when the aggregate is. */
static size_t worth_it(const struct collector *c)
{
	return MIN(WORTH_IT + c->bytes_kept + atomic_load(&zone.records.count) * OF_RECORD, full_at(c));
}

bool generation_is_full(const struct collector *c)
{
	return !c->pinned && !c->renew_stacks && !zone.store.renewed && stack_store_bytes(&zone.store) > full_at(c);
}

static size_t first_at(const struct collector *c)
{
	return c->options.renew_at ? c->options.renew_at : FIRST_AT;
}

bool generation_is_due(const struct collector *c)
{
	return !c->pinned && held_bytes(c) > (c->renew_at ? c->renew_at : first_at(c));
}

/* Bytes that stacks may take: where all samples go somewhere else as well, less is enough. */
static size_t limit_of(const struct collector *c)
{
	return zone.store.size / (c->sinks ? 8 : 2);
}

static size_t bytes_of_stacks(const struct collector *c)
{
	return c->nodes.count * sizeof(*c->nodes.items) + c->stack_counts.count * sizeof(*c->stack_counts.items) +
	       c->frame_list.count * (sizeof(*c->frame_list.items) + sizeof(*c->bcis.items));
}

/* TOTALS: the samples of each event. What is heavy is so among those of its own event: a rare one keeps its stacks. */
static int heaviest_first(const void *a, const void *b, void *totals)
{
	const struct stack_count *x = *(const struct stack_count *const *)a, *y = *(const struct stack_count *const *)b;
	const uint64_t *all = totals;
	double of_x = (double)x->samples / (double)all[x->event], of_y = (double)y->samples / (double)all[y->event];

	return of_x < of_y ? 1 : of_x > of_y ? -1 : 0;
}

/*
 * Sum T of the aggregate that is given up, at NODE of the new one, where its number is *NOW - 1; false when out of
 * memory.
 */
static bool carry_stack_count(struct generation *g, const struct stack_count *t, uint32_t node, uint32_t *now)
{
	uint32_t thread = t->thread ? g->sums[t->thread - 1] : 0;
	struct stack_count *to = node ? aggregate_stack_count(g->c, t->event, node, thread, t->state,
							    t->trace_context) : NULL;

	if (!to)
		return false;
	to->samples += t->samples;
	to->weight += t->weight;
	to->objects += t->objects;
	to->outside += t->outside;
	*now = (uint32_t)(to - g->c->stack_counts.items) + 1;
	return true;
}

/* All sums, with stacks as far as there may be so many. False when out of memory. */
static bool carry_stack_counts(struct generation *g)
{
	size_t i, count = g->old.stack_counts.count, limit = limit_of(g->c);
	const struct stack_count **all = pages_alloc((count + 1) * sizeof(*all));
	uint64_t totals[RECORD_EVENTS] = {0};
	uint32_t *now = g->counts;
	bool whole = all;

	for (i = 0; all && i < count; i++) {
		all[i] = &g->old.stack_counts.items[i];
		totals[all[i]->event] += all[i]->samples;
	}
	if (all)
		qsort_r(all, count, sizeof(*all), heaviest_first, totals);
	for (i = 0; i < count && whole; i++) {
		bool kept = bytes_of_stacks(g->c) < limit;

		whole = carry_stack_count(g, all[i], kept ? carry_stack(g, all[i]->node) : g->rest,
					  &now[all[i] - g->old.stack_counts.items]);
		if (!kept)
			g->merged.samples += all[i]->samples;
	}
	if (whole) {
		aggregate_live_moved(g->c, now, count);
		aggregate_peak_moved(g->c, now, count);
	}
	pages_free(all, (count + 1) * sizeof(*all));
	return whole;
}

static bool carry_aggregate(struct generation *g)
{
	struct collector *c = g->c;
	uint32_t earlier;

	if (!carry_open(g))
		return false;
	earlier = frames_marker(&c->frames, EARLIER);
	g->rest = earlier == FRAMES_NO_MEMORY ? 0 : aggregate_stack_of(c, &earlier, 1, 0);
	return g->rest && carry_threads(g) && carry_stack_counts(g) && carry_numbers(g) && carry_waits(g) &&
	       carry_ended(g) && !c->frames.strings.failed;
}

/* ---- what cannot fail: without memory something is looked up again, or coarser ---- */

/* Traces that are kept until later keep their stacks. */
static const struct stack_trace *carry_stack_trace(const struct stack_trace *kept, void *arg)
{
	struct stack_trace *t = (struct stack_trace *)kept;
	struct generation *g = arg;
	uint32_t id = atomic_load_explicit(&t->id, memory_order_relaxed);

	if (!id || t->generation + 1 != g->c->generation)
		return kept;
	t->generation = g->c->generation;
	atomic_store_explicit(&t->id, carry_node(g, id), memory_order_relaxed);
	return kept;
}

/* The others are as if they had never been seen: handlers must not take them for named. */
static void forget_stack_trace(struct stack_trace *t, void *arg)
{
	const struct generation *g = arg;

	if (t->generation != g->c->generation)
		atomic_store_explicit(&t->id, 0, memory_order_relaxed);
}

/* Runs that are open go on where they were. */
static void carry_runs(struct generation *g)
{
	struct collector *c = g->c;
	size_t i;

	for (i = 0; i < c->runs.count; i++) {
		struct place *p = &c->runs.items[i];

		if (atomic_load(&zone.records.records[i].state) == RECORD_FREE) {
			memset(p, 0, sizeof(*p));
			continue;
		}
		p->node = carry_node(g, p->node);
		p->shown = carry_node(g, p->shown);
		p->thread = p->thread ? carry_thread(g, p->thread - 1) + 1 : 0;
	}
}

static void carry_records(struct generation *g)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	for (i = 0; i < count; i++) {
		struct thread_record *r = &zone.records.records[i];

		if (!r->thread_entry)
			continue;
		r->thread_entry = atomic_load(&r->state) == RECORD_FREE || r->thread_entry > g->old.threads.count
					  ? 0 : carry_thread(g, r->thread_entry - 1) + 1;
	}
}

static void carry_labels(struct generation *g)
{
	size_t i;

	for (i = 0; i < g->c->trace_contexts.count; i++)
		g->c->trace_contexts.items[i].labels = carry_text(g, g->c->trace_contexts.items[i].labels);
}

/* What is to be looked up, and which functions were. */
static void carry_native(struct generation *g)
{
	const struct frames *old = &g->old.frames;
	struct frames *now = &g->c->frames;
	size_t i;
	int merged;

	for (i = 0; i < old->late.count; i++)
		for (merged = 0; merged < 2; merged++) {
			uint32_t frame = g->frames[merged][old->late.items[i].frame];
			struct late_frame *to = frame ? PAGED_PUSH(&now->late) : NULL;

			if (to) {
				*to = old->late.items[i];
				to->frame = frame - 1;
			} else if (frame) {
				now->named.items[frame - 1].late = false;
			}
		}
	for (i = 0; i < old->ranges.count; i++) {
		const struct named_range *r = &old->ranges.items[i];
		struct named_range *to = carry_has_frame(g, r->frame) ? PAGED_PUSH(&now->ranges) : NULL;

		if (!to)
			continue;
		*to = *r;
		to->frame = carry_frame(g, r->frame, !g->frames[0][r->frame]);
	}
}

/* What is proved of the methods that are named. */
static void carry_methods(struct generation *g)
{
	const struct method_identities *old = &g->old.frames.methods;
	struct method_identities *now = &g->c->frames.methods;
	bool redefining = atomic_load(&zone.epochs.redefining);
	size_t i;

	for (i = 0; i < old->seen.count; i++) {
		const struct method_identity *m = &old->seen.items[i];
		struct method_names names = {.class_name = carry_known_text(g, m->names.class_name),
					     .name = carry_known_text(g, m->names.name)};

		if (m->chain.constant && names.class_name && names.name) {
			names.signature = carry_text(g, m->names.signature);
			method_identities_keep(now, m, &names);
		}
	}
	for (i = 0; i < old->redefined.capacity; i++) {
		const struct map_slot *s = &old->redefined.slots[i];
		uint32_t name = !s->used ? 0 : redefining ? carry_text(g, (uint32_t)s->key)
							  : carry_known_text(g, (uint32_t)s->key);
		uint32_t *slot = name ? map_put(&now->redefined, name, NULL) : NULL;

		if (slot)
			*slot = 1;
		else if (name)
			now->unsure = true;
	}
}

static void hand_over(struct generation *g)
{
	struct collector *c = g->c;
	uint32_t e;

	carry_records(g);
	carry_runs(g);
	carry_labels(g);
	survivors_carry(g);
	for (e = 0; e < c->options.events; e++)
		timeline_renew(&c->timelines[e], g->counts, g->count.counts, g->sums);
	sink_renewed(c, g);
	c->sources->change_kept(carry_stack_trace, g);
	stack_store_each(&zone.store, forget_stack_trace, g);
	carry_native(g);
	carry_methods(g);
	c->frames.strings.failed = false;
	c->merged.threads += g->merged.threads;
	c->merged.classes += g->merged.classes;
	c->merged.samples += g->merged.samples;
}

/* A trace of a former generation, in the newest one, with its stack; NULL: it is full, the sample will be lost. */
static const struct stack_trace *move_stack_trace(const struct stack_trace *kept, void *arg)
{
	struct collector *c = arg;
	struct stack_trace *t = (struct stack_trace *)stack_store_move(&zone.store, &c->kept, kept);
	bool named = t && t->generation == c->generation && atomic_load(&t->id);

	if (t && t != kept && !named && kept->generation == c->generation) {
		t->generation = c->generation;
		atomic_store_explicit(&t->id, atomic_load(&((struct stack_trace *)kept)->id), memory_order_relaxed);
		c->bytes_kept += sizeof(*t) + t->length * sizeof(t->frame[0]); /* once for all that wait there */
	}
	return t;
}

void generation_move_kept(struct collector *c)
{
	c->sources->change_kept(move_stack_trace, c);
}

/*
 * Threads that work may fill the new memory before the collector comes by: what is kept is moved before they know of
 * it. What threads that are inside just then begin to keep comes later, so some room is left for it.
 */
bool generation_renew_stacks(struct collector *c)
{
	if (!stack_store_open_next(&zone.store))
		return false;
	/* Not by what the memory holds more of then: threads add to it meanwhile. */
	c->bytes_kept = 0;
	generation_move_kept(c);
	stack_store_reserve(&zone.store, &c->kept, MIN(zone.store.size / 32, (size_t)LATE_MOST));
	return stack_store_renew(&zone.store);
}

static bool renew(struct generation *g)
{
	struct collector *c = g->c;

	held_set_aside(c);
	if (carry_aggregate(g)) {
		c->generation++;
		hand_over(g);
		held_drop(&g->old);
		carry_close(g);
		return true;
	}
	carry_close(g);
	held_put_back(c, &g->old);
	return false;
}

bool generation_begin(struct collector *c)
{
	size_t held = held_bytes(c);
	bool due = generation_is_due(c), begun;
	struct generation *g;

	if (c->pinned)
		return false;
	if (!zone.store.renewed && stack_store_bytes(&zone.store) > worth_it(c))
		c->renew_stacks = true;
	if (c->nodes.count <= MANY_STACKS && !due)
		return false;
	g = pages_alloc(sizeof(*g));
	if (!g)
		return false;
	g->c = c;
	g->old = *c;
	c->merges_hidden = c->merges_hidden || carry_count_hidden(c) > MERGE_AT;
	g->merges_hidden = c->merges_hidden;
	begun = renew(g);
	pages_free(g, sizeof(*g));
	/* Where nearly all is wanted, not so soon again; nor where there was no memory. */
	c->renew_at = (begun ? held_bytes(c) : held) * 2 + first_at(c) / 2;
	return begun;
}
