/*
 * block.h - compressed numbers 64 bytes at a time: a bit for each byte that ends one.
 *
 * Most of a recording are the frames of its stacks, and those are small numbers in long rows. A number
 * ends at the first byte without its high bit, but for those of 9 bytes, whose last one may have it: a
 * block that may hold such a number says so, and is read number by number (jfr_reader.h).
 */
#ifndef JSTROBE_READERS_JFR_BLOCK_H
#define JSTROBE_READERS_JFR_BLOCK_H

#include <string.h>

#include "common/base/base.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK_SIZE 64
#define BLOCK_ONES 0x0101010101010101ull
#define BLOCK_HIGH 0x8080808080808080ull

/* Bit i: whether byte i of the block at AT has its high bit. */
#ifdef __SSE2__
static inline uint64_t block_high_bits(const uint8_t *at)
{
	uint64_t bits = 0;
	unsigned i;

#pragma GCC unroll 4
	for (i = 0; i < 4; i++)
		bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i_u *)at + i)) << 16 * i;
	return bits;
}
#else
static inline uint64_t block_high_bits(const uint8_t *at)
{
	uint64_t bits = 0;
	unsigned i, k;

	for (i = 0; i < 8; i++)
		for (k = 0; k < 8; k++)
			bits |= (uint64_t)(at[8 * i + k] >> 7) << (8 * i + k);
	return bits;
}
#endif

/* Bit i: byte i ends a number, where one begins at AT. 0: the block may hold a number of 9 bytes. */
static inline uint64_t block_ends(const uint8_t *at)
{
	uint64_t high = block_high_bits(at), rows = high & high >> 1;

	rows &= rows >> 2;
	rows &= rows >> 4; /* eight in a row */
	return unlikely(rows) ? 0 : ~high;
}

/* In byte i how many bits are set in bytes 0 to i of X; the highest byte has them all. */
static inline uint64_t block_sums(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555ull;
	x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
	return ((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full) * BLOCK_ONES;
}

/* The place of the Nth bit (from 1) that is set in X, whose sums are SUMS; it has as many. */
static inline unsigned block_nth(uint64_t x, uint64_t sums, unsigned n)
{
	uint64_t reached = ((sums | BLOCK_HIGH) - n * BLOCK_ONES) & BLOCK_HIGH;
	unsigned byte = (unsigned)__builtin_ctzll(reached) / 8 * 8;

	n -= byte ? sums >> (byte - 8) & 0xff : 0;
	for (x >>= byte; n > 1; n--)
		x &= x - 1;
	return byte + (unsigned)__builtin_ctzll(x);
}

#endif
