/*
 * saved_reader.h - what the readers of our own JSON share. Inner header.
 */
#ifndef JSTROBE_READERS_SAVED_READER_H
#define JSTROBE_READERS_SAVED_READER_H

#include "profile/readers/json_pull.h"
#include "profile/readers/read_formats.h"

struct saved {
	struct json j;
	struct read_aggregate *aggregate;
	struct recording_info *info;
	const char *families;
	const struct context_filter *context_filter;
	VECTOR(uint8_t) contexts;               /* of the present result: whether they are wanted */
	bool has_contexts;
	struct numbers methods, threads, nodes; /* of a trace: frames, frames, stacks, by their places */
	struct numbers names;                   /* of the present stack */
	VECTOR(uint8_t) kinds;
	struct profile_growth growth;           /* and whether it says so */
	bool has_growth;
	struct read_aggregate_live live;        /* of the present result */
	struct map frame_of;                    /* name and kind → frame */
	uint32_t family;
	bool in_ns;
	enum weight_kind weight_kind; /* else */
	char event[256];
	uint64_t duration;
	bool has_stacks, newer;
	bool no_memory;
};

/* The frame called TEXT in KIND, kept; LISTS_FAILED: out of memory. */
uint32_t saved_frame(struct saved *s, const char *text, size_t length, enum frame_kind kind);
/* NUMBER behind the others of TO; LISTS_FAILED and a failure set s->no_memory. */
void saved_keep(struct saved *s, struct numbers *to, uint32_t number);
/* Make room in the aggregate for EVENT; false: it is not wanted, or there is no memory. */
bool saved_family(struct saved *s, const char *event, enum weight_kind kind);

/* A trace (saved_trace.c): its arrays of methods, threads and nodes, in the order in which they are written. */
void saved_methods(struct saved *s);
void saved_tree(struct saved *s);

#endif
