/*
 * claims.h - a table of places by number, taken and given back by any thread without a lock. Inner header of the
 * engine room.
 *
 * A place begins with its key; 0 = free. Who takes it is alone with it until it gives it a key again. The table does
 * not grow, and a place lies at most CLAIM_PROBES behind where its key leads.
 *
 * Keys lead into the first few places; only a key that finds none near there leads into the others. So a program with
 * few threads at a time uses few pages, however many threads it has had: keys of threads are new all the time.
 */
#ifndef JSTROBE_ENGINE_CLAIMS_H
#define JSTROBE_ENGINE_CLAIMS_H

#include <stdatomic.h>
#include <sys/mman.h>

#include "base/map.h"

#define CLAIM_PROBES 32
#define CLAIM_BLOCK 64u
#define CLAIM_TAKEN UINT64_MAX /* key of a place that is being filled in or emptied */

struct claims {
	uint8_t *places;
	size_t bytes;         /* of a place */
	uint32_t limit;       /* places */
	uint32_t few;         /* the first places of these */
	atomic_bool spilled;  /* a key has led beyond them */
};

typedef _Atomic uint64_t claim_key;

static inline claim_key *claims_at(const struct claims *c, uint32_t i)
{
	return (claim_key *)(c->places + (size_t)i * c->bytes);
}

/* Places that may be in use are below it. */
static inline uint32_t claims_reach(const struct claims *c)
{
	return atomic_load_explicit(&c->spilled, memory_order_acquire) ? c->limit : c->few;
}

/* Where among the first few places KEY leads to: keys next to each other are, so that few threads use few pages. */
static inline uint32_t claims_start(const struct claims *c, uint64_t key)
{
	return ((uint32_t)map_hash(key / CLAIM_BLOCK) * CLAIM_BLOCK + (uint32_t)(key % CLAIM_BLOCK)) % c->few;
}

/* How many places KEY may be at, so far. */
static inline uint32_t claims_tries(const struct claims *c)
{
	return atomic_load_explicit(&c->spilled, memory_order_acquire) ? 2 * CLAIM_PROBES : CLAIM_PROBES;
}

/* The Ith place that KEY may be at; below CLAIM_PROBES it is one of the first few, else any of the others. */
static inline claim_key *claims_near(const struct claims *c, uint64_t key, uint32_t i)
{
	uint32_t rest = c->limit - c->few;

	if (i < CLAIM_PROBES)
		return claims_at(c, (claims_start(c, key) + i) % c->few);
	return claims_at(c, c->few + (uint32_t)((map_hash(key) + i - CLAIM_PROBES) % rest));
}

/* The place at P if it has KEY; it has none then. */
static inline bool claims_try(claim_key *p, uint64_t key)
{
	uint64_t there = key;

	return atomic_load_explicit(p, memory_order_relaxed) == key &&
	       atomic_compare_exchange_strong(p, &there, CLAIM_TAKEN);
}

/* The place of KEY, or NULL. */
static inline void *claims_take(const struct claims *c, uint64_t key)
{
	uint32_t i, tries = claims_tries(c);

	for (i = 0; i < tries; i++)
		if (claims_try(claims_near(c, key, i), key))
			return claims_near(c, key, i);
	return NULL;
}

/* A free place for KEY, which has none; NULL: there is none near. */
static inline void *claims_claim(struct claims *c, uint64_t key)
{
	uint32_t i;

	for (i = 0; i < 2 * CLAIM_PROBES; i++) {
		if (i == CLAIM_PROBES)
			atomic_store_explicit(&c->spilled, true, memory_order_release);
		if (claims_try(claims_near(c, key, i), 0))
			return claims_near(c, key, i);
	}
	return NULL;
}

/* The place of KEY, or a free one; NULL: there is none near. */
static inline void *claims_take_or_claim(struct claims *c, uint64_t key)
{
	void *place = claims_take(c, key);

	return place ? place : claims_claim(c, key);
}

static inline void claims_let_go(void *place, uint64_t key)
{
	atomic_store_explicit((claim_key *)place, key, memory_order_release);
}

/* All places are free, and their memory is the kernel's again. Nobody is at the table. */
static inline void claims_clear(struct claims *c)
{
	madvise(c->places, c->limit * c->bytes, MADV_DONTNEED);
	atomic_store(&c->spilled, false);
}

#endif
