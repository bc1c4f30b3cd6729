/*
 * class_inits.c - who waits for another thread that initialises a class does not wait for a CPU.
 *
 * The JVM says no more of such a thread than that it is blocked, as at a safepoint: it seems to be ready. That it waits
 * for a class is concluded
 *   1. where its innermost method is one that uses the class: the thread that initialises it has `<clinit>` right below
 *      that method, for at least half as long;
 *   2. where it is in an initialiser itself, and may use the class anywhere, by its standing still: it is seen there
 *      STILL times or more at one place and never on a CPU in any initialiser, while another thread is in one for at
 *      least half as long. Two that need each other's class wait so for ever. Who lacks a CPU gets one now and then.
 */
#include "profile/model/work/class_inits.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/map.h"
#include "common/base/vector.h"
#include "profile/model/frame_name.h"
#include "profile/model/work/activity_kind.h"

#define STILL 10

struct uses {
	struct map numbers; /* of a method that uses a class that is being initialised, by its hash → index + 1 */
	VECTOR(uint64_t) weights; /* that the initialiser takes */
};

/* The methods that S has called initialisers from, with its weight. False: no memory. */
static bool add_uses(struct uses *u, const struct profile *p, const struct profile_stack *s)
{
	uint32_t i, *number;

	for (i = 0; i + 1 < s->depth; i++) {
		const struct profile_frame *f = &p->frames[s->frames[i]], *next = &p->frames[s->frames[i + 1]];
		uint64_t *fresh;

		if (!frame_is_method(f) || !frame_is_method(next) || strcmp(next->name, "<clinit>") != 0)
			continue;
		number = map_put(&u->numbers, frame_method_hash(f), NULL);
		fresh = number && !*number ? VECTOR_PUSH(&u->weights) : NULL;
		if (fresh) {
			*fresh = 0;
			*number = (uint32_t)u->weights.count;
		}
		if (!number || !*number)
			return false;
		u->weights.items[*number - 1] += s->weight;
	}
	return true;
}

static bool is_kept(const struct uses *u, const struct profile *p, const struct profile_stack *s)
{
	const struct profile_frame *f = s->depth ? &p->frames[s->frames[s->depth - 1]] : NULL;
	uint32_t *number = f && frame_is_method(f) ? map_get(&u->numbers, frame_method_hash(f)) : NULL;

	return number && u->weights.items[*number - 1] >= s->weight / 2;
}

/* ---- in an initialiser itself ---- */

/* What a thread did in initialisers. */
struct initialising {
	uint64_t weight;
	bool ran;
};

static bool is_initialising(const struct profile *p, const struct profile_stack *s)
{
	uint32_t i;

	for (i = 0; i < s->depth; i++)
		if (frame_is_method(&p->frames[s->frames[i]]) && strcmp(p->frames[s->frames[i]].name, "<clinit>") == 0)
			return true;
	return false;
}

/* How long the thread was in initialisers that was there longest, but for thread BUT. */
static uint64_t longest(const struct initialising *threads, uint32_t count, uint32_t but)
{
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < count; i++)
		if (i != but)
			most = MAX(most, threads[i].weight);
	return most;
}

/* False: no memory. */
static bool lock_in_initialisers(const struct profile *p, uint8_t *activities)
{
	struct initialising *threads = calloc((size_t)p->thread_count + 1, sizeof(*threads));
	bool *inits = calloc((size_t)p->stack_count + 1, sizeof(*inits)), ok = threads && inits;
	uint32_t i;

	for (i = 0; ok && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];

		inits[i] = s->thread < p->thread_count && is_initialising(p, s);
		if (!inits[i])
			continue;
		threads[s->thread].weight += s->weight;
		threads[s->thread].ran |= activities[i] == ACTIVITY_RUNNING;
	}
	for (i = 0; ok && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];

		if (inits[i] && activities[i] == ACTIVITY_HELD && s->samples >= STILL && !threads[s->thread].ran &&
		    longest(threads, p->thread_count, s->thread) >= s->weight / 2)
			activities[i] = ACTIVITY_LOCK;
	}
	free(inits);
	free(threads);
	return ok;
}

/* ---- all ---- */

bool class_inits_lock(const struct profile *p, uint8_t *activities)
{
	struct uses u = {.numbers = {0}};
	bool ok;
	uint32_t i;

	if (p->weight_kind != WEIGHT_WALL)
		return true;
	ok = lock_in_initialisers(p, activities);
	for (i = 0; ok && i < p->stack_count; i++)
		ok = add_uses(&u, p, &p->stacks[i]);
	for (i = 0; ok && u.weights.count && i < p->stack_count; i++)
		if (activities[i] == ACTIVITY_HELD && is_kept(&u, p, &p->stacks[i]))
			activities[i] = ACTIVITY_LOCK;
	map_free(&u.numbers);
	free(u.weights.items);
	return ok;
}
