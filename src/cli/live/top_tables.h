/*
 * top_tables.h - the tables of `jstrobe top`, made of what the model shows. Each adds columns and rows to an empty
 * table, and returns 0 or -ENOMEM; what it is sorted by and filtered with is the caller's.
 */
#ifndef JSTROBE_CLI_LIVE_TOP_TABLES_H
#define JSTROBE_CLI_LIVE_TOP_TABLES_H

#include "cli/live/top_table.h"
#include "cli/live/top_view.h"

typedef int top_build(struct top_table *t, const struct top_model *m, const struct top_view *v);

top_build top_methods, top_threads, top_groups, top_wall, top_locks, top_alloc;
/* Waits by class of the lock, with who had it last: of the overview. */
top_build top_waits;

#endif
