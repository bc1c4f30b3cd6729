/*
 * chunk_marks.h - events of a chunk that are no samples: marks, where their type is known to be one or is the
 * program's own; and of each type how many there were.
 */
#ifndef JSTROBE_READERS_JFR_CHUNK_MARKS_H
#define JSTROBE_READERS_JFR_CHUNK_MARKS_H

#include "profile/readers/jfr/metadata.h"

struct chunk_event;
struct chunk_handlers;
struct event_handler;

/*
 * There may be millions of events that are no marks, of which nothing is wanted but sums: up to OTHERS_READ of one type
 * are read in a chunk, and of the others each OTHERS_EVERYth; of types that have nothing to sum the first and the last.
 * All are counted. Those that a row of the page is made of are all read.
 */
#define OTHERS_READ 64
#define OTHERS_EVERY 64

/* What a chunk has of one type. */
struct chunk_others {
	int kind;               /* enum mark_kind, or MARK_KINDS: none */
	uint32_t type, number;  /* strings of the aggregate: as in struct other_event */
	uint32_t name_type, cause_type; /* whose constants name and cause are keys of; METADATA_NONE: they are texts */
	bool has_name, has_cause, has_thread, has_time;
	uint8_t row;            /* enum row_event of chunk_marks.c */
	enum metadata_unit unit, pauses_unit;
	uint64_t type_id;
	uint64_t count;         /* those that chunk_handlers.counted has among them, once the chunk was read */
	uint64_t read, stands_for; /* read: how many were; stands_for: how many the next one is read for */
	uint64_t time, longest, number_sum, number_most; /* in the units of the file */
	uint64_t first, last;   /* ticks */
	struct {
		uint64_t key;           /* of a constant */
		const char *text;       /* or a text in the file */
		size_t length;
		uint32_t string;
	} name;                 /* the last one of the chunk; string 0: none */
	bool estimated;         /* sums are: not all were read */
};

/* Types without a handler get one each. 0 or -ENOMEM. */
int chunk_marks_learn(struct chunk_handlers *w);
/* Take one event of such a type. */
void chunk_marks_take(struct chunk_handlers *w, const struct event_handler *handler);
/* The next event of a type that is only counted has come that is to be read. */
void chunk_marks_read(struct chunk_handlers *w, const struct chunk_event *e);
/* A chunk begins. */
void chunk_marks_begin(struct chunk_handlers *w);
/* All events of the chunk were taken: what its types come to goes to the aggregate. */
void chunk_marks_aggregate(struct chunk_handlers *w);

#endif
