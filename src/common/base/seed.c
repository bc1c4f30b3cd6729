/*
 * seed.c - a number that differs from process to process, so that a file or a stream cannot choose keys and texts that
 * all land in one place of a table, where each look-up then costs as much as all of them.
 */
#include "common/base/hash.h"

#include <string.h>
#include <sys/auxv.h>

#include "common/base/map.h"

uint64_t seed_value;

/* Threads that come here at once find the same bytes. Mixed: the C library's guards are made of them, too. */
uint64_t seed_begin(void)
{
	const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	uint64_t words[2] = {(uintptr_t)&seed_value, 1}, value;

	if (random)
		memcpy(words, random, sizeof(words));
	value = hash_mix(hash_mix(words[0]) ^ words[1]) | 1;
	__atomic_store_n(&seed_value, value, __ATOMIC_RELAXED);
	return value;
}
