/*
 * awaited.c - who sleeps while others wait for it does not wait for work.
 *
 * A task of a pool that sleeps alone, and a thread that sleeps in its outermost loop, look as if they had none. They
 * have, as far as that can be concluded of wall time:
 *   1. a thread waits for a result in a class, at least half as long as this one sleeps in methods of that class, in a
 *      task that makes such a result; and no others are known that may make it: all others together had such tasks for
 *      less than half of that wait. Virtual threads may be those, so they have to be seen;
 *   2. a thread waits in method M for those that it works with, at a barrier say, at least half as long as this one
 *      sleeps below M.
 * `main` that waits for the result of a pool's loop has no work, and gives none.
 */
#include "profile/model/work/awaited.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/map.h"
#include "common/base/vector.h"
#include "profile/model/askers.h"
#include "profile/model/work/activity_kind.h"
#include "profile/model/work/parked_unseen.h"
#include "profile/model/work/task_roles.h"

/* A place: a class in which threads wait for results of a kind, or a method in which they wait for others. */
struct place {
	uint64_t waited, slept; /* by the one thread that did so most */
	uint32_t last;          /* stack that was counted last + 1: recursion counts once */
};

struct awaited {
	const struct profile *p;
	uint8_t *activities;
	struct task_says *says;
	struct map numbers; /* of a place, by its hash → index + 1 */
	struct map times;   /* place, whether waiting, and thread → index into sums + 1 */
	VECTOR(struct place) places;
	VECTOR(uint64_t) sums;
	uint64_t others[KINDS + 1]; /* weight of tasks that may make such a result, and do not sleep so */
};

/* What a stack shows: the innermost of what its methods say. */
static struct task_says shown(const struct awaited *a, const struct profile_stack *s)
{
	uint32_t i;

	for (i = s->depth; i-- > 0;) {
		struct task_says says = a->says[s->frames[i]];

		if (says.role == ROLE_WAITS || says.role == ROLE_RUNS || says.role == ROLE_MEETS)
			return says;
	}
	return (struct task_says){ROLE_NONE, KIND_NONE};
}

/* ---- places ---- */

static uint64_t hash_of_class(const struct profile_frame *f, uint8_t kind)
{
	return hash_mix(hash_seeded(f->class_name, strcspn(f->class_name, "$+")) + kind + 1);
}

/* Of a place in which a stack that SAYS so is at F: lambdas have the class in which they are written. */
static uint64_t hash_of(const struct profile_frame *f, struct task_says says)
{
	return says.role == ROLE_MEETS ? frame_method_hash(f) : hash_of_class(f, says.kind);
}

/* The innermost method of the program; NULL: there is none. */
static const struct profile_frame *innermost(const struct profile *p, const struct profile_stack *s)
{
	uint32_t i;

	for (i = s->depth; i-- > 0;)
		if (frame_is_of_program(&p->frames[s->frames[i]]))
			return &p->frames[s->frames[i]];
	return NULL;
}

/* Add the weight of S to that of its thread in PLACE, and take it to *MOST if it is more. False: no memory. */
static bool add_time(struct awaited *a, const struct profile_stack *s, struct place *place, uint64_t *most)
{
	uint64_t what = (uint64_t)(place - a->places.items) << 1 | (most == &place->waited);
	uint32_t *slot = map_put(&a->times, what << 32 | s->thread, NULL);
	uint64_t *fresh = slot && !*slot ? VECTOR_PUSH(&a->sums) : NULL;

	if (fresh) {
		*fresh = 0;
		*slot = (uint32_t)a->sums.count;
	}
	if (!slot || !*slot)
		return false;
	a->sums.items[*slot - 1] += s->weight;
	*most = MAX(*most, a->sums.items[*slot - 1]);
	return true;
}

/* Stack S, which SAYS so, waits in F. False: no memory. */
static bool add_wait(struct awaited *a, const struct profile_stack *s, const struct profile_frame *f,
		     struct task_says says)
{
	uint32_t *number = map_put(&a->numbers, hash_of(f, says), NULL);
	struct place *place = number && !*number ? VECTOR_PUSH(&a->places) : NULL;

	if (place) {
		*place = (struct place){.waited = 0};
		*number = (uint32_t)a->places.count;
	}
	if (!number || !*number)
		return false;
	place = &a->places.items[*number - 1];
	return add_time(a, s, place, &place->waited);
}

static bool find_places(struct awaited *a, bool results)
{
	uint32_t i;

	for (i = 0; i < a->p->stack_count; i++) {
		const struct profile_stack *s = &a->p->stacks[i];
		struct task_says says = {ROLE_NONE, KIND_NONE};
		const struct profile_frame *f;

		if (a->activities[i] == ACTIVITY_PARK && s->thread < a->p->thread_count)
			says = shown(a, s);
		f = says.role == ROLE_MEETS || (says.role == ROLE_WAITS && results) ? innermost(a->p, s) : NULL;
		if (f && !add_wait(a, s, f, says))
			return false;
	}
	return true;
}

/* ---- who sleeps ---- */

/* The place of F by HASH; NULL: no thread waits there. */
static struct place *place_of(const struct awaited *a, uint64_t hash)
{
	uint32_t *number = map_get(&a->numbers, hash);

	return number ? &a->places.items[*number - 1] : NULL;
}

static const struct task_says meets = {ROLE_MEETS, KIND_NONE};

static bool sleeps_idle(const struct awaited *a, uint32_t i)
{
	return a->activities[i] == ACTIVITY_IDLE && a->p->stacks[i].state == THREAD_SLEEPING &&
	       a->p->stacks[i].thread < a->p->thread_count;
}

/* Stack number I sleeps below all that stand on it, as far as those SAY so. False: no memory. */
static bool add_sleep(struct awaited *a, uint32_t i, struct task_says says)
{
	const struct profile_stack *s = &a->p->stacks[i];
	uint32_t j;

	for (j = s->depth; j-- > 0;) {
		const struct profile_frame *f = &a->p->frames[s->frames[j]];
		struct place *place = frame_is_of_program(f) ? place_of(a, hash_of(f, says)) : NULL;

		if (!place || place->last == i + 1)
			continue;
		place->last = i + 1;
		if (!add_time(a, s, place, &place->slept))
			return false;
	}
	return true;
}

/* Whether a thread waits for what S, which SAYS so, does below a place. */
static bool is_awaited(const struct awaited *a, const struct profile_stack *s, struct task_says says)
{
	uint32_t j;

	for (j = s->depth; j-- > 0;) {
		const struct profile_frame *f = &a->p->frames[s->frames[j]];
		const struct place *place = frame_is_of_program(f) ? place_of(a, hash_of(f, says)) : NULL;

		if (place && place->waited >= place->slept / 2 &&
		    (says.role == ROLE_MEETS || a->others[says.kind] < place->waited / 2))
			return true;
	}
	return false;
}

static bool conclude(struct awaited *a)
{
	const struct profile *p = a->p;
	uint32_t i;

	for (i = 0; i < p->stack_count; i++) {
		struct task_says says = shown(a, &p->stacks[i]);

		if (!sleeps_idle(a, i)) {
			a->others[says.role == ROLE_RUNS ? says.kind : KIND_NONE] += p->stacks[i].weight;
			continue;
		}
		if (!add_sleep(a, i, meets) || (says.role == ROLE_RUNS && !add_sleep(a, i, says)))
			return false;
	}
	for (i = 0; i < p->stack_count; i++) {
		struct task_says says = shown(a, &p->stacks[i]);

		if (sleeps_idle(a, i) && ((says.role == ROLE_RUNS && is_awaited(a, &p->stacks[i], says)) ||
					  is_awaited(a, &p->stacks[i], meets)))
			a->activities[i] = ACTIVITY_SLEEP;
	}
	return true;
}

bool awaited_work(const struct profile *p, uint8_t *activities)
{
	struct awaited a = {.p = p, .activities = activities};
	bool ok;

	if (p->weight_kind != WEIGHT_WALL)
		return true;
	a.says = task_says_of_frames(p);
	ok = a.says && find_places(&a, parked_unseen_in(p) == PARKED_SEEN) && (!a.places.count || conclude(&a));
	map_free(&a.numbers);
	map_free(&a.times);
	free(a.places.items);
	free(a.sums.items);
	free(a.says);
	return ok;
}
