/*
 * thread_table.h - threads by how much of the profile is theirs, each with its hottest method: what -t adds to texts
 * that sum up methods. Normal code.
 */
#ifndef JSTROBE_WRITERS_THREAD_TABLE_H
#define JSTROBE_WRITERS_THREAD_TABLE_H

#include "profile/model/name_table.h"
#include "profile/writers/format.h"

/* Append the LIMIT hottest threads of P, whose stacks are apart by thread, with NAMES of its methods. 0 or -ENOMEM. */
int thread_table(struct buffer *out, const struct profile *p, const struct name_table *names,
		 bool by_weight, uint32_t limit);

#endif
