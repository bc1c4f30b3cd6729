/*
 * named_owners.h - who had a lock by the name alone, where no stack of theirs was taken.
 *
 * A profile sums waits by lock and by owner, not by both. So an owner is told of a lock only as far as there is no
 * other lock that its waits can have been for:
 *   - what its waits took longer than those for all other locks together, or
 *   - its longest wait, if no wait for another lock was that long.
 * Locks that keep no owner (semaphores, conditions) are no other lock.
 */
#ifndef JSTROBE_MODEL_NAMED_OWNERS_H
#define JSTROBE_MODEL_NAMED_OWNERS_H

#include "profile/model/work/contention.h"

struct named_owner {
	const char *name;
	uint64_t least, most; /* of the row's weight, beyond what stacks of its tell: at least, and at most */
};

/*
 * The owners of row number ROW of C, which is of LOCK alone, into *TO: COUNT of them, those of the most weight first.
 * The caller frees it. False: no memory.
 */
bool named_owners_of(const struct contention *c, const struct profile *p, uint32_t row,
		     const struct profile_waits *lock, struct named_owner **to, size_t *count);

#endif
