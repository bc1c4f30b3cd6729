/*
 * work_locks.c - what was waited for each lock besides idle waits, and where.
 *
 * Stacks say of a wait the class of its lock and the way in which it waited, and of many locks which one it was. Where
 * they do not, and a part of such waits is idle, each of these locks has the same share of it.
 *
 * A future, a latch or the like is made for one wait: rows of hundreds of them say nothing. They are one row, of their
 * class.
 */
#include "profile/views/work_locks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/hash.h"
#include "common/base/vector.h"
#include "profile/model/askers.h"
#include "profile/model/human.h"
#include "profile/model/work/contention.h"

#define WAYS (LOCK_SLEEP + 1)

/* So many objects of a class are one row, with so many waits for each on average, in halves. */
#define FRESH_OBJECTS 4u
#define FRESH_WAITS 3u

/* What was waited in one way for locks of one class. */
struct lock_share {
	uint64_t all, work; /* weights; work: besides idle waits */
	uint64_t samples, samples_of_work;
	uint32_t place;     /* frame: the method of the program in which was waited most of `work`, and how much */
	uint64_t most;
};

/* One lock, or those of one class that stacks do not tell apart. */
struct lock_class {
	const char *name;
	uint32_t number; /* of the lock, as in struct profile_frame */
	uint8_t kind;
	struct lock_share share;
};

/* All locks of a class for which threads waited in one way. */
struct family {
	struct profile_waits sum;
	uint32_t objects;
	bool more;          /* … and others, which the profile does not keep apart */
	uint32_t item;      /* number of its lock_class, where it is one row */
};

struct lock_classes {
	const struct profile *p;
	struct lock_class *items;
	uint32_t count;
	struct map by_class; /* class and way → family + 1 */
	VECTOR(struct family) families;
	struct name_table names;
	struct map by_place; /* item and name of the method → sum + 1 */
	VECTOR(uint64_t) sums;
};

/* ---- locks of one class ---- */

static uint64_t hash_of(const char *class_name, uint8_t kind)
{
	return hash_mix(hash_seeded(class_name, strlen(class_name)) + kind);
}

static struct family *family_of(const struct lock_classes *c, const char *class_name, uint8_t kind)
{
	uint32_t *number = map_get(&c->by_class, hash_of(class_name, kind));

	return number ? &c->families.items[*number - 1] : NULL;
}

/* False: no memory. */
static bool add_to_family(struct lock_classes *c, const struct profile_waits *lock)
{
	uint32_t *number = map_put(&c->by_class, hash_of(lock->name, lock->kind), NULL);
	struct family *f = number && !*number ? VECTOR_PUSH(&c->families) : NULL;

	if (f) {
		f->sum = (struct profile_waits){.name = lock->name, .kind = lock->kind};
		*number = (uint32_t)c->families.count;
	}
	if (!number || !*number)
		return false;
	f = &c->families.items[*number - 1];
	f->sum.waits += lock->waits;
	f->sum.time += lock->time;
	f->sum.open += lock->open;
	f->sum.longest = MAX(f->sum.longest, lock->longest);
	f->objects += lock->identity != 0;
	f->more |= !lock->identity;
	return true;
}

/* Whether several threads may wait for an object of F, which is made for one occasion all the same. */
static bool is_for_once(const struct family *f)
{
	static const char *const classes[] = {"java/util/concurrent/CountDownLatch$Sync",
					      "java/util/concurrent/FutureTask", "java/util/concurrent/Phaser$QNode"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(classes); i++)
		if (strcmp(f->sum.name, classes[i]) == 0)
			return true;
	return false;
}

/* Whether there is a new one for every wait. Who waits to enter a monitor is not the first one that wants it. */
static bool is_one_row(const struct family *f)
{
	if (!f || f->objects < FRESH_OBJECTS)
		return false;
	if (f->sum.kind == LOCK_MONITOR)
		return text_begins(f->sum.name, LOCKS_OF_MAP);
	return (f->sum.waits * 2 <= (uint64_t)f->objects * FRESH_WAITS || is_for_once(f));
}

/* ---- what stacks say ---- */

/* The way in which S waited: enum lock_kind. */
static uint8_t way_of(const struct profile_stack *s)
{
	return s->state == THREAD_BLOCKED ? LOCK_MONITOR : s->state == THREAD_WAITING ? LOCK_WAIT :
	       s->state == THREAD_SLEEPING ? LOCK_SLEEP : LOCK_PARK;
}

static void add(struct lock_share *share, const struct profile_stack *s, bool idle)
{
	share->all += s->weight;
	share->samples += s->samples;
	share->work += idle ? 0 : s->weight;
	share->samples_of_work += idle ? 0 : s->samples;
}

/* Item number ITEM was waited for by S, in the innermost method of the program. False: no memory. */
static bool add_place(struct lock_classes *c, uint32_t item, const struct profile_stack *s)
{
	struct lock_share *share = &c->items[item].share;
	uint32_t i = s->depth, *slot;
	uint64_t *sum;

	while (i > 0 && !frame_is_of_program(&c->p->frames[s->frames[i - 1]]))
		i--;
	if (!i)
		return true;
	slot = map_put(&c->by_place, (uint64_t)item << 32 | c->names.of_frame[s->frames[i - 1]], NULL);
	sum = slot && !*slot ? VECTOR_PUSH(&c->sums) : NULL;
	if (sum)
		*slot = (uint32_t)c->sums.count;
	if (!slot || !*slot)
		return false;
	sum = &c->sums.items[*slot - 1];
	*sum += s->weight;
	if (*sum > share->most) {
		share->most = *sum;
		share->place = s->frames[i - 1];
	}
	return true;
}

/* The frame that is the class of the lock of S; P's frame_count: no lock was given. */
static uint32_t lock_of(const struct profile *p, const struct profile_stack *s)
{
	const struct profile_frame *leaf = s->depth ? &p->frames[s->frames[s->depth - 1]] : NULL;

	return leaf && leaf->class_name && (!leaf->name || !*leaf->name) ? s->frames[s->depth - 1] : p->frame_count;
}

/* Stack S to its lock; PLACES: item + 1 by frame and way. False: no memory. */
static bool add_stack(struct lock_classes *c, const struct profile_stack *s, bool idle, uint32_t *places)
{
	const struct profile *p = c->p;
	uint32_t lock = lock_of(p, s), *known = &places[(size_t)lock * WAYS + way_of(s)];
	const char *name = lock < p->frame_count ? p->frames[lock].class_name : "";
	struct family *f = family_of(c, name, way_of(s));

	if (is_one_row(f))
		known = &f->item;
	if (!*known) {
		*known = ++c->count;
		c->items[*known - 1].name = name;
		c->items[*known - 1].number = lock < p->frame_count ? p->frames[lock].lock : 0;
		c->items[*known - 1].kind = way_of(s);
	}
	add(&c->items[*known - 1].share, s, idle);
	return idle || add_place(c, *known - 1, s);
}

/* False: no memory. */
static bool find_classes(struct lock_classes *c, const struct work *w)
{
	const struct profile *p = c->p;
	size_t most = ((size_t)p->frame_count + 1) * WAYS;
	uint32_t *places = calloc(most, sizeof(*places)), i;
	bool whole = name_table_build(&c->names, p, STYLE_TEXT | STYLE_NORM) == 0;

	c->items = calloc(most, sizeof(*c->items));
	whole &= places && c->items;
	for (i = 0; whole && i < p->lock_count; i++)
		whole = add_to_family(c, &p->locks[i]);
	for (i = 0; whole && i < p->stack_count; i++)
		whole = add_stack(c, &p->stacks[i], w->groups.activity[i] == ACTIVITY_IDLE, places);
	free(places);
	return whole;
}

/* The class and way of LOCK, or itself by its NUMBER; NULL: it is in no stack. */
static const struct lock_share *share_of(const struct lock_classes *c, const struct profile_waits *lock,
					uint32_t number)
{
	const struct lock_share *of_class = NULL;
	uint32_t i;

	for (i = 0; i < c->count; i++) {
		const struct lock_class *item = &c->items[i];

		if (item->number == number)
			return &item->share;
		if (!item->number && item->kind == lock->kind && strcmp(item->name, lock->name) == 0)
			of_class = &item->share;
	}
	return of_class;
}

/* ---- rows ---- */

/* Of N the share PART of ALL. */
static uint64_t part_of(uint64_t n, uint64_t part, uint64_t all)
{
	return part < all ? (uint64_t)((double)n * ((double)part / (double)all) + 0.5) : n;
}

/* What stands behind the name of a row: of how many objects it is (0: of one), and where most of it was waited. */
static void note(struct work_lock *row, const struct lock_classes *c, const struct lock_share *share,
		 const struct family *objects)
{
	int n = 0;

	if (objects)
		n = snprintf(row->note, sizeof(row->note), ", %s objects%s", human_count(objects->objects).text,
			     objects->more ? " and more" : "");
	if (share && share->most > share->work / 2)
		snprintf(row->note + n, sizeof(row->note) - (size_t)n, " in %.120s",
			 name_text(&c->names, c->names.of_frame[share->place]));
}

/* LOCK, or all OBJECTS that are as one, goes to LOCKS without its idle waits, which are added to those of all. */
static void add_lock(struct work_locks *locks, const struct lock_classes *c, const struct profile_waits *lock,
		     const struct lock_share *share, const struct family *objects)
{
	struct profile_waits left = *lock, *idle = &locks->idle;

	if (share && share->work < share->all) {
		left.time = part_of(lock->time, share->work, share->all);
		left.waits = part_of(lock->waits, share->samples_of_work, share->samples);
		left.open = MIN(part_of(lock->open, share->samples_of_work, share->samples), left.waits);
		left.longest = MIN(lock->longest, left.time);
		idle->time += lock->time - left.time;
		idle->waits += lock->waits - left.waits;
		idle->longest = MAX(idle->longest, MIN(lock->longest, lock->time - left.time));
		locks->idle_locks += objects ? objects->objects : 1;
	}
	if (share && !share->work && share->all)
		return;
	locks->items[locks->count].waits = left;
	note(&locks->items[locks->count++], c, share, objects);
}

static int longest_first(const void *a, const void *b)
{
	uint64_t x = ((const struct work_lock *)a)->waits.time, y = ((const struct work_lock *)b)->waits.time;

	return x < y ? 1 : x > y ? -1 : 0;
}

static void add_locks(struct work_locks *locks, const struct lock_classes *c)
{
	const struct profile *p = c->p;
	uint32_t i;

	for (i = 0; i < p->lock_count; i++)
		if (!is_one_row(family_of(c, p->locks[i].name, p->locks[i].kind)))
			add_lock(locks, c, &p->locks[i], share_of(c, &p->locks[i], i + 1), NULL);
	for (i = 0; i < c->families.count; i++) {
		const struct family *f = &c->families.items[i];

		if (is_one_row(f))
			add_lock(locks, c, &f->sum, f->item ? &c->items[f->item - 1].share : NULL, f);
	}
	qsort(locks->items, locks->count, sizeof(*locks->items), longest_first);
}

int work_locks(const struct profile *p, const struct work *w, struct work_locks *locks)
{
	struct lock_classes c = {.p = p};
	bool whole = find_classes(&c, w);

	*locks = (struct work_locks){.items = calloc((size_t)p->lock_count + 1, sizeof(*locks->items)),
				     .idle_unsure = w->groups.unsure > w->idle / 2};
	if (locks->items && whole)
		add_locks(locks, &c);
	map_free(&c.by_class);
	map_free(&c.by_place);
	name_table_free(&c.names);
	free(c.families.items);
	free(c.sums.items);
	free(c.items);
	return locks->items && whole ? 0 : -ENOMEM;
}
