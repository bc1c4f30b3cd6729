/*
 * prune.h - minwidth: what is too narrow to be worth a box. Inner header of the writers room.
 */
#ifndef JSTROBE_WRITERS_PRUNE_H
#define JSTROBE_WRITERS_PRUNE_H

#include "profile/writers/format.h"

struct narrowed {
	struct profile profile; /* the input, but with other stacks and frames */
	uint32_t *lists;
	struct profile_stack *stacks;
	struct profile_frame *frames;
};

/*
 * Make N the profile P with every subtree below OPTIONS->minwidth percent of all shown samples
 * (weights with `total`) replaced by one frame "[below minwidth]", summed up under each parent.
 * N borrows all else of P. 0 or -ENOMEM; free in both cases. Normal code.
 */
int prune_apply(struct narrowed *n, const struct profile *p, const struct format_options *options,
		 unsigned style);
void prune_free(struct narrowed *n);

#endif
