/*
 * wall_owners.c - of wall time: who most likely had a lock while others waited for it.
 *
 * A stack says which methods a thread has gone through, not which locks it has. A method that asks for a lock may be
 * one that each request goes through, with the lock or without it. So times decide: who has a lock is there while
 * others wait for it, and who is there at other times just as often only happened to be. Without times nothing is said.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/model/work/activity_kind.h"
#include "profile/model/work/contention_inside.h"

#define ROWS 3u   /* the heaviest ones; others are not told */
#define LIKELY 8u /* methods of each that are looked at, the heaviest ones */
#define BINS 4096u
#define OWNER_OF 4 /* a thread, or those called like it, that has so much of it is an owner, not one by chance */

#define THERE 0.8  /* of the time in which others wait for a lock its owner has to be in one method */
#define ALWAYS 0.8 /* of the recording: other times are too few to tell more */
#define CHANCE 0.02

struct bins {
	uint64_t bits[BINS / 64];
};

struct likely {
	uint32_t method;
	uint64_t weight;
	uint8_t activity;
	struct bins there;
};

/* A row of contention. */
struct asked {
	uint32_t row;
	struct bins waits;
	uint32_t count, chosen;
	struct likely likely[LIKELY];
};

struct owners {
	struct finding *f;
	uint64_t bin;              /* ns */
	uint32_t used;             /* bins of the recording */
	uint32_t rows;
	struct asked asked[ROWS];
	uint32_t (*methods)[ROWS]; /* by stack: what a thread does there that may have the lock; NO_NAME_OF */
};

/* ---- who could ---- */

/*
 * Whether a thread of those that wait for ROW, which has no CPU in the method that asks, says nothing: on a busy
 * machine, and at a safepoint, they all stand so, with the lock or without it.
 */
static bool waits_for_cpu_too(const struct contended *row, uint8_t activity, uint32_t group)
{
	return (activity == ACTIVITY_RUNNABLE || activity == ACTIVITY_HELD) && group != NO_GROUP && group == row->group;
}

static bool has_gone_through(const struct finding *f, const struct profile_stack *s, uint32_t place)
{
	uint32_t i;

	for (i = 0; i < s->depth; i++)
		if (f->to->names.of_frame[s->frames[i]] == place)
			return true;
	return false;
}

/* What the thread of stack number I does that may have the lock of ROW; NO_NAME_OF: it has not. */
static uint32_t method_of(const struct finding *f, uint32_t i, const struct contended *row)
{
	const struct profile_stack *s = &f->p->stacks[i];
	const struct thread_groups *g = &f->to->work->groups;
	const char *lock;
	uint32_t waits_at, method;

	/* Object.wait gives the monitor back */
	if (s->state == THREAD_WAITING || row->unowned || !has_gone_through(f, s, row->place) ||
	    (!row->blocked && awaits_condition(f->p, s)))
		return NO_NAME_OF;
	waits_at = g->activity[i] == ACTIVITY_LOCK ? contention_place_in(f->p, s, &lock) : NO_NAME_OF;
	if ((waits_at != NO_NAME_OF && f->to->names.of_frame[waits_at] == row->place) ||
	    (s->thread != PROFILE_NO_THREAD && contention_is_waiter(f, row, g->groups[g->of_stack[i]].text)))
		return NO_NAME_OF;
	method = contention_method_in(f, s->frames, s->depth, row->place);
	if (method == row->place &&
	    waits_for_cpu_too(row, activity_of_owner(s->state, g->activity[i]), g->of_stack[i]))
		return NO_NAME_OF;
	return method;
}

static void find_methods(struct owners *o)
{
	uint32_t i, r;

	for (i = 0; i < o->f->p->stack_count; i++)
		for (r = 0; r < o->rows; r++)
			o->methods[i][r] = method_of(o->f, i, &o->f->rows.items[o->asked[r].row]);
}

/* The heaviest rows. */
static void take_rows(struct owners *o)
{
	const struct contended *rows = o->f->rows.items;
	size_t i;
	uint32_t r, last;

	for (i = 0; i < o->f->rows.count; i++) {
		for (r = o->rows; r > 0 && rows[i].weight > rows[o->asked[r - 1].row].weight; r--)
			;
		if (r == ROWS)
			continue;
		o->rows += o->rows < ROWS;
		for (last = o->rows - 1; last > r; last--)
			o->asked[last].row = o->asked[last - 1].row;
		o->asked[r].row = (uint32_t)i;
	}
}

/* ---- when ---- */

/* The bins of moment M: its samples stand for what follows them. */
static void bins_of(const struct owners *o, const struct profile_moment *m, uint32_t *from, uint32_t *end)
{
	uint64_t step = o->f->p->moment_step, at = m->at * step;
	uint64_t length = m->span * step + m->weight / MAX(m->samples, 1u);

	*from = (uint32_t)MIN(at / o->bin, (uint64_t)BINS - 1);
	*end = (uint32_t)MIN((at + MAX(length, 1ull) - 1) / o->bin, (uint64_t)BINS - 1) + 1;
}

static bool has(const struct bins *b, uint32_t bin)
{
	return b->bits[bin / 64] >> bin % 64 & 1;
}

static void mark(struct bins *b, uint32_t from, uint32_t end)
{
	for (; from < end; from++)
		b->bits[from / 64] |= 1ull << from % 64;
}

/* How many of FROM … END - 1. */
static uint32_t marked(const struct bins *b, uint32_t from, uint32_t end)
{
	uint32_t count = 0;

	for (; from < end; from++)
		count += has(b, from);
	return count;
}

/* What of moment M was while others waited for A. */
static uint64_t meanwhile(const struct owners *o, const struct asked *a, const struct profile_moment *m)
{
	uint32_t from, end;

	bins_of(o, m, &from, &end);
	return (uint64_t)((double)m->weight * marked(&a->waits, from, end) / (end - from));
}

static void mark_waits(struct owners *o)
{
	const struct profile *p = o->f->p;
	uint32_t from, end, r;
	uint64_t i;

	for (i = 0; i < p->moment_count; i++) {
		const struct profile_moment *m = &p->moments[i];

		if (m->stack == PROFILE_NO_STACK)
			continue;
		bins_of(o, m, &from, &end);
		o->used = MAX(o->used, end);
		for (r = 0; r < o->rows; r++)
			if (o->f->row_of[m->stack] == o->asked[r].row + 1)
				mark(&o->asked[r].waits, from, end);
	}
}

/* ---- who ---- */

static bool weigh_methods(struct owners *o)
{
	const struct profile *p = o->f->p;
	const uint8_t *activity = o->f->to->work->groups.activity;
	uint32_t r;
	uint64_t i;

	for (i = 0; i < p->moment_count; i++) {
		const struct profile_moment *m = &p->moments[i];

		for (r = 0; r < o->rows && m->stack != PROFILE_NO_STACK; r++) {
			uint32_t method = o->methods[m->stack][r];
			uint64_t weight = method == NO_NAME_OF ? 0 : meanwhile(o, &o->asked[r], m);

			if (weight && !contention_add(&o->f->methods, o->asked[r].row, method,
						      activity_of_owner(p->stacks[m->stack].state, activity[m->stack]),
						      weight))
				return false;
		}
	}
	return true;
}

/* The heaviest methods of each row. */
static void take_likely(struct owners *o)
{
	uint32_t r, k, last;
	size_t i;
	uint8_t a;

	for (i = 0; i < o->f->methods.list.count; i++) {
		const struct pair *pair = &o->f->methods.list.items[i];
		struct asked *asked = o->asked;

		for (r = 0; asked->row != pair->row; r++)
			asked++;
		for (k = asked->count; k > 0 && pair->weight > asked->likely[k - 1].weight; k--)
			;
		if (k == LIKELY)
			continue;
		asked->count += asked->count < LIKELY;
		for (last = asked->count - 1; last > k; last--)
			asked->likely[last] = asked->likely[last - 1];
		asked->likely[k] = (struct likely){.method = pair->what, .weight = pair->weight};
		for (a = 0; a < ACTIVITIES; a++)
			if (pair->by_activity[a] > pair->by_activity[asked->likely[k].activity])
				asked->likely[k].activity = a;
	}
}

static void mark_likely(struct owners *o)
{
	const struct profile *p = o->f->p;
	uint32_t from, end, r, k;
	uint64_t i;

	for (i = 0; i < p->moment_count; i++) {
		const struct profile_moment *m = &p->moments[i];

		for (r = 0; r < o->rows && m->stack != PROFILE_NO_STACK; r++)
			for (k = 0; k < o->asked[r].count; k++)
				if (o->methods[m->stack][r] == o->asked[r].likely[k].method) {
					bins_of(o, m, &from, &end);
					mark(&o->asked[r].likely[k].there, from, end);
				}
	}
}

/* How often L was there, one time after the other, while others waited for A. */
static uint32_t meetings(const struct owners *o, const struct asked *a, const struct likely *l)
{
	uint32_t i, count = 0;
	bool met = false;

	for (i = 0; i < o->used; i++) {
		met &= has(&l->there, i);
		if (!met && has(&l->there, i) && has(&a->waits, i)) {
			met = true;
			count++;
		}
	}
	return count;
}

/*
 * Whether who does L is there while others wait for A, and not by chance: who is there for a part of the other times
 * would meet each wait with that likelihood.
 */
static bool explains(const struct owners *o, const struct asked *a, const struct likely *l)
{
	uint32_t waits = marked(&a->waits, 0, o->used), both = 0, i;
	double chance = 1, often;

	for (i = 0; i < o->used; i++)
		both += has(&a->waits, i) && has(&l->there, i);
	if (!waits || both < THERE * waits || waits >= ALWAYS * o->used)
		return waits && both >= THERE * waits;
	often = (double)(marked(&l->there, 0, o->used) - both) / (o->used - waits);
	for (i = meetings(o, a, l); i > 0 && chance > CHANCE; i--)
		chance *= often;
	return chance <= CHANCE && often < THERE / 2;
}

static void choose(struct owners *o)
{
	uint32_t r, k;

	for (r = 0; r < o->rows; r++) {
		struct asked *a = &o->asked[r];
		struct contended *row = &o->f->rows.items[a->row];

		for (k = 0; k < a->count && !explains(o, a, &a->likely[k]); k++)
			;
		if (k == a->count)
			continue;
		row->method = a->likely[k].method;
		row->method_weight = row->known_weight = a->likely[k].weight;
		row->activity = a->likely[k].activity;
	}
}

static bool find_names(struct owners *o)
{
	const struct profile *p = o->f->p;
	const struct thread_groups *g = &o->f->to->work->groups;
	uint32_t r;
	uint64_t i;

	for (i = 0; i < p->moment_count; i++) {
		const struct profile_moment *m = &p->moments[i];

		if (m->stack == PROFILE_NO_STACK || p->stacks[m->stack].thread == PROFILE_NO_THREAD)
			continue;
		for (r = 0; r < o->rows; r++) {
			uint32_t method = o->f->rows.items[o->asked[r].row].method;
			uint64_t weight = method == NO_NAME_OF || o->methods[m->stack][r] != method ? 0 :
					  meanwhile(o, &o->asked[r], m);

			if (weight && !contention_add(&o->f->owners, o->asked[r].row,
						      g->groups[g->of_stack[m->stack]].text, ACTIVITY_RUNNING, weight))
				return false;
		}
	}
	return contention_take_owners(o->f);
}

static bool find_owners(struct owners *o)
{
	const struct profile *p = o->f->p;
	const struct profile_moment *last = &p->moments[p->moment_count - 1];
	uint64_t end = MAX(p->duration, (last->at + last->span + 1ull) * p->moment_step);

	/* ticks come late on a busy machine: no more is asked than that each has someone */
	o->bin = MAX(MAX(p->moment_step, p->interval), end / BINS + 1);
	o->methods = calloc((size_t)p->stack_count + 1, sizeof(*o->methods));
	if (!o->methods)
		return false;
	take_rows(o);
	find_methods(o);
	mark_waits(o);
	if (!weigh_methods(o))
		return false;
	take_likely(o);
	mark_likely(o);
	choose(o);
	return find_names(o);
}

/* Of wall time: which rows may be of several locks. False: no memory. */
static bool find_several(struct finding *f)
{
	uint32_t *waiting = calloc(f->rows.count + 1, sizeof(*waiting));
	uint32_t *having = calloc(f->rows.count + 1, sizeof(*having));
	bool whole = waiting && having;
	size_t i;

	for (i = 0; whole && i < f->threads.list.count; i++)
		waiting[f->threads.list.items[i].row]++;
	for (i = 0; whole && i < f->owners.list.count; i++) {
		const struct pair *pair = &f->owners.list.items[i];

		having[pair->row] += pair->weight >= f->rows.items[pair->row].known_weight / OWNER_OF;
	}
	for (i = 0; whole && i < f->rows.count; i++)
		f->rows.items[i].several = waiting[i] > 1 && !f->rows.items[i].unowned &&
					   (!f->rows.items[i].owner || having[i] > 1);
	free(waiting);
	free(having);
	return whole;
}


bool wall_owners_find(struct finding *f)
{
	struct owners *o = calloc(1, sizeof(*o));
	bool ok = o != NULL;

	if (ok && f->rows.count && profile_has_times(f->p)) {
		o->f = f;
		ok = find_owners(o);
		free(o->methods);
	}
	free(o);
	return ok && find_several(f);
}
