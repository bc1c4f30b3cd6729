/*
 * lock_owners.c - who has a lock that others wait for does not wait for work, by those waits themselves.
 *
 * Wall time alone does not say who has a lock; monitor_holders.c concludes. Where the session has the event lock as
 * well, that knows owners with their stacks. A thread that looks idle in a method in which one of its name had a lock
 * has work if others waited for that at least half as long. Who waits in Object.wait has given its monitor back, and
 * who waits for a Condition its lock, but no monitor.
 */
#include "profile/model/work/lock_owners.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/map.h"
#include "common/base/vector.h"
#include "profile/model/askers.h"
#include "profile/model/work/activity_kind.h"

/* A method in which a thread of one name had a lock. */
struct held {
	double waited;  /* meanwhile, by others */
	uint64_t idle;  /* that the thread seemed to be below it */
	bool monitor;
};

struct owners {
	const struct profile *p, *waits;
	uint8_t *activities;
	struct map places; /* thread's name and method → index into `held` + 1 */
	VECTOR(struct held) held;
};

static const struct profile *waits_of(const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->session_count; i++)
		if (p->session[i]->weight_kind == WEIGHT_WAIT && p->session[i]->holder_count)
			return p->session[i];
	return NULL;
}

static uint64_t hash_of(const char *name, const struct profile_frame *f)
{
	return hash_mix(hash_seeded(name, strlen(name)) + frame_method_hash(f));
}

/* How much longer others waited for locks of the thread called NAME than is known of its stacks. */
static double scale_of(const struct profile *waits, const char *name)
{
	uint64_t all = 0, seen = 0;
	uint32_t i;

	for (i = 0; i < waits->owner_count; i++)
		if (strcmp(waits->owners[i].name, name) == 0)
			all += waits->owners[i].time;
	for (i = 0; i < waits->holder_count; i++)
		if (strcmp(waits->holders[i].name, name) == 0)
			seen += waits->holders[i].time;
	return all > seen && seen ? (double)all / (double)seen : 1;
}

/* How much longer others waited for the lock that H had than is known of owners of it: a fair one is handed over. */
static double scale_of_lock(const struct profile *waits, const struct profile_waits *h)
{
	uint64_t all = h->lock ? waits->locks[h->lock - 1].time : 0, seen = 0;
	uint32_t i;

	for (i = 0; i < waits->holder_count; i++)
		if (waits->holders[i].lock == h->lock)
			seen += waits->holders[i].time;
	return all > seen && seen ? (double)all / (double)seen : 1;
}

/* Owner H had a lock in the innermost method of the program. False: no memory. */
static bool add_owner(struct owners *o, const struct profile_waits *h)
{
	const struct profile *w = o->waits;
	uint32_t i = h->depth, *slot;
	struct held *held;

	while (i > 0 && !frame_is_of_program(&w->frames[h->frames[i - 1]]))
		i--;
	if (!i || !*h->name)
		return true;
	slot = map_put(&o->places, hash_of(h->name, &w->frames[h->frames[i - 1]]), NULL);
	held = slot && !*slot ? VECTOR_PUSH(&o->held) : NULL;
	if (held)
		*slot = (uint32_t)o->held.count;
	if (!slot || !*slot)
		return false;
	held = &o->held.items[*slot - 1];
	held->waited += (double)h->time * MAX(scale_of(w, h->name), scale_of_lock(w, h));
	held->monitor |= h->lock && w->locks[h->lock - 1].kind == LOCK_MONITOR;
	return true;
}

/* The innermost method of stack number I below which its thread may have a lock while it seems idle; NULL: none. */
static struct held *held_by(const struct owners *o, uint32_t i)
{
	const struct profile *p = o->p;
	const struct profile_stack *s = &p->stacks[i];
	uint32_t j;

	if (o->activities[i] != ACTIVITY_IDLE || s->thread >= p->thread_count || s->state == THREAD_WAITING)
		return NULL;
	for (j = s->depth; j-- > 0;) {
		const struct profile_frame *f = &p->frames[s->frames[j]];
		uint32_t *slot = frame_is_of_program(f) ?
			map_get(&o->places, hash_of(p->threads[s->thread].name, f)) : NULL;

		if (slot && (o->held.items[*slot - 1].monitor || !awaits_condition(p, s)))
			return &o->held.items[*slot - 1];
	}
	return NULL;
}

static void conclude(struct owners *o)
{
	struct held *held;
	uint32_t i;

	for (i = 0; i < o->p->stack_count; i++) {
		held = held_by(o, i);
		if (held)
			held->idle += o->p->stacks[i].weight;
	}
	for (i = 0; i < o->p->stack_count; i++) {
		held = held_by(o, i);
		if (held && held->waited >= (double)held->idle / 2)
			o->activities[i] = activity_of_owner(o->p->stacks[i].state, ACTIVITY_IDLE);
	}
}

bool lock_owners_work(const struct profile *p, uint8_t *activities)
{
	struct owners o = {.p = p, .waits = waits_of(p), .activities = activities};
	bool ok = true;
	uint32_t i;

	if (p->weight_kind != WEIGHT_WALL || !o.waits)
		return true;
	for (i = 0; ok && i < o.waits->holder_count; i++)
		ok = add_owner(&o, &o.waits->holders[i]);
	if (ok)
		conclude(&o);
	map_free(&o.places);
	free(o.held.items);
	return ok;
}
