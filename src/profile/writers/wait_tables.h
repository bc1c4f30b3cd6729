/*
 * wait_tables.h - tables of a profile of waits for locks: by lock, by owner, by waiter.
 */
#ifndef JSTROBE_WRITERS_WAIT_TABLES_H
#define JSTROBE_WRITERS_WAIT_TABLES_H

#include "profile/writers/format.h"

/* Append the three tables, at most options->flat lines each (0: a screenful). Normal code. */
void waits_tables(struct buffer *out, const struct profile *p, const struct format_options *options);

#endif
