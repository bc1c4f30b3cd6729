/*
 * fine_counts.h - how many samples were taken when, more finely than long recordings can say of which stacks they were.
 *
 * A day has 4.3 million steps of FINE_STEP. With more than FINE_MOST of them steps become twice as long. Normal code,
 * one thread at a time.
 */
#ifndef JSTROBE_MODEL_FINE_COUNTS_H
#define JSTROBE_MODEL_FINE_COUNTS_H

#include "common/base/vector.h"

#define FINE_STEP (20 * NS_PER_MS)
#define FINE_MOST 6000000 /* 33 h; 24 MB */

struct fine_counts {
	uint64_t step; /* ns; 0: they are not kept */
	VECTOR(uint32_t) counts;
	bool given_up; /* some samples have no moment of their own, or there is no memory: nothing is told */
};

/* Keep them from now on. */
void fine_counts_begin(struct fine_counts *f);
/* SAMPLES of AT, ns from the start on. No-op where they are not kept. */
void fine_counts_add(struct fine_counts *f, uint64_t at, uint64_t samples);
/* Add what FROM has, which is kept. */
void fine_counts_join(struct fine_counts *f, const struct fine_counts *from);
/* Nothing is told of them any more. */
void fine_counts_give_up(struct fine_counts *f);
void fine_counts_free(struct fine_counts *f);

#endif
