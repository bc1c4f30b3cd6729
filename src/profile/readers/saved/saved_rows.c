/*
 * saved_rows.c - rows as views/marks_json.c writes them, by columns. A part of the time is found by when its last
 * number was reported, also where a part of the whole (--from, --to) is asked for.
 */
#include "profile/readers/saved/saved_rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/wide.h"

enum column { COUNT, MIN_OF, MAX_OF, SUM, LAST, LAST_AT, COLUMNS };

static const char *const columns[COLUMNS] = {"count", "min", "max", "sum", "last", "last_at_ns"};

static void wrong(struct saved *s, const char *what)
{
	saved_wrong(s, "marks", what);
}

static uint64_t *number_of(struct profile_mark_part *part, enum column column)
{
	uint64_t *const numbers[COLUMNS] = {&part->count, &part->min,  &part->max,
					    &part->sum,   &part->last, &part->last_at};

	return numbers[column];
}

/* How many numbers stand there. */
static size_t read_column(struct saved *s, struct profile_mark_part *parts, enum column column)
{
	size_t n = 0;

	if (!json_open(&s->j, '['))
		return 0;
	while (!s->j.error && !s->wrong && json_item(&s->j)) {
		if (n == PROFILE_MARK_PARTS)
			wrong(s, "a row of more parts than there are");
		else
			*number_of(&parts[n++], column) = json_number(&s->j);
	}
	return n;
}

static void keep(struct saved *s, struct saved_rows *to, enum mark_row row, const struct profile_mark_part *parts,
		 size_t count)
{
	struct saved_row *kept;
	size_t i;

	for (i = 0; i < count && !s->no_memory; i++) {
		const struct profile_mark_part *p = &parts[i];

		to->too_long |= p->last_at > SAVED_LONGEST;
		if (!p->count || p->min > p->last || p->last > p->max || p->sum < p->max ||
		    (i && p->last_at < parts[i - 1].last_at)) {
			wrong(s, "a row whose numbers do not fit together");
			return;
		}
		kept = VECTOR_PUSH(&to->items);
		s->no_memory |= !kept;
		if (kept)
			*kept = (struct saved_row){row, *p};
	}
}

static void read_row(struct saved *s, struct saved_rows *to, bool *seen, struct profile_mark_part *parts)
{
	enum mark_row row = MARK_ROWS;
	size_t lengths[COLUMNS] = {0};
	const char *key;
	unsigned column;

	memset(parts, 0, PROFILE_MARK_PARTS * sizeof(*parts));
	if (!json_open(&s->j, '{'))
		return;
	while (!s->wrong && (key = json_key(&s->j))) {
		for (column = 0; column < COLUMNS && strcmp(columns[column], key) != 0; column++)
			;
		if (column < COLUMNS)
			lengths[column] = read_column(s, parts, (enum column)column);
		else if (strcmp(key, "row") == 0)
			row = mark_row_by_word(json_string(&s->j, NULL));
		else
			json_skip(&s->j);
	}
	if (s->j.error || s->wrong || row == MARK_ROWS) /* a newer version's */
		return;
	for (column = 1; column < COLUMNS; column++)
		if (lengths[column] != lengths[0])
			wrong(s, "columns of a row that are not equally long");
	if (seen[row])
		wrong(s, "a row twice");
	seen[row] = true;
	if (!s->wrong)
		keep(s, to, row, parts, lengths[0]);
}

void saved_rows_read(struct saved *s, struct saved_rows *to)
{
	struct profile_mark_part *parts = calloc(PROFILE_MARK_PARTS, sizeof(*parts));
	bool seen[MARK_ROWS] = {false};

	if (to->items.count)
		wrong(s, "rows twice");
	s->no_memory |= !parts;
	if (parts && !s->wrong && json_open(&s->j, '['))
		while (!s->j.error && !s->wrong && !s->no_memory && json_item(&s->j))
			read_row(s, to, seen, parts);
	free(parts);
}

void saved_rows_add(struct saved *s, const struct saved_rows *r, uint64_t length, uint64_t from, uint64_t to)
{
	struct kept_marks *marks = &s->aggregate->marks;
	size_t i;

	for (i = 0; i < r->items.count; i++) {
		struct saved_row row = r->items.items[i];
		uint64_t at = MIN(row.part.last_at, MAX(length, 1ull) - 1);

		if (at < from || at >= MAX(to, 1ull))
			continue;
		row.part.last_at = at - from;
		s->no_memory |= !kept_rows_put(&marks->rows, row.row, to - from, &row.part);
	}
}

void saved_rows_free(struct saved_rows *r)
{
	free(r->items.items);
}
