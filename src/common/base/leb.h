/*
 * leb.h - unsigned numbers as LEB128, seven bits a byte, the lowest first. A number with a sign is one whose lowest bit
 * is it, so that small ones are short. Any thread, signal handlers too.
 */
#ifndef JSTROBE_BASE_LEB_H
#define JSTROBE_BASE_LEB_H

#include "common/base/base.h"

#define LEB_LONGEST 10 /* bytes of a number */

/* Write VALUE to TO; behind its last byte. */
static inline uint8_t *leb_put(uint8_t *to, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	return to;
}

/* Read the number at *AT, which is moved past it. False, with *AT as it was: no number ends before END. */
static inline bool leb_get(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	const uint8_t *p = *at;
	unsigned shift;

	*value = 0;
	for (shift = 0; p < end && shift < 64; shift += 7) {
		*value |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p++ & 0x80)) {
			*at = p;
			return true;
		}
	}
	return false;
}

static inline uint64_t leb_of_signed(int64_t n)
{
	return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

static inline int64_t leb_signed(uint64_t n)
{
	return (int64_t)(n >> 1 ^ -(n & 1));
}

#endif
