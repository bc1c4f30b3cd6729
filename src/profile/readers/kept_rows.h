/*
 * kept_rows.h - what the JVM reports of itself again and again (model/profile_marks.h) while a recording is read: a
 * number of parts each, however long it is. Normal code, one thread at a time.
 */
#ifndef JSTROBE_READERS_KEPT_ROWS_H
#define JSTROBE_READERS_KEPT_ROWS_H

#include "profile/model/profile_marks.h"

/* Zeroed: empty. */
struct kept_rows {
	struct profile_mark_part *parts[MARK_ROWS]; /* PROFILE_MARK_PARTS; NULL: nothing was reported */
};

/* VALUE of ROW, at AFTER of LENGTH ns. False: no memory. */
bool kept_rows_add(struct kept_rows *r, enum mark_row row, uint64_t after, uint64_t length, uint64_t value);
/* Add PART of ROW, to where its last_at is in LENGTH ns. False: no memory. */
bool kept_rows_put(struct kept_rows *r, enum mark_row row, uint64_t length, const struct profile_mark_part *part);
/* Add all of FROM, of the same time. False: no memory. */
bool kept_rows_join(struct kept_rows *r, const struct kept_rows *from);
void kept_rows_free(struct kept_rows *r);

#endif
