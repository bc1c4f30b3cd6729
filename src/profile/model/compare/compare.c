#include "profile/model/compare/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "profile/model/compare/compare_callers.h"
#include "profile/model/profile_unit.h"

#define SAMPLES_TO_TELL 10 /* of both files together: fewer cannot be beyond chance */

/* ---- numbers ---- */

uint64_t compare_amount(const struct comparison *c, const struct profile_stack *s)
{
	return c->by_weight ? s->weight : s->samples;
}

static bool is_java(const struct profile_frame *f)
{
	return f->class_name && f->kind != FRAME_OTHER;
}

/* How many times the variance of an amount of samples of stack S is that of independent ones. */
static double spread_of(const struct profile *p, const struct profile_stack *s, bool timed)
{
	uint32_t i = s->depth;

	if (s->depth && p->frames[s->frames[s->depth - 1]].kind == FRAME_KERNEL)
		return CHANCE_JVM;
	if (s->depth && p->frames[s->frames[s->depth - 1]].kind == FRAME_INTERPRETED)
		return CHANCE_NATIVE;
	if (s->depth && is_java(&p->frames[s->frames[s->depth - 1]]))
		return timed ? CHANCE_TIMED : CHANCE_JAVA;
	while (i > 0 && !is_java(&p->frames[s->frames[i - 1]]))
		i--;
	return i ? CHANCE_NATIVE : CHANCE_JVM;
}

double compare_variance(const struct comparison *c, unsigned side, const struct profile_stack *s)
{
	double amount = (double)compare_amount(c, s);
	const struct profile *p = c->profiles[side];
	bool inlined = s->depth && p->frames[s->frames[s->depth - 1]].kind == FRAME_INLINED;

	return spread_of(p, s, c->blocks[side]) * amount * amount / (double)MAX(s->samples, 1u) +
	       (inlined ? CHANCE_OF_INLINED * amount * (double)c->whole[side] : 0);
}

static void add_part(struct compare_part *part, unsigned side, const struct profile_stack *s, uint64_t amount,
		     double variance, unsigned block)
{
	part->amount[side] += amount;
	part->samples[side] += s->samples;
	part->variance[side] += variance;
	if (part->blocks[side])
		part->blocks[side][block] += (double)amount;
}

/* Add a stack to the rows of its frames; SEEN holds for each row the last stack (+ 1) in which it was counted. */
static void add_stack(struct comparison *c, unsigned side, uint32_t number, uint32_t *seen)
{
	const struct profile *p = c->profiles[side];
	const struct profile_stack *s = &p->stacks[number];
	uint64_t amount = compare_amount(c, s);
	double variance = compare_variance(c, side, s);
	unsigned block = compare_block(c, side, number);
	uint32_t i, row = c->row_of[side][c->names[side].no_frames];

	for (i = 0; i < s->depth || !i; i++) {
		if (s->depth)
			row = c->row_of[side][c->names[side].of_frame[s->frames[i]]];
		if (seen[row] == number + 1)
			continue;
		seen[row] = number + 1;
		add_part(&c->rows[row].total, side, s, amount, variance, block);
		c->rows[row].distance += (double)(s->depth - i) * (double)s->samples;
	}
	add_part(&c->rows[row].self, side, s, amount, variance, block);
	if (c->blocks[side])
		c->blocks[side][(size_t)c->count * 2 * PROFILE_BLOCKS + block] += (double)amount;
	c->samples[side] += s->samples;
	c->runs[side].variance += variance;
}

/* The rows of names, which both profiles have. */
static bool number_rows(struct comparison *c, unsigned side, struct map *places)
{
	const struct name_table *t = &c->names[side];
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		const char *name = name_text(t, i);
		bool fresh;
		uint32_t *at = map_put(places, strings_add(&c->texts, name, strlen(name)), &fresh);

		if (!at || c->texts.failed)
			return false;
		if (fresh) {
			*at = c->count++;
			c->rows[*at].name = name;
			c->rows[*at].explained_by = COMPARE_NO_ROW;
		}
		c->row_of[side][i] = *at;
	}
	return true;
}

/* Where the time of samples is known, each part gets its blocks, and the whole the last ones. */
static bool make_blocks(struct comparison *c, unsigned side)
{
	const struct profile *p = c->profiles[side];
	double *at;
	uint32_t i;

	if (!p->blocks || p->blocks_of != p->stacks)
		return true;
	at = c->blocks[side] = calloc(((size_t)c->count * 2 + 1) * PROFILE_BLOCKS, sizeof(*at));
	for (i = 0; at && i < c->count; i++, at += 2 * PROFILE_BLOCKS) {
		c->rows[i].self.blocks[side] = at;
		c->rows[i].total.blocks[side] = at + PROFILE_BLOCKS;
	}
	return at;
}

static int add_profiles(struct comparison *c)
{
	struct map places = {.slots = NULL};
	bool ok = true;
	uint32_t *seen, i;
	unsigned side;

	for (side = 0; side < SIDES && ok; side++) {
		c->row_of[side] = calloc((size_t)c->names[side].count + 1, sizeof(*c->row_of[side]));
		ok = c->row_of[side] && number_rows(c, side, &places);
	}
	map_free(&places);
	c->blocked = c->count;
	for (side = 0; side < SIDES && ok; side++) {
		seen = calloc((size_t)c->count + 1, sizeof(*seen));
		ok = seen && make_blocks(c, side);
		for (i = 0; i < c->profiles[side]->stack_count; i++)
			c->whole[side] += compare_amount(c, &c->profiles[side]->stacks[i]);
		for (i = 0; ok && i < c->profiles[side]->stack_count; i++)
			add_stack(c, side, i, seen);
		free(seen);
	}
	for (i = 0; ok && i < c->count; i++) {
		const struct compare_part *t = &c->rows[i].total;

		c->rows[i].distance /= (double)MAX(t->samples[BEFORE] + t->samples[AFTER], 1u);
	}
	return ok ? 0 : -ENOMEM;
}

/* ---- changes ---- */

static void choose(struct comparison *c)
{
	bool unknown = strcmp(profile_unit_shown(c->profiles[BEFORE]), FORMAT_UNKNOWN_UNIT) == 0 ||
		       strcmp(profile_unit_shown(c->profiles[AFTER]), FORMAT_UNKNOWN_UNIT) == 0;
	unsigned side;

	if (c->per[BEFORE] > 0 && c->per[AFTER] > 0)
		c->by = BY_UNIT;
	else
		c->by = !unknown && c->profiles[BEFORE]->duration && c->profiles[AFTER]->duration ? BY_SECOND :
												    BY_SHARE;
	for (side = 0; side < SIDES; side++) {
		struct chance_run *run = &c->runs[side];

		if (c->by == BY_SECOND)
			c->per[side] = (double)c->profiles[side]->duration / 1e9;
		run->whole = (double)c->whole[side];
		if (c->profiles[side]->weight_kind == WEIGHT_WAIT || c->profiles[side]->weight_kind == WEIGHT_IO)
			run->uneven = CHANCE_OF_WAITS;
		run->per = c->by == BY_SHARE ? MAX(run->whole, 1.0) : c->per[side];
	}
}

static bool can_tell(const struct compare_part *p)
{
	return p->samples[BEFORE] + p->samples[AFTER] >= SAMPLES_TO_TELL;
}

/* Methods that stand in the same stacks, as a thread's outermost ones, have one change. */
static uint32_t count_tests(const struct comparison *c)
{
	struct map known = {.slots = NULL};
	uint32_t i, n = 0;
	unsigned k;

	for (i = 0; i < c->count; i++)
		for (k = 0; k < 2; k++) {
			const struct compare_part *p = k ? &c->rows[i].total : &c->rows[i].self;
			bool fresh = true;

			if (can_tell(p))
				map_put(&known, hash_mix(p->amount[BEFORE]) ^ p->amount[AFTER], &fresh);
			n += can_tell(p) && fresh;
		}
	map_free(&known);
	return n;
}

/*
 * The variances of ROW as its blocks show them, where that is more. By the unit of work its share of each block
 * counts: a thread that got no CPU for a while has not worked.
 */
static void look_at_blocks(const struct comparison *c, unsigned side, const struct compare_part *p,
			   struct chance_row *row)
{
	const double *whole = c->blocks[side] + (size_t)c->blocked * 2 * PROFILE_BLOCKS;
	double left[PROFILE_BLOCKS], share = (double)p->amount[side] / (double)MAX(c->whole[side], 1u), variance;
	unsigned i;

	for (i = 0; i < PROFILE_BLOCKS; i++)
		left[i] = p->blocks[side][i] - share * whole[i];
	variance = chance_block_variance(left, PROFILE_BLOCKS);
	row->share_variance = MAX(row->share_variance, variance / ((double)c->whole[side] * (double)c->whole[side]));
	if (c->by == BY_SECOND)
		variance = chance_block_variance(p->blocks[side], PROFILE_BLOCKS);
	row->variance = MAX(row->variance, variance);
}

void compare_change(const struct comparison *c, struct compare_part *p)
{
	struct chance_row rows[SIDES];
	unsigned side;

	for (side = 0; side < SIDES; side++) {
		const struct chance_run *run = &c->runs[side];
		double one = run->whole / (double)MAX(c->samples[side], 1u);

		/* one sample more or less: what was never seen may have been missed */
		rows[side].amount = (double)p->amount[side];
		rows[side].variance = p->variance[side] + CHANCE_JAVA * one * one;
		rows[side].share_variance = chance_share_variance(rows[side].amount, rows[side].variance, run->whole,
								  run->variance);
		if (p->blocks[side] && c->whole[side])
			look_at_blocks(c, side, p, &rows[side]);
	}
	p->change = chance_row(c->runs, rows, c->deviations, c->by == BY_SHARE);
	p->verdict = p->change.beyond && can_tell(p) ? VERDICT_CHANGED : VERDICT_CHANCE;
}

static void change_of_whole(struct comparison *c)
{
	struct chance_run runs[SIDES] = {c->runs[BEFORE], c->runs[AFTER]};
	unsigned side;

	for (side = 0; side < SIDES; side++)
		if (c->blocks[side] && c->by == BY_SECOND)
			runs[side].variance = MAX(runs[side].variance, chance_block_variance(
				c->blocks[side] + (size_t)c->blocked * 2 * PROFILE_BLOCKS, PROFILE_BLOCKS));
	c->change = chance_whole(runs, chance_of_all(1));
}

static uint64_t size(const uint64_t v[SIDES])
{
	return v[BEFORE] > v[AFTER] ? v[BEFORE] - v[AFTER] : v[AFTER] - v[BEFORE];
}

static int by_change(const void *a, const void *b)
{
	const struct compare_row *x = a, *y = b;
	uint64_t self_x = size(x->self.amount), self_y = size(y->self.amount);
	uint64_t total_x = size(x->total.amount), total_y = size(y->total.amount);

	if (self_x != self_y)
		return self_x < self_y ? 1 : -1;
	if (total_x != total_y)
		return total_x < total_y ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Names that stand for nothing, as threads, are no rows; the others get their order. */
static int sort_rows(struct comparison *c)
{
	uint32_t *place = calloc((size_t)c->count + 1, sizeof(*place)), i, kept = 0;
	unsigned side;

	if (!place)
		return -ENOMEM;
	for (i = 0; i < c->count; i++)
		c->rows[i].explained_by = i; /* where it was */
	qsort(c->rows, c->count, sizeof(*c->rows), by_change);
	for (i = 0; i < c->count; i++)
		place[c->rows[i].explained_by] = i;
	for (side = 0; side < SIDES; side++)
		for (i = 0; i < c->names[side].count; i++)
			c->row_of[side][i] = place[c->row_of[side][i]];
	for (i = 0; i < c->count; i++) {
		const struct compare_part *t = &c->rows[i].total;

		c->rows[i].explained_by = COMPARE_NO_ROW;
		if (t->amount[BEFORE] || t->amount[AFTER])
			kept = i + 1;
	}
	c->count = kept;
	free(place);
	return 0;
}

int compare_build(struct comparison *c, unsigned style)
{
	unsigned side;
	uint32_t i;
	int rc = 0;

	for (side = 0; side < SIDES && rc == 0; side++)
		rc = name_table_build(&c->names[side], c->profiles[side], style);
	c->rows = rc ? NULL : calloc((size_t)c->names[BEFORE].count + c->names[AFTER].count + 1, sizeof(*c->rows));
	if (!c->rows)
		return -ENOMEM;
	rc = add_profiles(c);
	if (rc == 0)
		rc = sort_rows(c);
	if (rc)
		return rc;
	choose(c);
	c->tests = count_tests(c);
	c->deviations = chance_of_all(c->tests);
	if (c->by != BY_SHARE)
		change_of_whole(c);
	for (i = 0; i < c->count; i++) {
		compare_change(c, &c->rows[i].self);
		compare_change(c, &c->rows[i].total);
	}
	return compare_callers(c);
}

void compare_free(struct comparison *c)
{
	unsigned side;

	for (side = 0; side < SIDES; side++) {
		name_table_free(&c->names[side]);
		free(c->row_of[side]);
		free(c->blocks[side]);
	}
	strings_free(&c->texts);
	free(c->rows);
	memset(c, 0, sizeof(*c));
}
