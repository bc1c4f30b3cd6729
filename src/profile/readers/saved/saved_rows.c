/*
 * saved_rows.c - rows as views/marks_json.c writes them, by columns. A part of the time is found by when its last
 * number was reported, also where a part of the whole (--from, --to) is asked for.
 */
#include "profile/readers/saved/saved_rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/wide.h"

static void wrong(struct saved *s, const char *what)
{
	saved_wrong(s, "marks", what);
}

static void read_item(struct saved *s, void *parts, size_t i, unsigned column)
{
	if (i >= PROFILE_MARK_PARTS)
		wrong(s, "a row of more parts than there are");
	else
		*mark_part_number(&((struct profile_mark_part *)parts)[i], column) = json_number(&s->j);
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
	size_t lengths[MARK_PART_NUMBERS] = {0};
	bool has[MARK_PART_NUMBERS] = {false};
	const char *key;
	unsigned column;

	memset(parts, 0, PROFILE_MARK_PARTS * sizeof(*parts));
	if (!json_open(&s->j, '{'))
		return;
	while (!s->wrong && (key = json_key(&s->j))) {
		column = saved_column_named(mark_part_words(), MARK_PART_NUMBERS, key);
		if (column < MARK_PART_NUMBERS)
			lengths[column] = saved_column(s, "marks", &has[column], read_item, parts, column);
		else if (strcmp(key, "row") == 0)
			row = mark_row_by_word(json_string(&s->j, NULL));
		else
			json_skip(&s->j);
	}
	if (s->j.error || s->wrong || row == MARK_ROWS) /* a newer version's */
		return;
	for (column = 1; column < MARK_PART_NUMBERS; column++)
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
		while (saved_goes_on(s) && json_item(&s->j))
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
