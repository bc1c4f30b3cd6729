/*
 * hash.h - the hashes of the tree.
 *
 *	hash_mix     of a number: each bit of it changes half of the result's
 *	hash_seeded  of bytes that a file, a stream or the program may have chosen: other ones in each process, so that
 *	             they cannot be chosen to share one
 *	hash_bytes   of bytes, the same in each process and version: what is written down or compared with it
 *
 * What shares a hash is compared before it counts as the same. Pure functions, any context.
 */
#ifndef JSTROBE_BASE_HASH_H
#define JSTROBE_BASE_HASH_H

#include "common/base/base.h"

#define HASH_BEGIN 0xcbf29ce484222325ull

/* H, which is HASH_BEGIN or what came before, and BYTES[0..SIZE): FNV-1a of 64 bits (Fowler, Noll, Vo). */
static inline uint64_t hash_bytes(uint64_t h, const void *bytes, size_t size)
{
	const uint8_t *p = bytes;

	while (size--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

/* splitmix64's finaliser (Steele 2014). */
static inline uint64_t hash_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* H and the numbers of LIST[0..COUNT), in this order. */
static inline uint64_t hash_list(uint64_t h, const uint32_t *list, uint32_t count)
{
	while (count--)
		h = hash_mix(h ^ *list++);
	return h;
}

/* Of BYTES[0..SIZE), until this process ends. */
uint64_t hash_seeded(const void *bytes, size_t size);

/*
 * A number that differs from process to process, so that a file or a stream cannot choose keys and texts that
 * all land in one place of a table, where each look-up then costs as much as all of them.
 */

extern uint64_t seed_value; /* read by seed() only */

/* Take it from the random bytes that the kernel gave the process at its start: no system call, no memory. */
uint64_t seed_begin(void);

/* Never 0, and the same until the process ends. Any thread. */
static inline uint64_t seed(void)
{
	uint64_t value = __atomic_load_n(&seed_value, __ATOMIC_RELAXED);

	return likely(value) ? value : seed_begin();
}

#endif
