/*
 * jfr_reader.h - the bytes of a JFR file: numbers as it writes them.
 *
 * Read a whole event, then ask once whether it has failed (common/base/cursor.h). What is fixed in length is
 * big-endian; whole numbers are, with the chunk's flag "compressed integers", little-endian groups of
 * 7 bits in at most 9 bytes, the ninth with all its 8 bits, and without it fixed (`wide`). Source:
 * jdk/jfr/internal/consumer/RecordingInput.java. Pure functions, any thread.
 */
#ifndef JSTROBE_READERS_JFR_JFR_READER_H
#define JSTROBE_READERS_JFR_JFR_READER_H

#include <endian.h>

#include "common/base/buffer.h"
#include "common/base/cursor.h"
#include "profile/readers/jfr/block.h"

struct reader {
	struct cursor c;
	bool wide; /* integers are not compressed */
};

/* A reader from AT up to END. */
static inline struct reader read_between(const uint8_t *at, const uint8_t *end, bool wide)
{
	return (struct reader){{at, end, false}, wide};
}

static inline size_t read_left(const struct reader *r)
{
	return cursor_left(&r->c);
}

static inline void read_fail(struct reader *r)
{
	cursor_fail(&r->c);
}

static inline void read_skip(struct reader *r, uint64_t n)
{
	cursor_skip(&r->c, n);
}

static inline uint8_t read_u8(struct reader *r)
{
	return cursor_u8(&r->c);
}

/* A big-endian number of SIZE bytes: 1, 2, 4 or 8. */
static inline uint64_t read_fixed(struct reader *r, unsigned size)
{
	return size == 8 ? cursor_be64(&r->c) : size == 4 ? cursor_be32(&r->c) :
	       size == 2 ? cursor_be16(&r->c) : cursor_u8(&r->c);
}

/* The same byte by byte, near the end. */
static __attribute__((noinline, unused)) uint64_t read_varint_slowly(struct reader *r)
{
	uint64_t value = 0;
	unsigned shift;

	for (shift = 0; shift < 56; shift += 7) {
		uint8_t byte = read_u8(r);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return value | (uint64_t)read_u8(r) << 56;
}

/* Put the eight 7-bit groups of X side by side. */
static inline uint64_t read_squeeze(uint64_t x)
{
	x &= ~BLOCK_HIGH;
	x = (x & 0x007f007f007f007full) | (x & 0x7f007f007f007f00ull) >> 1;
	x = (x & 0x00003fff00003fffull) | (x & 0x3fff00003fff0000ull) >> 2;
	return (x & 0x0fffffffull) | (x & 0x0fffffff00000000ull) >> 4;
}

/* A number where 9 bytes can be read, moving *AT past it. */
static inline __attribute__((always_inline)) uint64_t read_varint_at(const uint8_t **at)
{
	const uint8_t *p = *at;
	uint64_t word, ends;

	if (likely(!(p[0] & 0x80))) {
		*at = p + 1;
		return p[0];
	}
	if (likely(!(p[1] & 0x80))) {
		*at = p + 2;
		return (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
	}
	memcpy(&word, p, sizeof(word));
	word = le64toh(word);
	ends = ~word & BLOCK_HIGH;
	if (unlikely(!ends)) {
		*at = p + 9;
		return read_squeeze(word) | (uint64_t)p[8] << 56;
	}
	*at = p + (unsigned)__builtin_ctzll(ends) / 8 + 1;
	return read_squeeze(word & (ends ^ (ends - 1)));
}

static inline __attribute__((always_inline)) uint64_t read_varint(struct reader *r)
{
	if (likely(r->c.at < r->c.end && !(*r->c.at & 0x80)))
		return *r->c.at++;
	return likely(read_left(r) >= 9) ? read_varint_at(&r->c.at) : read_varint_slowly(r);
}

/* A `long`, an `int` (a size, a count, a key's type), as the chunk writes them. */
static inline uint64_t read_long(struct reader *r)
{
	return unlikely(r->wide) ? read_fixed(r, 8) : read_varint(r);
}

static inline uint64_t read_int(struct reader *r)
{
	return unlikely(r->wide) ? read_fixed(r, 4) : read_varint(r);
}

/* Skip COUNT compressed numbers, a block at a time where there are many. */
static inline void read_skip_varints(struct reader *r, uint64_t count)
{
	while (count > 8 && read_left(r) >= BLOCK_SIZE) {
		uint64_t ends = block_ends(r->c.at), sums = block_sums(ends), there = sums >> 56;

		if (unlikely(!ends)) {
			read_varint(r);
			count--;
			continue;
		}
		r->c.at += there >= count ? block_nth(ends, sums, (unsigned)count) + 1 :
					    64 - (unsigned)__builtin_clzll(ends);
		count -= MIN(count, there);
	}
	for (; count && !r->c.failed; count--)
		read_varint(r);
}

/* Strings as JFR writes them: a byte that says how, then the text. */

enum text_kind { TEXT_NULL, TEXT_EMPTY, TEXT_POOLED, TEXT_UTF8, TEXT_UNITS, TEXT_LATIN1 };

/* Move R past a string. */
void text_skip(struct reader *r);
/*
 * Whether the string at R is ASCII without a NUL: then it is *TEXT[0..*LENGTH), in the
 * file, and R is moved past it. R is not moved otherwise.
 */
bool text_plain(struct reader *r, const char **text, size_t *length);
/*
 * Append the string at R to OUT as UTF-8 (lone surrogates and damage become U+FFFD, NUL a blank).
 * Returns its kind; TEXT_POOLED: nothing was appended, *KEY is the key.
 */
enum text_kind text_read(struct reader *r, struct buffer *out, uint64_t *key);

#endif
