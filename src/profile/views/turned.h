/*
 * turned.h - the stacks of a profile as they are seen from one method: what it calls, or by whom it is called. Inner
 * header of the views room.
 */
#ifndef JSTROBE_VIEWS_TURNED_H
#define JSTROBE_VIEWS_TURNED_H

#include "profile/model/profile.h"

struct turned {
	struct profile profile; /* the stacks that have it, root first: the method */
	struct profile_stack *stacks;
	uint32_t *lists;
};

/*
 * Make T of P. PATTERN as for `include` (filter.h); of several such frames in a stack the outermost counts, for
 * CALLERS the innermost. 0, -ENOENT: no frame is called that, or -ENOMEM; free in all cases. T borrows of P. Normal
 * code.
 */
int turned_make(struct turned *t, const struct profile *p, const char *pattern, bool callers);
void turned_free(struct turned *t);

#endif
