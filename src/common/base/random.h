/*
 * random.h - random numbers for moments and periods; nothing secret comes from them.
 *
 * Pure functions over the caller's state, any context.
 */
#ifndef JSTROBE_BASE_RANDOM_H
#define JSTROBE_BASE_RANDOM_H

#include "common/base/hash.h"
#include "common/base/wide.h"

/* A state to begin with, never 0; alike words give unlike states (splitmix64, Steele 2014). */
static inline uint64_t random_seed(uint64_t word)
{
	return hash_mix(word + 0x9e3779b97f4a7c15ull) | 1;
}

/* From 0 up to, not including, LIMIT (xorshift64*, Vigna 2016). */
static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return wide_product(*state * 0x2545f4914f6cdd1dull, limit).high;
}

#endif
