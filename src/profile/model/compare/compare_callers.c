/*
 * compare_callers.c - the outermost callers are looked at first. The stacks of one that have a listed row below it are
 * left out of its total; if what is left has changed within chance, it is not listed itself, and those farther in are
 * looked at without it. So of a chain of callers the innermost stays, and of one whose change has no single place
 * below it the one that all of it meets in.
 */
#include "profile/model/compare/compare_callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/vector.h"

#define NOT_IN_STACK UINT32_MAX

/* A stack's rows that may be listed, root first; the last one is on top if `on_top`. */
struct part_stack {
	uint32_t first, count; /* in search.places */
	unsigned side;
	bool on_top;
	unsigned block;
	uint64_t amount, samples;
	double variance;
};

struct search {
	struct comparison *c;
	VECTOR(uint32_t) places;        /* rows */
	VECTOR(struct part_stack) stacks;
	VECTOR(uint32_t) candidates;    /* rows whose total has changed, the outermost first */
	uint32_t *first;                /* by row: its first place + 1; 0: none */
	uint32_t *next, *stack_of;      /* by place: the next one of its row + 1, and whose it is */
	double *with;                   /* by row: how much of the change is in stacks with it below; else 0 */
	VECTOR(uint32_t) touched;       /* rows with such a number */
};

static bool may_be_listed(const struct compare_row *r)
{
	return r->self.verdict == VERDICT_CHANGED || r->total.verdict == VERDICT_CHANGED;
}

static bool add_stack(struct search *s, unsigned side, uint32_t number)
{
	struct comparison *c = s->c;
	const struct profile_stack *stack = &c->profiles[side]->stacks[number];
	struct part_stack *to;
	size_t first = s->places.count;
	uint32_t i, row, *place;

	for (i = 0; i < stack->depth; i++) {
		row = c->row_of[side][c->names[side].of_frame[stack->frames[i]]];
		if (!may_be_listed(&c->rows[row]))
			continue;
		place = VECTOR_PUSH(&s->places);
		if (!place)
			return false;
		*place = row;
	}
	if (s->places.count == first)
		return true;
	to = VECTOR_PUSH(&s->stacks);
	if (!to)
		return false;
	row = c->row_of[side][c->names[side].of_frame[stack->frames[stack->depth - 1]]];
	*to = (struct part_stack){
		(uint32_t)first, (uint32_t)(s->places.count - first), side, may_be_listed(&c->rows[row]),
		compare_block(c, side, number), compare_amount(c, stack), stack->samples,
		compare_variance(c, side, stack)};
	return true;
}

/*
 * The nearest listed row below ROW's outermost place in stack T, ROW itself if its own part is listed and it is on top;
 * COMPARE_NO_ROW: none; NOT_IN_STACK.
 */
static bool below(const struct search *s, const struct part_stack *t, uint32_t row, uint32_t *found)
{
	const uint32_t *rows = s->places.items + t->first;
	uint32_t i = 0;

	*found = COMPARE_NO_ROW;
	while (i < t->count && rows[i] != row)
		i++;
	if (i == t->count)
		return false;
	if (t->on_top && rows[t->count - 1] == row && s->c->rows[row].self.verdict == VERDICT_CHANGED) {
		*found = row;
		return true;
	}
	for (i++; i < t->count; i++) {
		const struct compare_row *r = &s->c->rows[rows[i]];
		bool top = t->on_top && i + 1 == t->count;

		if (rows[i] != row && (r->total.verdict == VERDICT_CHANGED ||
				       (r->self.verdict == VERDICT_CHANGED && top)))
			*found = rows[i]; /* the innermost: callers in between may be explained themselves */
	}
	return true;
}

static void add_below(struct search *s, uint32_t row, double amount)
{
	uint32_t *touched = s->with[row] == 0 && amount != 0 ? VECTOR_PUSH(&s->touched) : NULL;

	if (touched)
		*touched = row;
	if (touched || s->with[row] != 0)
		s->with[row] += amount;
}

/* The row below that has most of the change of R, the same way; COMPARE_NO_ROW: none. The numbers are 0 again. */
static uint32_t most_below(struct search *s, const struct compare_row *r)
{
	double moved = r->total.change.after - r->total.change.before;
	uint32_t most = COMPARE_NO_ROW;
	size_t k;

	for (k = 0; k < s->touched.count; k++) {
		uint32_t i = s->touched.items[k];
		double with = s->with[i] * s->with[i];
		double best = most == COMPARE_NO_ROW ? 0 : s->with[most] * s->with[most];

		if (s->with[i] * moved > 0 && (with > best || (with == best && i < most)))
			most = i;
	}
	for (k = 0; k < s->touched.count; k++)
		s->with[s->touched.items[k]] = 0;
	s->touched.count = 0;
	return most;
}

/* Look at the total of ROW without what is listed below it. */
static void judge(struct search *s, uint32_t row)
{
	struct comparison *c = s->c;
	struct compare_row *r = &c->rows[row];
	double blocks[SIDES][PROFILE_BLOCKS] = {{0}};
	struct compare_part left = {.blocks = {c->blocks[BEFORE] ? blocks[BEFORE] : NULL,
					       c->blocks[AFTER] ? blocks[AFTER] : NULL}};
	uint32_t at, found, most;

	for (at = s->first[row]; at; at = s->next[at - 1]) {
		const struct part_stack *t = &s->stacks.items[s->stack_of[at - 1]];

		if (!below(s, t, row, &found))
			continue;
		if (found == COMPARE_NO_ROW) {
			left.amount[t->side] += t->amount;
			left.samples[t->side] += t->samples;
			left.variance[t->side] += t->variance;
			blocks[t->side][t->block] += (double)t->amount;
		} else {
			add_below(s, found, (t->side == AFTER ? 1 : -1) * (double)t->amount / c->runs[t->side].per);
		}
	}
	compare_change(c, &left);
	most = most_below(s, r);
	if (left.verdict == VERDICT_CHANGED)
		return;
	r->total.verdict = VERDICT_EXPLAINED;
	r->explained_by = most;
}

static int outermost_first(const void *a, const void *b, void *arg)
{
	const struct compare_row *rows = arg;
	const struct compare_row *x = &rows[*(const uint32_t *)a], *y = &rows[*(const uint32_t *)b];

	return x->distance < y->distance ? 1 : x->distance > y->distance ? -1 : strcmp(x->name, y->name);
}

/* Nothing that explains another has been explained meanwhile: it is asked who explains that. */
static void follow(struct comparison *c)
{
	uint32_t i, by, steps;

	for (i = 0; i < c->count; i++) {
		by = c->rows[i].explained_by;
		for (steps = 0; by != COMPARE_NO_ROW && by != i && steps < c->count &&
				!compare_is_listed(&c->rows[by]); steps++)
			by = c->rows[by].explained_by;
		c->rows[i].explained_by = by;
	}
}

/* Chain the places of each row, one a stack, in the order of the stacks. */
static bool index_rows(struct search *s)
{
	size_t k, i;

	s->first = calloc((size_t)s->c->count + 1, sizeof(*s->first));
	s->next = malloc((s->places.count + 1) * sizeof(*s->next));
	s->stack_of = malloc((s->places.count + 1) * sizeof(*s->stack_of));
	if (!s->first || !s->next || !s->stack_of)
		return false;
	for (k = s->stacks.count; k-- > 0;)
		for (i = 0; i < s->stacks.items[k].count; i++) {
			uint32_t place = s->stacks.items[k].first + (uint32_t)i, row = s->places.items[place];
			uint32_t behind = s->first[row];

			s->stack_of[place] = (uint32_t)k;
			/* of a stack that has the row several times, one is enough */
			s->next[place] = behind && s->stack_of[behind - 1] == k ? s->next[behind - 1] : behind;
			s->first[row] = place + 1;
		}
	return true;
}

static bool prepare(struct search *s)
{
	struct comparison *c = s->c;
	uint32_t i, *place;
	unsigned side;

	for (i = 0; i < c->count; i++)
		if (c->rows[i].total.verdict == VERDICT_CHANGED) {
			place = VECTOR_PUSH(&s->candidates);
			if (!place)
				return false;
			*place = i;
		}
	if (!s->candidates.count)
		return true;
	for (side = 0; side < SIDES; side++)
		for (i = 0; i < c->profiles[side]->stack_count; i++)
			if (c->profiles[side]->stacks[i].depth && !add_stack(s, side, i))
				return false;
	s->with = calloc((size_t)c->count + 1, sizeof(*s->with));
	return s->with && index_rows(s);
}

int compare_callers(struct comparison *c)
{
	struct search s = {.c = c};
	bool ok = prepare(&s);
	size_t i;

	if (ok && s.candidates.count) {
		qsort_r(s.candidates.items, s.candidates.count, sizeof(*s.candidates.items), outermost_first, c->rows);
		for (i = 0; i < s.candidates.count; i++)
			judge(&s, s.candidates.items[i]);
		follow(c);
	}
	free(s.places.items);
	free(s.stacks.items);
	free(s.candidates.items);
	free(s.with);
	free(s.first);
	free(s.next);
	free(s.stack_of);
	free(s.touched.items);
	return ok ? 0 : -ENOMEM;
}
