/*
 * read_aggregate.h - what a conversion gathers: names, frames, stacks and threads once each, and for each
 * family of events how often each stack was seen. Its size is that of what is distinct in the input.
 */
#ifndef JSTROBE_READERS_READ_AGGREGATE_H
#define JSTROBE_READERS_READ_AGGREGATE_H

#include "common/base/strings.h"
#include "common/base/vector.h"
#include "profile/model/profile.h"
#include "profile/readers/lists.h"
#include "profile/readers/read_limits.h"

#define FOLD_NO_THREAD UINT32_MAX

/* A frame as a list of numbers. */
enum fold_frame {
	FOLD_CLASS,
	FOLD_NAME,
	FOLD_SIGNATURE,
	FOLD_LIBRARY,
	FOLD_LINE,
	FOLD_KIND,
	FOLD_FRAME_WORDS
};
/* A thread. Two of one system id are two if their names are not the same. */
enum fold_thread { FOLD_TID, FOLD_THREAD_NAME, FOLD_JAVA_ID, FOLD_THREAD_WORDS };

struct fold_tally {
	uint32_t stack, thread; /* thread: FOLD_NO_THREAD if stacks are not apart by thread */
	uint8_t state;          /* enum thread_state */
	uint64_t samples, weight;
};
struct fold_thread_tally {
	uint32_t thread;
	uint64_t samples, weight;
};

/* One event of the result. */
struct fold_family {
	char *name; /* "cpu" */
	bool in_events;
	bool sums;  /* its tallies are put in by fold_raise */
	const char *unit; /* of weights that are no time: "bytes" */
	VECTOR(struct fold_tally) tallies;
	uint32_t *direct;     /* stack without thread and state → tally + 1 */
	uint32_t direct_room;
	struct map index[THREAD_STATES]; /* of others, by state: stack and thread → tally + 1 */
	VECTOR(struct fold_thread_tally) threads;
	struct map thread_index;
	uint64_t samples, weight;
	uint64_t truncated; /* samples whose stack says that it is not whole */
	uint64_t no_stack;  /* samples without a stack, or with one that the file does not have */
	uint64_t failed;    /* samples that say that their stack could not be taken */
	uint64_t lost;      /* samples that the recorder says it lost */
};

struct fold {
	struct strings strings;
	struct lists frames, stacks, threads;
	VECTOR(struct fold_family) families;
	bool per_thread;
	bool no_memory;       /* or `too_much`: all threads that work for it stop */
	const char *too_much; /* of what; NULL = of nothing */
	uint64_t most_words;  /* of stacks that get a frame on top; 0 = any number */
	uint64_t most_text, text; /* bytes of names that frames and threads may be made of, each time anew, and were */
};

#define FOLD_FAMILIES_MAX LIMIT_COUNT(200)
#define FOLD_SUMS "numbers whose sums 64 bits do not hold"

/* The input asks for more than its size can mean: stop, and say so. WHAT is static. */
void fold_refuse(struct fold *f, const char *what);
/* N bytes of names are gone through once more; false: those are too many. */
bool fold_text(struct fold *f, size_t n);
/* Limits for an input of SIZE bytes that is read by WORKERS. */
void fold_limit(struct fold *f, uint64_t size, unsigned workers);


/* The number of a frame; strings by their numbers in f->strings. LISTS_FAILED: out of memory. */
uint32_t fold_frame(struct fold *f, const uint32_t words[FOLD_FRAME_WORDS]);
/* The number of the family called NAME, made if need be; UINT32_MAX: no memory. */
uint32_t fold_family(struct fold *f, const char *name, bool in_events, const char *unit);
/*
 * Add to a stack of a family, and to one of its threads. THREAD of a stack is FOLD_NO_THREAD unless
 * f->per_thread. Out of memory sets f->no_memory.
 */
void fold_add(struct fold *f, uint32_t family, uint32_t stack, uint32_t thread, uint8_t state,
	      uint64_t samples, uint64_t weight);
void fold_add_thread(struct fold *f, uint32_t family, uint32_t thread, uint64_t samples,
		     uint64_t weight);
/* A stack's sum so far, which only grows: of several the largest stays. */
void fold_raise(struct fold *f, uint32_t family, uint32_t stack, uint64_t samples, uint64_t weight);
/* STACK with FRAME as its innermost one. LISTS_FAILED: out of memory. */
uint32_t fold_leaf(struct fold *f, uint32_t stack, uint32_t frame);
/* Nothing more will be added: what is there only to find things in is given back. */
void fold_close(struct fold *f);
void fold_free(struct fold *f);

/*
 * Family FAMILY as P, which was zeroed and has its other facts from the caller. What P points to is
 * F's, or allocated: fold_profile_free. 0 or -ENOMEM.
 */
int fold_profile(const struct fold *f, uint32_t family, struct profile *p);
void fold_profile_free(struct profile *p);

#endif
