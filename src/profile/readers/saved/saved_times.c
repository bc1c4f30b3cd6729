/*
 * saved_times.c - the member `times` of a result in JSON (writers/json_times.c), back into the moments of its event.
 *
 * It is believed only as a whole, and only if it fits the stacks in front of it: else a file of a few bytes could claim
 * samples that were never taken. Years that never were are left out: of a recording whose clock jumped we write such.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/wide.h"
#include "profile/readers/saved/saved_reader.h"

#define PARTS 64 /* of a sample's weight as a rule, to which that of each may be rounded (exports/sample_times.c) */
#define TOO_HEAVY "more weight than its stacks"

enum column { AT, STACK, THREAD, SPAN, SAMPLES, WEIGHT, COLUMNS };

struct table {
	uint64_t step, steps, quantum, count;
	/* as they stand there: numbers of stacks and threads are the file's, weights are quanta */
	VECTOR(struct profile_moment) rows;
	size_t lengths[COLUMNS];
	bool has[COLUMNS];
};

static const char *const names[COLUMNS] = {"at", "stack", "thread", "span", "samples", "weight"};

static void wrong(struct saved *s, const char *what)
{
	saved_wrong(s, "times", what);
}

/* ---- what stands there ---- */

static void put(struct profile_moment *row, enum column column, uint64_t value)
{
	uint32_t *const small[COLUMNS] = {&row->at, &row->stack, &row->thread, &row->span, &row->samples, NULL};

	if (small[column])
		*small[column] = (uint32_t)value;
	else
		row->weight = value;
}

/* A number of COLUMN, or null. */
static uint64_t read_value(struct saved *s, enum column column)
{
	uint64_t value;

	if ((column == STACK || column == THREAD) && json_peek(&s->j) == 'n') {
		json_skip(&s->j);
		return column == STACK ? PROFILE_NO_STACK : PROFILE_NO_THREAD;
	}
	value = json_number(&s->j);
	if (column != WEIGHT && value >= UINT32_MAX)
		wrong(s, "a number beyond any result");
	return value;
}

static void read_item(struct saved *s, void *table, size_t i, unsigned column)
{
	struct table *t = table;
	struct profile_moment *row = i < t->rows.count ? &t->rows.items[i] : VECTOR_PUSH(&t->rows);

	s->no_memory |= !row;
	if (row)
		put(row, column, read_value(s, column));
}

static void read_member(struct saved *s, struct table *t, const char *key)
{
	unsigned column = saved_column_named(names, COLUMNS, key);

	if (column < COLUMNS)
		t->lengths[column] = saved_column(s, "times", &t->has[column], read_item, t, column);
	else if (!json_take_numbers(&s->j, key, {"step_ns", &t->step}, {"steps", &t->steps},
				    {"quantum", &t->quantum}, {"count", &t->count}))
		json_skip(&s->j);
}

/* ---- whether it can be ---- */

static void check_shape(struct saved *s, const struct table *t)
{
	unsigned i;

	if (!t->step || !t->quantum)
		wrong(s, "steps or weights of nothing");
	if (!t->has[AT] || !t->has[STACK])
		wrong(s, "no `at`, or no `stack`");
	for (i = 0; i < COLUMNS; i++)
		if (t->has[i] && t->lengths[i] != t->count)
			wrong(s, "columns that are not as long as `count` says");
}

/* Whether they are of more time than a result can be of, which is said then. */
static bool is_too_long(const struct saved *s, const struct table *t)
{
	uint64_t all;

	if (!__builtin_mul_overflow(t->step, t->steps, &all) && all <= SAVED_LONGEST)
		return false;
	buffer_printf(s->notes, "%s: when its samples were taken is left out, as that would be in over ten years\n",
		      s->event);
	return true;
}

/* Row I with what missing columns say. */
static struct profile_moment whole(const struct saved *s, const struct table *t, size_t i)
{
	struct profile_moment row = t->rows.items[i];

	if (!t->has[THREAD])
		row.thread = row.stack < s->places.count ? s->places.items[row.stack].thread : PROFILE_NO_THREAD;
	if (!t->has[SAMPLES])
		row.samples = 1;
	if (!t->has[WEIGHT])
		row.weight = row.samples;
	return row;
}

static void check_place(struct saved *s, const struct table *t, const struct profile_moment *row)
{
	if ((uint64_t)row->at + row->span >= t->steps)
		wrong(s, "a time behind its last step");
	if (row->stack != PROFILE_NO_STACK && row->stack >= s->places.count)
		wrong(s, "a stack that is not there");
	if (row->thread != PROFILE_NO_THREAD && row->thread >= s->threads_said.count)
		wrong(s, "a thread that is not there");
}

/* A sum of all stacks, or of a part of them. */
struct sum {
	uint64_t samples, weight, rows;
};

/* Whether 64 bits hold what is added to SUM. */
static bool add(struct sum *sum, uint64_t samples, uint64_t weight)
{
	sum->rows++;
	return !__builtin_add_overflow(sum->samples, samples, &sum->samples) &&
	       !__builtin_add_overflow(sum->weight, weight, &sum->weight);
}

/* What ROW says goes to ALL and to its stack. */
static void count_row(struct saved *s, const struct table *t, const struct profile_moment *row, struct sum *all)
{
	struct saved_place *place = row->stack == PROFILE_NO_STACK ? NULL : &s->places.items[row->stack];
	uint64_t weight;

	if (__builtin_mul_overflow(row->weight, t->quantum, &weight) || !add(all, row->samples, weight)) {
		wrong(s, TOO_HEAVY);
		return;
	}
	if (!place)
		return;
	place->rows++;
	place->timed += row->samples;
	place->weight_timed += weight; /* no more than that of all */
}

/* By how much weights of so many SAMPLES in ROWS may be rounded, where one of ALL weighs so much as a rule. */
static uint64_t rounded(const struct sum *all, uint64_t samples, uint64_t rows)
{
	return wide_add(wide_scale(samples, all->samples ? all->weight / all->samples : 0, PARTS - 1, PARTS), rows);
}

/* Whether what was counted is what the stacks have; rows without a stack may be of any. */
static void compare(struct saved *s, const struct sum *stacks, const struct sum *rows)
{
	bool whole = true;
	size_t i;

	for (i = 0; i < s->places.count; i++)
		whole &= s->places.items[i].timed >= s->places.items[i].samples;
	for (i = 0; i < s->places.count; i++) {
		const struct saved_place *p = &s->places.items[i];
		uint64_t most = rounded(stacks, p->timed, p->rows);

		if (p->timed > p->samples)
			wrong(s, "more samples than its stacks");
		if (p->weight_timed > p->weight && p->weight_timed - p->weight > most)
			wrong(s, TOO_HEAVY);
		if (whole && p->weight > p->weight_timed && p->weight - p->weight_timed > most)
			wrong(s, "less weight than its stacks");
	}
	if (rows->samples > stacks->samples)
		wrong(s, "more samples than its stacks");
	if (rows->samples < stacks->samples)
		wrong(s, "fewer samples than its stacks");
	if (rows->weight > stacks->weight &&
	    rows->weight - stacks->weight > rounded(stacks, rows->samples, rows->rows))
		wrong(s, TOO_HEAVY);
}

static void check_rows(struct saved *s, const struct table *t)
{
	struct sum stacks = {0}, rows = {0};
	uint32_t before = 0;
	size_t i;

	for (i = 0; i < s->places.count; i++)
		if (!add(&stacks, s->places.items[i].samples, s->places.items[i].weight))
			wrong(s, TOO_HEAVY);
	for (i = 0; i < t->rows.count && saved_goes_on(s); i++) {
		const struct profile_moment row = whole(s, t, i);

		check_place(s, t, &row);
		if (row.at < before)
			wrong(s, "times in no order");
		before = row.at;
		if (saved_goes_on(s))
			count_row(s, t, &row, &rows);
	}
	if (saved_goes_on(s))
		compare(s, &stacks, &rows);
}

/* ---- what it comes to ---- */

/*
 * What ROW, which weighs so much, has of PLACE: weights there are rounded, maybe to 0, and all rows of a stack whose
 * samples all have times are together what it is.
 */
static uint64_t share_of(struct saved_place *place, const struct profile_moment *row, uint64_t weight)
{
	uint64_t all, before;

	if (!place || !place->timed || place->timed < place->samples)
		return weight;
	all = place->weight_timed ? place->weight_timed : place->timed;
	before = place->weight_passed;
	place->passed += place->weight_timed ? weight : row->samples;
	place->weight_passed = wide_scale(place->passed, place->weight, 0, all);
	return place->weight_passed - before;
}

static void add_row(struct saved *s, const struct table *t, const struct profile_moment *row)
{
	struct saved_place *place = row->stack == PROFILE_NO_STACK ? NULL : &s->places.items[row->stack];
	struct moments *to = &s->aggregate->families.items[s->family].moments;

	/* of stacks that were not asked for nothing is told, nor of what may be of such */
	if (place ? place->count == SAVED_NOT_WANTED : context_filter_is_set(s->context_filter))
		return;
	if (s->part) {
		saved_add_part(s, row, place, t->step, share_of(place, row, row->weight * t->quantum));
		return;
	}
	if (!to->step)
		to->step = t->step;
	moments_add(to, (int64_t)(row->at * t->step), row->span * t->step, place ? place->count : PROFILE_NO_STACK,
		    row->thread == PROFILE_NO_THREAD ? row->thread : s->threads_said.items[row->thread].thread,
		    row->samples, row->weight * t->quantum);
}

static void take_rows(struct saved *s, const struct table *t)
{
	size_t i;

	check_rows(s, t);
	if (saved_goes_on(s) && s->part)
		saved_begin_part(s);
	for (i = 0; saved_goes_on(s) && i < t->rows.count; i++) {
		const struct profile_moment row = whole(s, t, i);

		add_row(s, t, &row);
	}
}

void saved_times(struct saved *s)
{
	struct table t = {.quantum = 1};
	const char *key;

	if (!s->times_wanted || s->family == UINT32_MAX) {
		json_skip(&s->j);
		return;
	}
	if (!json_open(&s->j, '{'))
		return;
	while (saved_goes_on(s) && (key = json_key(&s->j)))
		read_member(s, &t, key);
	if (saved_goes_on(s))
		check_shape(s, &t);
	if (saved_goes_on(s) && !is_too_long(s, &t))
		take_rows(s, &t);
	free(t.rows.items);
}
