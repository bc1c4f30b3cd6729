/*
 * owners.h - waits for locks from the other side: by who held them. Inner header of the model room.
 */
#ifndef JSTROBE_MODEL_OWNERS_H
#define JSTROBE_MODEL_OWNERS_H

#include "profile/model/profile.h"

struct owners {
	struct profile profile; /* the input, but with other stacks and frames */
	struct profile_frame *frames;
	struct profile_stack *stacks;
	uint32_t *lists;
	char *names;
};

/*
 * Make O the profile P, which is of waits, with the stacks of those who held the locks in the place of the stacks of
 * those who waited. The outermost frame is the owner, "[name]"; below it stands its stack where that was taken, else
 * nothing. Waits of which no owner is known are "[no_owner]". Sums are those of P. O borrows all else of P. 0 or
 * -ENOMEM; free in both cases. Normal code.
 */
int owners_apply(struct owners *o, const struct profile *p);
void owners_free(struct owners *o);

#endif
