/*
 * claims.h - a table of places by number, taken and given back by any thread without a lock. Inner header of the
 * engine room.
 *
 * A place begins with its key; 0 = free. Who takes it is alone with it until it gives it a key again. The table does
 * not grow, and a place lies at most CLAIM_PROBES behind where its key leads.
 */
#ifndef JSTROBE_ENGINE_CLAIMS_H
#define JSTROBE_ENGINE_CLAIMS_H

#include <stdatomic.h>

#include "base/map.h"

#define CLAIM_PROBES 32
#define CLAIM_BLOCK 64u
#define CLAIM_TAKEN UINT64_MAX /* key of a place that is being filled in or emptied */

struct claims {
	uint8_t *places;
	size_t bytes;   /* of a place */
	uint32_t limit; /* places */
};

typedef _Atomic uint64_t claim_key;

static inline claim_key *claims_at(const struct claims *c, uint32_t i)
{
	return (claim_key *)(c->places + (size_t)(i % c->limit) * c->bytes);
}

/* Where KEY leads to: keys next to each other are, so that few threads use few pages; else anywhere. */
static inline uint32_t claims_start(uint64_t key)
{
	return (uint32_t)map_hash(key / CLAIM_BLOCK) * CLAIM_BLOCK + (uint32_t)(key % CLAIM_BLOCK);
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
	uint32_t i, at = claims_start(key);

	for (i = 0; i < CLAIM_PROBES; i++)
		if (claims_try(claims_at(c, at + i), key))
			return claims_at(c, at + i);
	return NULL;
}

/* The place of KEY, or a free one; NULL: there is none near. */
static inline void *claims_take_or_claim(const struct claims *c, uint64_t key)
{
	uint32_t i, at = claims_start(key);
	void *place = claims_take(c, key);

	for (i = 0; !place && i < CLAIM_PROBES; i++)
		if (claims_try(claims_at(c, at + i), 0))
			place = claims_at(c, at + i);
	return place;
}

static inline void claims_let_go(void *place, uint64_t key)
{
	atomic_store_explicit((claim_key *)place, key, memory_order_release);
}

#endif
