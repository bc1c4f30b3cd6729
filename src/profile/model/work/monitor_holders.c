/*
 * monitor_holders.c - a loop that sleeps inside `synchronized` does not wait for work: it holds others up.
 *
 * A sample does not say which monitors a thread has. It is concluded in two ways, never of Object.wait, which gives the
 * monitor back:
 *   1. threads wait to enter one in method M, at least half as long as others sleep or are parked below M. The same of
 *      a lock or permit of java.util.concurrent for which M asks; who waits for a Condition has given its lock back;
 *   2. a thread waits to enter one in methods of class C, and one thread alone was in methods of C for most of that
 *      time, for twice as long at most, and did not wait there: other methods of its class lock an object, too.
 * Of wall time only: of waits it is known who had the lock.
 */
#include "profile/model/work/monitor_holders.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/map.h"
#include "common/base/vector.h"
#include "profile/model/askers.h"
#include "profile/model/frame_name.h"
#include "profile/model/work/activity_kind.h"

/* Of the longest wait, in percent: the one thread has at least so much of it, all others together at most so much. */
#define ONE_LEAST 80u
#define OTHERS_MOST 20u

/* Weight of stacks that have a method: of those that wait to enter a monitor in it, and of idle ones. */
struct entered {
	uint64_t blocked, idle;
	bool monitor;  /* that is wanted, not a lock of java.util.concurrent */
	uint32_t last; /* stack that was counted last + 1: recursion counts once */
};

/* What a thread did in methods of a class. */
struct visit {
	uint32_t class, thread;
	uint64_t blocked, inside;
};

/* A class whose methods threads wait in to enter a monitor. */
struct locked_class {
	uint64_t longest;      /* wait of one thread */
	uint64_t inside, most; /* of all threads there, and of the one that was there most */
	uint32_t thread;
	uint32_t last; /* as above */
};

struct holders {
	const struct profile *p;
	uint8_t *activities;
	uint32_t *method_of, *class_of; /* by frame: number + 1; 0: no one waits there */
	uint32_t methods, classes;
	struct entered *entered;
	struct locked_class *locked;
	struct map places; /* class and thread → index of the visit + 1 */
	VECTOR(struct visit) visits;
};

/* Whether stack number I is of a thread that waits for a lock. */
static bool is_in_front(const struct holders *h, uint32_t i)
{
	return h->p->stacks[i].state == THREAD_BLOCKED || h->activities[i] == ACTIVITY_LOCK;
}

/*
 * The method that asks for the lock for which stack number I waits: for a monitor the innermost one, else of the
 * program. NULL: there is none.
 */
static const struct profile_frame *asks_in(const struct holders *h, uint32_t i)
{
	const struct profile_stack *s = &h->p->stacks[i];
	uint32_t k;

	for (k = s->depth; is_in_front(h, i) && k-- > 0;) {
		const struct profile_frame *f = &h->p->frames[s->frames[k]];

		if (s->state == THREAD_BLOCKED ? frame_is_method(f) : frame_is_of_program(f))
			return f;
	}
	return NULL;
}

static bool give_number(struct map *m, uint64_t hash, uint32_t *count)
{
	uint32_t *number = map_put(m, hash, NULL);

	if (number && !*number)
		*number = ++*count;
	return number;
}

/* Where threads wait for locks. False: no memory. */
static bool find_places(struct holders *h)
{
	struct map methods = {0}, classes = {0};
	const struct profile *p = h->p;
	bool ok = true;
	uint32_t i;

	for (i = 0; ok && i < p->stack_count; i++) {
		const struct profile_frame *f = asks_in(h, i);

		ok = !f || (give_number(&methods, frame_method_hash(f), &h->methods) &&
			    (p->stacks[i].state != THREAD_BLOCKED ||
			     give_number(&classes, frame_class_hash(f), &h->classes)));
	}
	for (i = 0; ok && h->methods && i < p->frame_count; i++) {
		uint32_t *method, *class;

		if (!frame_is_method(&p->frames[i]))
			continue;
		method = map_get(&methods, frame_method_hash(&p->frames[i]));
		class = map_get(&classes, frame_class_hash(&p->frames[i]));
		h->method_of[i] = method ? *method : 0;
		h->class_of[i] = class ? *class : 0;
	}
	map_free(&methods);
	map_free(&classes);
	return ok;
}

/* Whether stack number I may be that of a thread that has a monitor, and waits for something else. */
static bool may_hold(const struct holders *h, uint32_t i)
{
	return h->activities[i] == ACTIVITY_IDLE && h->p->stacks[i].state != THREAD_WAITING;
}

/* ---- by the method ---- */

static void weigh_methods(struct holders *h, uint32_t i)
{
	const struct profile_stack *s = &h->p->stacks[i];
	bool in_front = is_in_front(h, i);
	uint32_t j;

	for (j = in_front || may_hold(h, i) ? s->depth : 0; j-- > 0;) {
		uint32_t method = h->method_of[s->frames[j]];
		struct entered *e = method ? &h->entered[method - 1] : NULL;

		if (!e || e->last == i + 1)
			continue;
		e->last = i + 1;
		e->monitor |= s->state == THREAD_BLOCKED;
		if (in_front)
			e->blocked += s->weight;
		else
			e->idle += s->weight;
		if (in_front)
			break; /* methods further out are not where it waits */
	}
}

static bool holds_by_method(const struct holders *h, const struct profile_stack *s)
{
	bool awaits = awaits_condition(h->p, s);
	uint32_t j;

	for (j = s->depth; j-- > 0;) {
		uint32_t method = h->method_of[s->frames[j]];
		const struct entered *e = method ? &h->entered[method - 1] : NULL;

		if (e && (e->monitor || !awaits) && e->blocked && e->blocked >= e->idle / 2)
			return true;
	}
	return false;
}

/* ---- by the class ---- */

static struct visit *visit_of(struct holders *h, uint32_t class, uint32_t thread)
{
	uint32_t *place = map_put(&h->places, (uint64_t)class << 32 | thread, NULL);
	struct visit *v = place && !*place ? VECTOR_PUSH(&h->visits) : NULL;

	if (v) {
		*v = (struct visit){.class = class, .thread = thread};
		*place = (uint32_t)h->visits.count;
	}
	return place && *place ? &h->visits.items[*place - 1] : NULL;
}

static bool weigh_classes(struct holders *h, uint32_t i)
{
	const struct profile_stack *s = &h->p->stacks[i];
	bool in_front = s->state == THREAD_BLOCKED;
	uint32_t j;

	if (s->thread >= h->p->thread_count || s->state == THREAD_WAITING)
		return true;
	for (j = s->depth; j-- > 0;) {
		uint32_t class = h->class_of[s->frames[j]];
		struct visit *v;

		if (!class || h->locked[class - 1].last == i + 1)
			continue;
		h->locked[class - 1].last = i + 1;
		v = visit_of(h, class - 1, s->thread);
		if (!v)
			return false;
		if (in_front) {
			v->blocked += s->weight;
			return true;
		}
		v->inside += s->weight;
	}
	return true;
}

static void find_only_ones(struct holders *h)
{
	size_t i;

	for (i = 0; i < h->visits.count; i++) {
		const struct visit *v = &h->visits.items[i];
		struct locked_class *c = &h->locked[v->class];

		c->longest = MAX(c->longest, v->blocked);
		c->inside += v->inside;
		if (v->inside <= c->most)
			continue;
		c->most = v->inside;
		c->thread = v->thread;
	}
}

static bool holds_by_class(const struct holders *h, const struct profile_stack *s)
{
	uint32_t j;

	for (j = s->depth; j-- > 0;) {
		uint32_t class = h->class_of[s->frames[j]];
		const struct locked_class *c = class ? &h->locked[class - 1] : NULL;

		if (c && c->thread == s->thread && c->longest && c->longest >= c->most / 2 &&
		    c->most >= c->longest / 100 * ONE_LEAST && c->inside - c->most <= c->longest / 100 * OTHERS_MOST)
			return true;
	}
	return false;
}

/* ---- both ---- */

static bool conclude(struct holders *h)
{
	const struct profile *p = h->p;
	uint32_t i;

	h->entered = calloc(h->methods, sizeof(*h->entered));
	h->locked = calloc(h->classes + 1, sizeof(*h->locked));
	if (!h->entered || !h->locked)
		return false;
	for (i = 0; i < p->stack_count; i++) {
		weigh_methods(h, i);
		if (!weigh_classes(h, i))
			return false;
	}
	find_only_ones(h);
	for (i = 0; i < p->stack_count; i++)
		if (may_hold(h, i) && (holds_by_method(h, &p->stacks[i]) || holds_by_class(h, &p->stacks[i])))
			h->activities[i] = activity_of_owner(p->stacks[i].state, ACTIVITY_IDLE);
	return true;
}

bool monitor_holders_work(const struct profile *p, uint8_t *activities)
{
	struct holders h = {.p = p, .activities = activities};
	bool ok;

	if (p->weight_kind != WEIGHT_WALL)
		return true;
	h.method_of = calloc((size_t)p->frame_count + 1, sizeof(*h.method_of));
	h.class_of = calloc((size_t)p->frame_count + 1, sizeof(*h.class_of));
	ok = h.method_of && h.class_of && find_places(&h) && (!h.methods || conclude(&h));
	map_free(&h.places);
	free(h.visits.items);
	free(h.entered);
	free(h.locked);
	free(h.method_of);
	free(h.class_of);
	return ok;
}
