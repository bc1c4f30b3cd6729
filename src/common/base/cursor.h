/*
 * cursor.h - reading hostile bytes: a cursor that cannot run past its end.
 *
 * A read that does not fit gives 0, moves the cursor to its end and sets
 * `failed`, which sticks: parse a whole record, then ask once. u16, u32 and
 * u64 are in the byte order of this machine (files of our own process), be16,
 * be32 and be64 have their high byte first (class files, recordings). Pure
 * functions, any context.
 */
#ifndef JSTROBE_BASE_CURSOR_H
#define JSTROBE_BASE_CURSOR_H

#include <string.h>

#include "common/base/base.h"

/* Bytes, and the address that the first of them has in the running process. */
struct span {
	const uint8_t *bytes;
	size_t size;
	uintptr_t address;
};

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

/* A cursor over SPAN from byte OFFSET on; failed if OFFSET lies outside. */
static inline struct cursor cursor_at(const struct span *span, size_t offset)
{
	/* An empty span may have no bytes at all, and NULL is not to be added to. */
	const uint8_t *bytes = span->bytes ? span->bytes : (const uint8_t *)"";
	struct cursor c = {bytes, bytes + span->size, offset > span->size};

	c.at = c.failed ? c.end : bytes + offset;
	return c;
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline void cursor_fail(struct cursor *c)
{
	c->failed = true;
	c->at = c->end;
}

static inline void cursor_skip(struct cursor *c, uint64_t n)
{
	if (n > cursor_left(c))
		cursor_fail(c);
	else
		c->at += n;
}

/* A cursor over the next N bytes, which this one skips. */
static inline struct cursor cursor_cut(struct cursor *c, uint64_t n)
{
	struct cursor part = *c;

	cursor_skip(c, n);
	part.failed = c->failed;
	part.at = c->failed ? c->at : part.at;
	part.end = c->at;
	return part;
}

#define CURSOR_FIXED(name, type)                                \
	static inline type cursor_##name(struct cursor *c)      \
	{                                                       \
		type value = 0;                                 \
								\
		if (unlikely(cursor_left(c) < sizeof(value))) { \
			cursor_fail(c);                         \
			return 0;                               \
		}                                               \
		memcpy(&value, c->at, sizeof(value));           \
		c->at += sizeof(value);                         \
		return value;                                   \
	}
CURSOR_FIXED(u8, uint8_t)
CURSOR_FIXED(u16, uint16_t)
CURSOR_FIXED(u32, uint32_t)
CURSOR_FIXED(u64, uint64_t)
#undef CURSOR_FIXED

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CURSOR_BIG(bits, value) __builtin_bswap##bits(value)
#else
#define CURSOR_BIG(bits, value) (value)
#endif
static inline uint16_t cursor_be16(struct cursor *c)
{
	return CURSOR_BIG(16, cursor_u16(c));
}
static inline uint32_t cursor_be32(struct cursor *c)
{
	return CURSOR_BIG(32, cursor_u32(c));
}
static inline uint64_t cursor_be64(struct cursor *c)
{
	return CURSOR_BIG(64, cursor_u64(c));
}
#undef CURSOR_BIG

/* LEB128; bits above the 64th are dropped. */
static inline uint64_t cursor_leb(struct cursor *c, bool sign)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (sign && shift < 64 && (byte & 0x40))
		value |= ~0ull << shift;
	return value;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	return cursor_leb(c, false);
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	return (int64_t)cursor_leb(c, true);
}

/* The NUL-terminated string here; "" and failed if no NUL comes before the end. */
static inline const char *cursor_string(struct cursor *c)
{
	const char *text = (const char *)c->at;
	const uint8_t *nul = cursor_left(c) ? memchr(c->at, 0, cursor_left(c)) : NULL;

	if (!nul) {
		cursor_fail(c);
		return "";
	}
	c->at = nul + 1;
	return text;
}

#endif
