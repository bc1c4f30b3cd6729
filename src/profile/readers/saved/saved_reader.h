/*
 * saved_reader.h - what the readers of our own JSON share. Inner header.
 */
#ifndef JSTROBE_READERS_SAVED_READER_H
#define JSTROBE_READERS_SAVED_READER_H

#include "profile/readers/input/json_pull.h"
#include "profile/readers/read_formats.h"

/* What stacks may have been for. */
struct saved_context {
	uint32_t number; /* where stacks are apart by it (read_contexts.h); 0: they are not */
	bool wanted;
};

/* A stack as the file has it, where `times` is read: what it has, and its place in the aggregate. */
struct saved_place {
	uint64_t samples, weight;
	uint64_t rows, timed, weight_timed; /* of its `times`: how many, samples, weight */
	uint32_t thread; /* its place in the list of threads; PROFILE_NO_THREAD: none is said */
	uint32_t count;  /* SAVED_NOT_WANTED: it is left out */
};
#define SAVED_NOT_WANTED UINT32_MAX

struct saved {
	struct json j;
	struct read_aggregate *aggregate;
	struct recording_info *info;
	const char *families;
	const struct context_filter *context_filter;
	VECTOR(struct saved_context) contexts;  /* of the present result */
	bool has_contexts;
	struct numbers methods, threads, nodes; /* of a trace: frames, frames, stacks, by their places */
	struct numbers names;                   /* of the present stack */
	VECTOR(uint8_t) kinds;
	struct profile_growth growth;           /* and whether it says so */
	bool has_growth;
	struct read_aggregate_live live;        /* of the present result */
	VECTOR(struct read_aggregate_thread_count) threads_said; /* of the present result, by their places */
	struct recording_info_counts counts;    /* … and what became of its samples; said_at 0: it does not say */
	bool times_wanted;
	VECTOR(struct saved_place) places;      /* of the present result */
	const char *times_wrong;                /* what its `times` have that cannot be; NULL: nothing */
	struct map frame_of;                    /* name and kind → frame */
	struct map library_of;                  /* name → library: strings; of the present result */
	struct read_waits waits;                /* of the present result, until its stacks come */
	size_t lock_count;                      /* of these */
	struct read_ios io;                     /* of the present result, the same */
	uint32_t family;                        /* of the present stacks; UINT32_MAX: they are not wanted */
	bool in_ns;
	enum weight_kind weight_kind; /* else */
	char event[256];
	uint64_t duration, started_at; /* ns; since 1970, 0: not known */
	bool has_stacks, newer, told;
	bool no_memory;
};

/* An array of names into s->names, as strings, and one of kinds into s->kinds. */
void saved_names(struct saved *s);
void saved_kinds(struct saved *s);
/* The stack of these, whose innermost frame is of LOCK (place + 1; 0: of none). LISTS_FAILED: out of memory. */
uint32_t saved_frames(struct saved *s, uint32_t lock);
/* The frame called TEXT in KIND, kept; LISTS_FAILED: out of memory. */
uint32_t saved_frame(struct saved *s, const char *text, size_t length, enum frame_kind kind);
/* NUMBER behind the others of TO; LISTS_FAILED and a failure set s->no_memory. */
void saved_keep(struct saved *s, struct numbers *to, uint32_t number);
/* Make room in the aggregate for EVENT; false: it is not wanted, or there is no memory. */
bool saved_family(struct saved *s, const char *event, enum weight_kind kind);

/* The unit of weights in the present result. */
void saved_unit(struct saved *s, const char *unit);
/* What stands beside the stacks (saved_counts.c): the objects and the array of these keys. */
void saved_samples(struct saved *s);
void saved_weight(struct saved *s);
void saved_threads_of(struct saved *s);
void saved_surroundings(struct saved *s);
/* The family of the stacks is known; and they are all there. */
void saved_begin_stacks(struct saved *s);
void saved_end_stacks(struct saved *s);
/* What the array KEY says of waits (saved_waits.c); false: KEY is another. And of which libraries names are. */
bool saved_waits_of(struct saved *s, const char *key);
/* The family of the stacks, which are to come, gets what was read. */
void saved_keep_waits(struct saved *s);
/* The frame of LOCK's class (place + 1), which has a name. LISTS_FAILED: out of memory. */
uint32_t saved_lock_frame(struct saved *s, uint32_t lock);
/* A place in the list of locks + 1; 0: of none that a frame can name. */
uint32_t saved_lock(struct saved *s);
/* The same of calls that read and write (saved_io.c). */
bool saved_io_of(struct saved *s, const char *key);
void saved_keep_io(struct saved *s);
void saved_libraries(struct saved *s);
/* The object `times` behind its stacks (saved_times.c). */
void saved_times(struct saved *s);

/* A trace (saved_trace.c): its arrays of methods, threads and nodes, in the order in which they are written. */
void saved_methods(struct saved *s);
void saved_tree(struct saved *s);

#endif
