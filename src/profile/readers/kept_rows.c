#include "profile/readers/kept_rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/wide.h"

static struct profile_mark_part *parts_of(struct kept_rows *r, enum mark_row row)
{
	if (!r->parts[row])
		r->parts[row] = calloc(PROFILE_MARK_PARTS, sizeof(*r->parts[row]));
	return r->parts[row];
}

/* Parts of several readers are added up in any order: the times decide which value is the last. */
static void add_part(struct profile_mark_part *to, const struct profile_mark_part *from)
{
	if (!from->count)
		return;
	to->min = to->count ? MIN(to->min, from->min) : from->min;
	to->max = MAX(to->max, from->max);
	if (!to->count || from->last_at > to->last_at || (from->last_at == to->last_at && from->last > to->last)) {
		to->last = from->last;
		to->last_at = from->last_at;
	}
	to->sum = wide_add(to->sum, from->sum);
	to->count += from->count;
}

bool kept_rows_add(struct kept_rows *r, enum mark_row row, uint64_t after, uint64_t length, uint64_t value)
{
	return kept_rows_put(r, row, length, &(struct profile_mark_part){
		1, value, value, value, value, MIN(after, MAX(length, 1ull) - 1)});
}

bool kept_rows_put(struct kept_rows *r, enum mark_row row, uint64_t length, const struct profile_mark_part *part)
{
	struct profile_mark_part *parts = parts_of(r, row);
	uint64_t at = MIN(part->last_at, MAX(length, 1ull) - 1);

	if (parts)
		add_part(&parts[wide_scale(at, PROFILE_MARK_PARTS, 0, MAX(length, 1ull))], part);
	return parts;
}

bool kept_rows_join(struct kept_rows *r, const struct kept_rows *from)
{
	unsigned row, i;

	for (row = 0; row < MARK_ROWS; row++) {
		if (from->parts[row] && !parts_of(r, (enum mark_row)row))
			return false;
		for (i = 0; from->parts[row] && i < PROFILE_MARK_PARTS; i++)
			add_part(&r->parts[row][i], &from->parts[row][i]);
	}
	return true;
}

void kept_rows_free(struct kept_rows *r)
{
	unsigned row;

	for (row = 0; row < MARK_ROWS; row++)
		free(r->parts[row]);
	memset(r, 0, sizeof(*r));
}
