/*
 * firefox_columns.c - tables of the Firefox Profiler, as lists by column or as rows with a schema: the columns that are
 * wanted.
 */
#include <string.h>

#include "profile/readers/others/firefox_reader.h"

static const struct {
	const char *table, *name;
} columns[COLUMNS] = {
	[STACK_PREFIX] = {"stackTable", "prefix"},  [STACK_FRAME] = {"stackTable", "frame"},
	[FRAME_FUNC] = {"frameTable", "func"},      [FRAME_COLUMN_LINE] = {"frameTable", "line"},
	[FRAME_LOCATION] = {"frameTable", "location"},
	[FUNC_NAME] = {"funcTable", "name"},        [FUNC_RESOURCE] = {"funcTable", "resource"},
	[FUNC_FILE] = {"funcTable", "fileName"},    [RESOURCE_LIB] = {"resourceTable", "lib"},
	[RESOURCE_NAME] = {"resourceTable", "name"}, [RESOURCE_TYPE] = {"resourceTable", "type"},
	[SAMPLE_STACK] = {"samples", "stack"},
};

void firefox_keep_text(struct firefox *x, struct buffer *to)
{
	size_t length;
	const char *text;

	to->fd = -1;
	to->length = 0;
	if (json_peek(&x->f.j) != '"') {
		json_skip(&x->f.j);
		return;
	}
	text = json_string(&x->f.j, &length);
	buffer_append(to, text, length);
	x->f.no_memory |= to->failed != 0;
}

long double firefox_read_real(struct firefox *x)
{
	char c = json_peek(&x->f.j);

	if (c == '-' || (c >= '0' && c <= '9'))
		return json_real(&x->f.j);
	json_skip(&x->f.j);
	return 0;
}

static void read_reals(struct firefox *x, struct firefox_reals *to)
{
	to->count = 0;
	if (json_peek(&x->f.j) != '[') {
		json_skip(&x->f.j);
		return;
	}
	json_open(&x->f.j, '[');
	while (foreign_json_goes_on(&x->f) && json_item(&x->f.j)) {
		long double *item = VECTOR_PUSH(to);

		x->f.no_memory |= !item;
		if (item)
			*item = firefox_read_real(x);
	}
}

/* ---- tables ---- */

/* The column NAME of TABLE; COLUMNS: it is not wanted. */
static unsigned column_of(const char *table, const char *name)
{
	unsigned i = 0;

	while (i < COLUMNS && (strcmp(columns[i].table, table) != 0 || strcmp(columns[i].name, name) != 0))
		i++;
	return i;
}

#define PLACES 32 /* of a row */

/* {"prefix": 0, "frame": 1}: the column in each place of a row. */
static void read_schema(struct firefox *x, const char *table, unsigned places[PLACES])
{
	const char *key;

	if (!json_open(&x->f.j, '{'))
		return;
	while (foreign_json_goes_on(&x->f) && (key = json_key(&x->f.j))) {
		unsigned column = column_of(table, key);
		long double place = firefox_read_real(x);

		if (place >= 0 && place < PLACES)
			places[(unsigned)place] = column;
	}
}

/* One row; a column that it does not reach is null there. */
static void read_row(struct firefox *x, struct firefox_tables *to, const unsigned places[PLACES])
{
	uint32_t values[COLUMNS];
	unsigned i, place = 0;
	long double value;

	memset(values, 0xff, sizeof(values));
	if (!json_open(&x->f.j, '['))
		return;
	for (; foreign_json_goes_on(&x->f) && json_item(&x->f.j); place++) {
		char c = json_peek(&x->f.j);
		unsigned column = place < PLACES ? places[place] : COLUMNS;

		if (column == COLUMNS || !(c == '-' || (c >= '0' && c <= '9'))) {
			json_skip(&x->f.j);
			continue;
		}
		value = json_real(&x->f.j);
		if (value >= 0 && value < FOREIGN_JSON_NULL)
			values[column] = (uint32_t)value;
	}
	for (i = 0; i < COLUMNS; i++)
		for (place = 0; place < PLACES; place++)
			if (places[place] == i) {
				foreign_json_push(&x->f, &to->columns[i], values[i]);
				break;
			}
}

static void read_rows(struct firefox *x, struct firefox_tables *to, const unsigned places[PLACES])
{
	unsigned i;

	for (i = 0; i < PLACES; i++)
		if (places[i] < COLUMNS)
			to->columns[places[i]].count = 0;
	if (!json_open(&x->f.j, '['))
		return;
	while (foreign_json_goes_on(&x->f) && json_item(&x->f.j))
		read_row(x, to, places);
}

static void read_table(struct firefox *x, struct firefox_tables *to, const char *table)
{
	unsigned places[PLACES], i;
	bool samples = strcmp(table, "samples") == 0;
	const char *key;

	for (i = 0; i < PLACES; i++)
		places[i] = COLUMNS;
	if (!json_open(&x->f.j, '{'))
		return;
	while (foreign_json_goes_on(&x->f) && (key = json_key(&x->f.j))) {
		unsigned column = column_of(table, key);

		if (column < COLUMNS)
			foreign_json_column(&x->f, &to->columns[column]);
		else if (strcmp(key, "schema") == 0)
			read_schema(x, table, places);
		else if (strcmp(key, "data") == 0)
			read_rows(x, to, places);
		else if (samples && strcmp(key, "weight") == 0)
			read_reals(x, &x->weights);
		else if (samples && strcmp(key, "threadCPUDelta") == 0)
			read_reals(x, &x->cpu);
		else if (samples && strcmp(key, "time") == 0)
			read_reals(x, &x->times);
		else if (samples && strcmp(key, "timeDeltas") == 0)
			read_reals(x, &x->deltas);
		else if (samples && strcmp(key, "weightType") == 0)
			firefox_keep_text(x, &x->weight_type);
		else
			json_skip(&x->f.j);
	}
}

bool firefox_read_tables(struct firefox *x, struct firefox_tables *to, const char *key)
{
	unsigned i;

	if (strcmp(key, "stringArray") == 0 || strcmp(key, "stringTable") == 0) {
		if (json_peek(&x->f.j) == '[')
			foreign_json_texts(&x->f, &to->texts);
		else
			json_skip(&x->f.j);
		return true;
	}
	for (i = 0; i < COLUMNS; i++)
		if (strcmp(columns[i].table, key) == 0) {
			read_table(x, to, columns[i].table);
			return true;
		}
	return false;
}
