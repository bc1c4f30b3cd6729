/*
 * saved_rows.h - the member `rows` of marks in JSON: what the JVM reports of itself again and again. Inner header.
 */
#ifndef JSTROBE_READERS_SAVED_ROWS_H
#define JSTROBE_READERS_SAVED_ROWS_H

#include "profile/readers/saved/saved_reader.h"

/* What ROW had in one part of the time. */
struct saved_row {
	enum mark_row row;
	struct profile_mark_part part;
};
struct saved_rows {
	VECTOR(struct saved_row) items;
	bool too_long; /* of more time than a result can be of */
};

/* The array behind the key; what cannot be makes S wrong. */
void saved_rows_read(struct saved *s, struct saved_rows *to);
/* Add R, of LENGTH ns, to S's marks: what was reported last between FROM and TO, which are ns. */
void saved_rows_add(struct saved *s, const struct saved_rows *r, uint64_t length, uint64_t from, uint64_t to);
void saved_rows_free(struct saved_rows *r);

#endif
