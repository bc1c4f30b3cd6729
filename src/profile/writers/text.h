/*
 * text.h - the parts that the text outputs are put together from.
 * Inner header of the writers room.
 */
#ifndef JSTROBE_WRITERS_TEXT_H
#define JSTROBE_WRITERS_TEXT_H

#include "profile/model/name_table.h"
#include "profile/model/work/work.h"
#include "profile/writers/format.h"
#include "profile/writers/writers.h"

#define TEXT_ALL UINT32_MAX

/* "--- Execution profile ---" with totals, losses by reason and our details. */
void text_header(struct buffer *out, const struct profile *p, const struct format_options *options);

/*
 * Threads by how much of the profile is theirs, each with its hottest method: what -t adds to texts
 * that sum up methods. Normal code.
 */

/* Append the LIMIT hottest threads of P, whose stacks are apart by thread, with NAMES of its methods. 0 or -ENOMEM. */
int thread_table(struct buffer *out, const struct profile *p, const struct name_table *names,
		 bool by_weight, uint32_t limit);

/* Tables of a profile of waits for locks: by lock, by owner, by waiter. */

/*
 * Append the three tables, at most options->flat lines each (0: a screenful). W: P's work, idle waits are put together;
 * NULL: all waits are alike. Normal code.
 */
void waits_tables(struct buffer *out, const struct profile *p, const struct work *w,
		  const struct format_options *options);

/* The same of a profile of calls that read, write and the like: by file, by peer, by other things, by place. */
void io_tables(struct buffer *out, const struct profile *p, const struct format_options *options);

#endif
