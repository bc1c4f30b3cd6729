#include "cli/live/top_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/decimal.h"
#include "profile/model/human.h"
#include "profile/views/short_name.h"

#define LEAST_NAME 18 /* columns that a name has before figures are left out for it */

void top_table_column(struct top_table *t, const char *head, unsigned width, enum top_format format, uint64_t base)
{
	if (t->column_count < TOP_COLUMNS)
		t->columns[t->column_count++] = (struct top_column){head, (uint8_t)width, (uint8_t)format, base};
}

struct top_row *top_table_row(struct top_table *t, const char *name, const char *more)
{
	struct top_row *row = VECTOR_PUSH(&t->rows);

	if (!row)
		return NULL;
	row->name = strings_add(&t->texts, name, strlen(name));
	row->more = more ? strings_add(&t->texts, more, strlen(more)) : 0;
	return row;
}

/* ---- order ---- */

struct order {
	const struct top_table *t;
	uint32_t column;
};

static const char *name_of(const struct top_table *t, const struct top_row *row)
{
	return strings_get(&t->texts, row->name);
}

/* Rows that are equal in the column are in the order of those behind it, then of their names. */
static int compare(const void *left, const void *right, void *order)
{
	const struct order *o = order;
	const struct top_row *a = left, *b = right;
	uint32_t c;

	for (c = o->column; c < o->t->column_count; c++)
		if (a->values[c] != b->values[c])
			return a->values[c] < b->values[c] ? 1 : -1;
	return strcmp(name_of(o->t, a), name_of(o->t, b));
}

void top_table_sort(struct top_table *t, uint32_t column)
{
	struct order o = {t, column};

	if (t->rows.count)
		qsort_r(t->rows.items, t->rows.count, sizeof(*t->rows.items), compare, &o);
}

void top_table_filter(struct top_table *t, const regex_t *filter)
{
	size_t i, kept = 0;

	for (i = 0; filter && i < t->rows.count; i++) {
		const struct top_row *row = &t->rows.items[i];

		if (regexec(filter, name_of(t, row), 0, NULL, 0) == 0 ||
		    (row->more && regexec(filter, strings_get(&t->texts, row->more), 0, NULL, 0) == 0))
			t->rows.items[kept++] = *row;
	}
	if (filter)
		t->rows.count = kept;
}

void top_table_free(struct top_table *t)
{
	free(t->rows.items);
	strings_free(&t->texts);
}

/* ---- lines ---- */

/* How many columns there is room for. */
static unsigned fitting(const struct top_table *t, unsigned columns)
{
	unsigned i, width = 2;

	for (i = 0; i < t->column_count; i++) {
		width += t->columns[i].width;
		if (i && width + LEAST_NAME > columns)
			break;
	}
	return i;
}

static unsigned width_of(const struct top_table *t, unsigned count)
{
	unsigned i, width = 2;

	for (i = 0; i < count; i++)
		width += t->columns[i].width;
	return width;
}

void top_table_put_head(const struct top_table *t, unsigned columns, const char *further, struct buffer *out)
{
	unsigned count = fitting(t, columns), i;

	for (i = 0; i < count; i++)
		if (t->columns[i].format == TOP_BARS)
			buffer_printf(out, "  %-*s", t->columns[i].width - 2, t->columns[i].head);
		else
			human_right(out, t->columns[i].head, t->columns[i].width);
	buffer_printf(out, "  %s%s", t->name_head, further);
}

static void put_figure(const struct top_column *c, const struct top_row *row, uint64_t value, struct buffer *out)
{
	char text[48];

	switch ((enum top_format)c->format) {
	case TOP_SHARE:
		snprintf(text, sizeof(text), "%s%%", decimal(percent_of(value, c->base), 1).text);
		break;
	case TOP_DASHED:
		if (value)
			snprintf(text, sizeof(text), "%s%%", decimal(percent_of(value, row->base), 1).text);
		else
			snprintf(text, sizeof(text), "-");
		break;
	case TOP_MS:
		snprintf(text, sizeof(text), "%s ms", decimal((double)value / 1e6, 0).text);
		break;
	case TOP_TIME:
		snprintf(text, sizeof(text), "%s", human_time(value).text);
		break;
	case TOP_COUNT:
		snprintf(text, sizeof(text), "%s", human_count(value).text);
		break;
	case TOP_RATE:
		snprintf(text, sizeof(text), "%s/s",
			 human_bytes(c->base ? (uint64_t)((double)value * 1e9 / (double)c->base) : 0).text);
		break;
	case TOP_BARS:
		buffer_printf(out, "  %-*s", c->width - 2, row->bar);
		return;
	}
	human_right(out, text, c->width);
}

void top_table_put_row(const struct top_table *t, size_t i, unsigned columns, struct buffer *out)
{
	const struct top_row *row = &t->rows.items[i];
	const char *more = row->more ? strings_get(&t->texts, row->more) : "";
	unsigned count = fitting(t, columns), c, width = width_of(t, count);
	unsigned room = columns > width ? columns - width : 1, less = (unsigned)strlen(more);

	for (c = 0; c < count; c++)
		put_figure(&t->columns[c], row, row->values[c], out);
	buffer_puts(out, "  ");
	/* its packages are worth less than what stands behind it */
	short_name(out, name_of(t, row), room > less + LEAST_NAME ? room - less : MIN(room, (unsigned)LEAST_NAME));
	buffer_puts(out, more);
}
