/*
 * saved_columns.c - members that are written by columns: `times`, and of `marks` those that are told one by one, and
 * rows.
 */
#include <string.h>

#include "profile/readers/saved/saved_reader.h"

unsigned saved_column_named(const char *const *names, unsigned count, const char *key)
{
	unsigned column = 0;

	while (column < count && strcmp(names[column], key) != 0)
		column++;
	return column;
}

size_t saved_column(struct saved *s, const char *member, bool *seen,
		    void (*put)(struct saved *s, void *to, size_t i, unsigned column), void *to, unsigned column)
{
	size_t n = 0;

	if (*seen)
		saved_wrong(s, member, "a column twice");
	*seen = true;
	if (!json_open(&s->j, '['))
		return 0;
	while (json_item(&s->j) && saved_goes_on(s))
		put(s, to, n++, column);
	return n;
}
