/*
 * first_allocs.h - first samples of allocations that weigh what their threads allocated before the recording began.
 *
 * A jdk.ObjectAllocationSample weighs what its thread has allocated since its sample before. In many JDKs (from 16 on;
 * JDK-8307488, JDK-8362573) the first one weighs all since the thread began, or since a recording that was before. What
 * threads had allocated when the recording began, and when it ended, is in jdk.ThreadAllocationStatistics: samples of a
 * thread cannot weigh more than the difference. All of these are noted first; then each first sample says by its place
 * in the file what is too much of it.
 */
#ifndef JSTROBE_READERS_JFR_FIRST_ALLOCS_H
#define JSTROBE_READERS_JFR_FIRST_ALLOCS_H

#include "common/base/map.h"
#include "common/base/vector.h"

struct allocating_thread {
	uint64_t samples, weight;     /* of all of them */
	uint64_t most;                /* of those that are not the first */
	int64_t first_at;             /* ns since 1970, as all times */
	uint64_t first, position;     /* its weight, and where it is in the file */
	int64_t begin_at, end_at;     /* when it was said first, and last, what it had allocated; 0: never */
	uint64_t at_begin, at_end;    /* bytes */
	bool born;                    /* it began in the recording */
	uint64_t cut;                 /* of its first sample */
};

struct first_allocs {
	bool noting;                  /* they are noted now */
	bool no_memory;
	VECTOR(struct allocating_thread) threads;
	struct map by_id;             /* thread → place + 1 */
	struct map by_position;       /* of first samples of which something is cut → place + 1 */
};

/* THREAD's sample at POSITION, taken at TIME. */
void first_allocs_sample(struct first_allocs *f, uint64_t thread, int64_t time, uint64_t weight, uint64_t position);
/* THREAD had allocated so many bytes at TIME. */
void first_allocs_sum(struct first_allocs *f, uint64_t thread, int64_t time, uint64_t bytes);
/* THREAD began. */
void first_allocs_born(struct first_allocs *f, uint64_t thread);
/* All are noted, of a recording that began at START. False: no memory. */
bool first_allocs_find(struct first_allocs *f, int64_t start);
/* What is too much of the sample at POSITION. Any thread. */
uint64_t first_allocs_cut(const struct first_allocs *f, uint64_t position);
void first_allocs_free(struct first_allocs *f);

#endif
