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
	uint64_t passed, weight_passed;     /* … of a part: of the rows so far, as they say it and in fact */
	uint32_t thread; /* its place in the list of threads; PROFILE_NO_THREAD: none is said */
	uint32_t count;  /* SAVED_NOT_WANTED: it is left out */
	/* of a part of the samples, which is added row by row: what they are added to, and what goes with them */
	uint32_t stack;
	uint8_t state;
	uint64_t context, parts, outside;
};
#define SAVED_NOT_WANTED UINT32_MAX
/* ns: a session that is resumed has pauses, so its duration is no limit. */
#define SAVED_LONGEST (10ull * 366 * 86400 * NS_PER_S)

struct saved {
	struct json j;
	struct read_aggregate *aggregate;
	struct recording_info *info;
	const char *families;
	const struct context_filter *context_filter;
	const struct selection *selection;
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
	bool times_wanted, part;                /* part: of the samples only a part is wanted, which times tell */
	bool timed, timed_any, untimed;         /* … the present result has times; one has; one has none */
	VECTOR(uint8_t) threads_chosen;         /* of the present result, by their places: whether they are wanted */
	struct buffer *notes;
	VECTOR(struct saved_place) places;      /* of the present result */
	const char *wrong, *wrong_in;           /* what cannot be, NULL: nothing; and which member has it */
	bool has_marks;
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
	bool has_stacks, newer;
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
/* What threads worked for (saved_contexts.c). */
void saved_contexts(struct saved *s);
/* Whether stacks of CONTEXT, a place in these + 1, 0: of none, are wanted; and what such of THREAD are apart by. */
bool saved_is_of_context(const struct saved *s, uint64_t context);
uint32_t saved_in_context(struct saved *s, uint32_t thread, uint64_t context);
/* The object `times` behind its stacks (saved_times.c). */
void saved_times(struct saved *s);
/* The object `marks` (saved_marks.c). */
void saved_marks(struct saved *s);
/* MEMBER, which is believed as a whole only, has WHAT, which cannot be. */
void saved_wrong(struct saved *s, const char *member, const char *what);
/* Whether it makes sense to read on. */
static inline bool saved_goes_on(const struct saved *s)
{
	return !s->j.error && !s->no_memory && !s->wrong;
}
/* Members by columns (saved_columns.c): the number of that called KEY among COUNT NAMES; COUNT: it is none. */
unsigned saved_column_named(const char *const *names, unsigned count, const char *key);
/*
 * The array of COLUMN of MEMBER, which was not SEEN before: PUT reads its item I into TO. How many items it has; where
 * an array ends too early, s->wrong or the JSON's error says it.
 */
size_t saved_column(struct saved *s, const char *member, bool *seen,
		    void (*put)(struct saved *s, void *to, size_t i, unsigned column), void *to, unsigned column);

/* Whether a part of the samples is asked for (saved_part.c). */
bool saved_is_part(const struct selection *selection);
/* ns since 1970; 0: TEXT is no such date. */
uint64_t saved_date(const char *text);
bool saved_is_of_state(const struct saved *s, enum thread_state state);
/* The times of the present result come; what ROW, of PLACE (NULL: it is not known), has in the part; it has ended. */
void saved_begin_part(struct saved *s);
void saved_add_part(struct saved *s, const struct profile_moment *row, const struct saved_place *place, uint64_t step,
		    uint64_t weight);
void saved_end_part(struct saved *s);
/* The part of the present result's time that is asked for, ns since its start; false: it is all of it. */
bool saved_range(const struct saved *s, uint64_t *from, uint64_t *to);

/* A trace (saved_trace.c): its arrays of methods, threads and nodes, in the order in which they are written. */
void saved_methods(struct saved *s);
void saved_tree(struct saved *s);

#endif
