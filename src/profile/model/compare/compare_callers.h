/*
 * compare_callers.h - who has changed only by what it calls. Inner header of the model room.
 */
#ifndef JSTROBE_MODEL_COMPARE_CALLERS_H
#define JSTROBE_MODEL_COMPARE_CALLERS_H

#include "profile/model/compare/compare.h"

/* The amount of a stack of SIDE, and its variance as that of its samples. */
uint64_t compare_amount(const struct comparison *c, const struct profile_stack *s);
double compare_variance(const struct comparison *c, unsigned side, const struct profile_stack *s);
/* The block of time that stack I of SIDE is of; 0 where that is not known. */
static inline unsigned compare_block(const struct comparison *c, unsigned side, uint32_t i)
{
	const struct profile *p = c->profiles[side];

	return c->blocks[side] ? p->blocks[i] : 0;
}
/* Fill in the change of a row's part, and the verdict by it alone. */
void compare_change(const struct comparison *c, struct compare_part *p);
/*
 * Of the rows whose total has changed, those become VERDICT_EXPLAINED that have not changed in stacks without another
 * listed row below them. 0 or -ENOMEM.
 */
int compare_callers(struct comparison *c);

#endif
