/*
 * wide.h - sums and products of 64-bit numbers that need more than 64 bits, on CPUs that have such numbers and on those
 * that do not.
 *
 * Pure functions, any context.
 */
#ifndef JSTROBE_BASE_WIDE_H
#define JSTROBE_BASE_WIDE_H

#include "common/base/base.h"

/* A + B, or UINT64_MAX if it is more than that. */
static inline uint64_t wide_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* A × B, or UINT64_MAX if it is more than that. */
static inline uint64_t wide_times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* A × B in two halves. */
struct wide {
	uint64_t high, low;
};

/* By halves of 32 bits; wide_product() where there is nothing better. */
static inline struct wide wide_product_by_halves(uint64_t a, uint64_t b)
{
	uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
	uint64_t low = al * bl, middle = ah * bl + (low >> 32), other = al * bh + (uint32_t)middle;

	return (struct wide){ah * bh + (middle >> 32) + (other >> 32), other << 32 | (uint32_t)low};
}

/* W / D bit by bit, UINT64_MAX if it is more than that; D is not 0. */
static inline uint64_t wide_divide_by_bits(struct wide w, uint64_t d)
{
	unsigned i;

	if (w.high >= d)
		return UINT64_MAX;
	for (i = 0; i < 64; i++) {
		bool carry = w.high >> 63;

		w.high = w.high << 1 | w.low >> 63;
		w.low <<= 1;
		if (carry || w.high >= d) {
			w.high -= d;
			w.low |= 1;
		}
	}
	return w.low;
}

#ifdef __SIZEOF_INT128__
static inline struct wide wide_product(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (struct wide){(uint64_t)(product >> 64), (uint64_t)product};
}

static inline uint64_t wide_divide(struct wide w, uint64_t d)
{
	return w.high >= d ? UINT64_MAX : (uint64_t)(((unsigned __int128)w.high << 64 | w.low) / d);
}
#else
static inline struct wide wide_product(uint64_t a, uint64_t b)
{
	return wide_product_by_halves(a, b);
}

static inline uint64_t wide_divide(struct wide w, uint64_t d)
{
	return wide_divide_by_bits(w, d);
}
#endif

/* A word each bit of which depends on all of A and B: both halves of their product (Wang Yi's wyhash). */
static inline uint64_t wide_fold(uint64_t a, uint64_t b)
{
	struct wide p = wide_product(a, b);

	return p.low ^ p.high;
}

/* (A × B + PLUS) / D, or UINT64_MAX if it is more than that. D is not 0. */
static inline uint64_t wide_scale(uint64_t a, uint64_t b, uint64_t plus, uint64_t d)
{
	struct wide p = wide_product(a, b);

	p.high += __builtin_add_overflow(p.low, plus, &p.low);
	return wide_divide(p, d);
}

/* START + (VALUE - FROM) × BY / D, towards START; the first or the last there is if it does not fit. D is not 0. */
static inline int64_t wide_convert(int64_t value, int64_t from, uint64_t by, uint64_t d, int64_t start)
{
	bool before = value < from;
	uint64_t distance = before ? (uint64_t)from - (uint64_t)value : (uint64_t)value - (uint64_t)from;
	uint64_t moved = wide_scale(distance, by, 0, d);
	/* No result is further from START than that. */
	uint64_t most = before ? (uint64_t)start - (uint64_t)INT64_MIN : (uint64_t)INT64_MAX - (uint64_t)start;

	if (moved > most)
		return before ? INT64_MIN : INT64_MAX;
	return (int64_t)(before ? (uint64_t)start - moved : (uint64_t)start + moved);
}

#endif
