/*
 * work.h - a profile of wall time or of waits without the waits for work: what is left is what threads did, and what
 * held them up.
 */
#ifndef JSTROBE_MODEL_WORK_H
#define JSTROBE_MODEL_WORK_H

#include "profile/model/work/parked_unseen.h"
#include "profile/model/work/thread_groups.h"

struct work {
	struct profile profile; /* the input, but without idle stacks, and with the sums of those that are left */
	struct thread_groups groups; /* of all stacks of the input */
	struct profile_stack *stacks;
	uint64_t idle, idle_samples; /* weight and number of samples that were left out */
	enum parked_unseen parked_unseen;
};

/* Make W of P, of which activity_is_known. 0 or -ENOMEM; free in both cases. W borrows of P. Normal code. */
int work_of(struct work *w, const struct profile *p, const struct thread_namer *namer);
void work_free(struct work *w);

#endif
