#include "profile/model/work/named_owners.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/vector.h"
#include "common/words/enum_names.h"

/* What all other locks have that keep owners: of their waits one can be any owner's. */
struct others {
	uint64_t time, longest;
};

/* Classes of java.util.concurrent that threads park for, and that no thread ever has. */
static const char *const ownerless[] = {
	"$ConditionObject", "/Semaphore$", "/CountDownLatch$", "/SynchronousQueue$", "/CompletableFuture$",
	"/ForkJoinPool", "/StampedLock", "/Exchanger", "/Phaser", "/FutureTask",
};

static bool keeps_owner(const struct profile_waits *lock)
{
	size_t i;

	if (lock->kind == LOCK_WAIT || lock->kind == LOCK_SLEEP || lock->kind == LOCK_CONDITION ||
	    lock->kind == LOCK_SEMAPHORE)
		return false;
	for (i = 0; strncmp(lock->name, "java/util/concurrent/", 21) == 0 && i < ARRAY_LEN(ownerless); i++)
		if (strstr(lock->name, ownerless[i]))
			return false;
	return true;
}

static struct others others_than(const struct profile *p, const struct profile_waits *lock)
{
	struct others o = {0};
	uint32_t i;

	for (i = 0; i < p->lock_count; i++) {
		if (&p->locks[i] == lock || !keeps_owner(&p->locks[i]))
			continue;
		o.time += p->locks[i].time;
		o.longest = MAX(o.longest, p->locks[i].longest);
	}
	return o;
}

static uint64_t more_than(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Of ROW, by stacks of the owner called NAME. */
static uint64_t told_by_stacks(const struct contention *c, const struct profile *p, uint32_t row, const char *name)
{
	uint64_t time = 0;
	size_t i;

	for (i = 0; i < c->by_count; i++)
		if (c->by[i].row == row && strcmp(p->holders[c->by[i].holder].name, name) == 0)
			time += p->holders[c->by[i].holder].time;
	return time;
}

static int most_first(const void *a, const void *b)
{
	const struct named_owner *x = a, *y = b;

	if (x->least != y->least)
		return x->least < y->least ? 1 : -1;
	return x->most != y->most ? (x->most < y->most ? 1 : -1) : strcmp(x->name, y->name);
}

bool named_owners_of(const struct contention *c, const struct profile *p, uint32_t row,
		     const struct profile_waits *lock, struct named_owner **to, size_t *count)
{
	const struct others others = others_than(p, lock);
	uint64_t weight = c->rows[row].weight, missing = more_than(lock->time, weight);
	uint64_t left = more_than(weight, c->rows[row].known_weight);
	uint32_t i;

	*count = 0;
	*to = calloc((size_t)p->owner_count + 1, sizeof(**to));
	if (!*to)
		return false;
	for (i = 0; keeps_owner(lock) && i < p->owner_count; i++) {
		const struct profile_waits *w = &p->owners[i];
		uint64_t least = MAX(more_than(w->time, others.time), w->longest > others.longest ? w->longest : 0);
		uint64_t told = told_by_stacks(c, p, row, w->name);

		/* waits that are no part of the row, as of stacks that were left out, may have been this owner's */
		least = MIN(more_than(more_than(least, missing), told), left);
		if (*w->name && least)
			(*to)[(*count)++] = (struct named_owner){w->name, least, MIN(more_than(w->time, told), left)};
	}
	qsort(*to, *count, sizeof(**to), most_first);
	return true;
}
