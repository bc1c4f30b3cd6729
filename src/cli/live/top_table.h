/*
 * top_table.h - a table of `jstrobe top`: columns of figures, then a name. It can be sorted, filtered, and drawn into
 * any width: where there is little, the columns that matter least are left out, the last one first.
 */
#ifndef JSTROBE_CLI_LIVE_TOP_TABLE_H
#define JSTROBE_CLI_LIVE_TOP_TABLE_H

#include <regex.h>

#include "common/base/buffer.h"
#include "common/base/strings.h"
#include "common/base/vector.h"

#define TOP_COLUMNS 12
#define TOP_BAR 20
#define TOP_BY_NAME UINT32_MAX

/* How the figures of a column are spelled. */
enum top_format {
	TOP_SHARE,   /* of the column's base, in percent */
	TOP_DASHED,  /* the same of the row's own base; nothing is "-" */
	TOP_MS,
	TOP_TIME,
	TOP_COUNT,
	TOP_RATE,    /* bytes a second: the base is ns */
	TOP_BARS,    /* row.bar; the figure only sorts */
};

struct top_column {
	const char *head;
	uint8_t width;       /* of the figures, with what keeps them apart from the column before */
	uint8_t format;      /* enum top_format */
	uint64_t base;
};

struct top_row {
	uint64_t values[TOP_COLUMNS], base;
	char bar[TOP_BAR + 1];
	uint32_t name, more; /* texts of the table; more: what else is known of it, 0 = nothing */
};

struct top_table {
	struct top_column columns[TOP_COLUMNS];
	unsigned column_count;
	const char *name_head;
	VECTOR(struct top_row) rows;
	struct strings texts;
	char note[200];      /* a line below the rows; "": none */
};

/* Add a column behind the others. */
void top_table_column(struct top_table *t, const char *head, unsigned width, enum top_format format, uint64_t base);
/* A new row called NAME; MORE is appended behind it, NULL: nothing. NULL: out of memory. */
struct top_row *top_table_row(struct top_table *t, const char *name, const char *more);
/* By COLUMN, the largest first, or TOP_BY_NAME. */
void top_table_sort(struct top_table *t, uint32_t column);
/* Rows in whose name, or what is known besides, FILTER is found, stay; NULL: all. */
void top_table_filter(struct top_table *t, const regex_t *filter);
void top_table_free(struct top_table *t);

/* Append the line of heads, behind it FURTHER (may be ""), and row number I, without line ends, for COLUMNS columns. */
void top_table_put_head(const struct top_table *t, unsigned columns, const char *further, struct buffer *out);
void top_table_put_row(const struct top_table *t, size_t i, unsigned columns, struct buffer *out);

#endif
