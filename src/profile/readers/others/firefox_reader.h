/*
 * firefox_reader.h - a profile of the Firefox Profiler that is being read: the columns of its tables. Inner header of
 * the readers room.
 */
#ifndef JSTROBE_READERS_FIREFOX_READER_H
#define JSTROBE_READERS_FIREFOX_READER_H

#include "profile/readers/others/foreign_json.h"

/* Columns that are wanted, by table. */
enum firefox_column {
	STACK_PREFIX, STACK_FRAME, FRAME_FUNC, FRAME_COLUMN_LINE, FRAME_LOCATION, FUNC_NAME, FUNC_RESOURCE, FUNC_FILE,
	RESOURCE_LIB, RESOURCE_NAME, RESOURCE_TYPE, SAMPLE_STACK, COLUMNS
};

/* The tables of a thread, or those that all share. */
struct firefox_tables {
	struct numbers columns[COLUMNS], texts;
};

struct firefox_reals {
	long double *items;
	size_t count, capacity;
};

struct firefox {
	struct foreign_json f;
	struct firefox_tables own, shared;
	struct numbers libs;      /* names of images */
	struct numbers frames, nodes; /* of the present thread: by frame, by stack + 1, 0: not made yet */
	struct firefox_reals weights, cpu, times, deltas; /* of the samples; deltas: of times */
	struct buffer name, weight_type, process, thread_process, origin;
	bool ours;                /* we wrote it: processes are events */
	long double interval, started; /* ms; since 1970 */
	long double time, last;        /* ms since it started: of the present sample, of the last one of all */
	uint64_t tid;
	uint64_t cpu_scale;       /* ns of a unit of CPU time; 0: it is no time */
};

/* A text to TO; of anything else: nothing. */
void firefox_keep_text(struct firefox *x, struct buffer *to);
/* A number; of anything else 0. */
long double firefox_read_real(struct firefox *x);
/* A table, or the texts, of TO. False: KEY is none of these, and what it has is still to be read. */
bool firefox_read_tables(struct firefox *x, struct firefox_tables *to, const char *key);

#endif
