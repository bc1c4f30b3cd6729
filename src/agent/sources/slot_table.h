/*
 * slot_table.h - a table of places by number, taken and given back by any thread without a lock. Inner header of the
 * sources room.
 *
 * A place begins with its key; 0 = free. Who takes it is alone with it until it gives it a key again. The table does
 * not grow, and a place lies at most SLOT_PROBES behind where its key leads.
 *
 * Keys lead into the first few places; only a key that finds none near there leads into the next three times as many,
 * and so on (levels). So a program with few threads at a time uses few pages, however many threads it has had: keys of
 * threads are new all the time. Keys next to each other lie next to each other.
 */
#ifndef JSTROBE_SOURCES_SLOT_TABLE_H
#define JSTROBE_SOURCES_SLOT_TABLE_H

#include <stdatomic.h>
#include <sys/mman.h>

#include "common/base/hash.h"
#include "common/base/map.h"
#include "common/os/os.h"

#define SLOT_PROBES 32
#define SLOT_BLOCK 64u
#define SLOT_TAKEN UINT64_MAX /* key of a place that is being filled in or emptied */

struct slot_table {
	uint8_t *places;
	size_t bytes;         /* of a place */
	uint32_t limit;          /* places: few × 4^n */
	uint32_t few;            /* the first places of these, level 0 */
	_Atomic uint32_t level;  /* the last one that a key has led to */
};

typedef _Atomic uint64_t slot_key;

static inline slot_key *slot_table_at(const struct slot_table *c, uint32_t i)
{
	return (slot_key *)(c->places + (size_t)i * c->bytes);
}

/* The number of the place at P. */
static inline uint32_t slot_table_number(const struct slot_table *c, const void *p)
{
	return (uint32_t)((size_t)((const uint8_t *)p - c->places) / c->bytes);
}

/* How many places there are up to level LEVEL. */
static inline uint32_t slot_table_up_to(const struct slot_table *c, uint32_t level)
{
	return c->few << 2 * level;
}

static inline uint32_t slot_table_level(const struct slot_table *c)
{
	return atomic_load_explicit(&((struct slot_table *)c)->level, memory_order_acquire);
}

/* Places that may be in use are below it. */
static inline uint32_t slot_table_reach(const struct slot_table *c)
{
	return slot_table_up_to(c, slot_table_level(c));
}

/* FN for each place that may be in use, until it returns false. */
static inline void slot_table_each(const struct slot_table *c, bool (*fn)(void *place, void *arg), void *arg)
{
	uint32_t i, reach = slot_table_reach(c);

	for (i = 0; i < reach && fn(slot_table_at(c, i), arg); i++)
		;
}

/*
 * Until *LEFT is 0, which the places count that wait to be fetched: FN for each that may be in use. It says whether it
 * was one of these.
 */
static inline void slot_table_fetch(const struct slot_table *c, _Atomic uint32_t *left,
				    bool (*fn)(void *place, void *arg), void *arg)
{
	uint32_t i, reach = slot_table_reach(c);

	for (i = 0; i < reach && atomic_load_explicit(left, memory_order_acquire); i++)
		if (fn(slot_table_at(c, i), arg))
			atomic_fetch_sub_explicit(left, 1, memory_order_relaxed);
}

/* How many places KEY may be at, so far. */
static inline uint32_t slot_table_tries(const struct slot_table *c)
{
	uint32_t level = slot_table_level(c);

	return (level + 1) * SLOT_PROBES + (slot_table_up_to(c, level) == c->limit ? SLOT_PROBES : 0);
}

/*
 * The Ith place that KEY may be at: on each level SLOT_PROBES of them, one half behind each other, beside its
 * neighbours', the other half somewhere else in the same way; and on the last level as many anywhere.
 */
static inline slot_key *slot_table_near(const struct slot_table *c, uint64_t key, uint32_t i)
{
	uint32_t level = i / SLOT_PROBES, half = i / (SLOT_PROBES / 2), from, places, at;
	bool own = level && slot_table_up_to(c, level - 1) >= c->limit;

	level -= own;
	from = level ? slot_table_up_to(c, level - 1) : 0;
	places = slot_table_up_to(c, level) - from;
	at = own ? (uint32_t)hash_mix(key ^ (uint64_t)(i % SLOT_PROBES) << 40) /* blocks fill as a whole */
		 : (uint32_t)hash_mix(key / SLOT_BLOCK * 64 + half) * SLOT_BLOCK + (uint32_t)(key % SLOT_BLOCK) +
			   i % (SLOT_PROBES / 2);
	return slot_table_at(c, from + at % places);
}

/* The place at P if it has KEY; it has none then. */
static inline bool slot_table_try(slot_key *p, uint64_t key)
{
	uint64_t there = key;

	return atomic_load_explicit(p, memory_order_relaxed) == key &&
	       atomic_compare_exchange_strong(p, &there, SLOT_TAKEN);
}

/* The place of KEY, or NULL. */
static inline void *slot_table_take(const struct slot_table *c, uint64_t key)
{
	uint32_t i, tries = slot_table_tries(c);

	for (i = 0; i < tries; i++)
		if (slot_table_try(slot_table_near(c, key, i), key))
			return slot_table_near(c, key, i);
	return NULL;
}

/* Where KEY's place is, which stays as it is; NULL = it has none. For KEY's own thread. */
static inline void *slot_table_find(const struct slot_table *c, uint64_t key)
{
	uint32_t i, tries = slot_table_tries(c);

	for (i = 0; i < tries; i++)
		if (atomic_load_explicit(slot_table_near(c, key, i), memory_order_acquire) == key)
			return slot_table_near(c, key, i);
	return NULL;
}

/* A free place for KEY, which has none; NULL: there is none near. */
static inline void *slot_table_claim(struct slot_table *c, uint64_t key)
{
	uint32_t i, level, reached;

	for (i = 0; i < slot_table_tries(c); i++) {
		if (slot_table_try(slot_table_near(c, key, i), 0))
			return slot_table_near(c, key, i);
		level = (i + 1) / SLOT_PROBES;
		reached = slot_table_level(c);
		while (slot_table_up_to(c, level) <= c->limit && reached < level &&
		       !atomic_compare_exchange_weak(&c->level, &reached, level))
			;
	}
	return NULL;
}

/* The place of KEY, or a free one; NULL: there is none near. */
static inline void *slot_table_take_or_claim(struct slot_table *c, uint64_t key)
{
	void *place = slot_table_take(c, key);

	return place ? place : slot_table_claim(c, key);
}

/*
 * A free place anywhere, for what waits for the collector to fetch it: where its own key leads there are few places,
 * and a thread whose queue is full would soon have taken them all. SALT: another number each time. NULL: there
 * is none near.
 */
static inline void *slot_table_claim_anywhere(struct slot_table *c, uint64_t salt)
{
	return slot_table_claim(c, hash_mix(salt) >> 8);
}

static inline void slot_table_let_go(void *place, uint64_t key)
{
	atomic_store_explicit((slot_key *)place, key, memory_order_release);
}

/*
 * Address space for at most LIMIT places, once, or for fewer where there is not so much; false: not for the first ones
 * either.
 */
static inline bool slot_table_open(struct slot_table *c, uint32_t limit)
{
	for (c->limit = c->places ? c->limit : limit; !c->places && c->limit >= c->few; c->limit /= 4) {
		void *places = os_reserve((size_t)c->limit * c->bytes);

		if (places && os_make_writable(places, (size_t)c->limit * c->bytes) == 0) {
			c->places = places;
			break;
		}
		if (places)
			munmap(places, (size_t)c->limit * c->bytes);
	}
	return c->places;
}

/* All places are free, and their memory is the kernel's again. No thread is at the table. */
static inline void slot_table_clear(struct slot_table *c)
{
	madvise(c->places, (size_t)c->limit * c->bytes, MADV_DONTNEED);
	atomic_store(&c->level, 0);
}

#endif
