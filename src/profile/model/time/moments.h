/*
 * moments.h - when the samples of an event were taken: of each its time, its stack's count and its thread.
 *
 * Times are kept in steps, at first of MOMENTS_STEP. When they are more than there may be, steps are made twice as
 * long and what is of one step, count and thread becomes one, so that memory is bounded: by that, or by how many
 * counts and threads there are together. Normal code, one thread at a time.
 */
#ifndef JSTROBE_MODEL_MOMENTS_H
#define JSTROBE_MODEL_MOMENTS_H

#include "common/base/vector.h"
#include "profile/model/profile.h"
#include "profile/model/time/fine_counts.h"

#define MOMENTS_STEP NS_PER_MS
#define MOMENTS_LONGEST (3600 * NS_PER_S)

struct moments {
	VECTOR(struct profile_moment) items; /* their stacks are counts of the event, in no order */
	uint64_t step;   /* ns; 0: there are none yet */
	size_t most;     /* how many it may have; 0: any number */
	size_t full;     /* more than that are made fewer */
	size_t sorted;   /* so many are in the order of counts, then threads, then times */
	uint64_t *recent; /* by hash, where moments were put lately, + 1, below bits of their hash; NULL: nowhere */
	struct fine_counts fine; /* kept once steps are to be longer than theirs */
	bool failed;     /* out of memory: nothing more is kept */
	bool closed;     /* they are in the order of time, with the threads of a profile */
};

/* Samples of a count on a thread (or PROFILE_NO_THREAD). */
struct moment_seen {
	int64_t at;    /* ns since the recording's start; below 0: at it */
	uint64_t span; /* ns that it lasted from there on */
	uint32_t count, thread;
	uint64_t samples, weight;
};

/* Add SEEN[0..N). Many in one call cost less than one by one: places in memory are asked for before they are needed. */
void moments_add_all(struct moments *m, const struct moment_seen *seen, size_t n);
/* Add one. */
void moments_add(struct moments *m, int64_t at, uint64_t span, uint32_t count, uint32_t thread, uint64_t samples,
		 uint64_t weight);
/* Add what FROM has, with COUNTS and THREADS leading to the numbers that M's event has for its own. */
void moments_join(struct moments *m, const struct moments *from, const uint32_t *counts, const uint32_t *threads);
/* All of them were so many NS earlier, at their beginning at most. */
void moments_earlier(struct moments *m, uint64_t ns);
/* In the order of time. */
void moments_sort(struct moments *m);
void moments_free(struct moments *m);

#endif
