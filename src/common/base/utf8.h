/*
 * utf8.h - texts of foreign origin as clean UTF-8.
 */
#ifndef JSTROBE_BASE_UTF8_H
#define JSTROBE_BASE_UTF8_H

#include "common/base/buffer.h"

/* Length of the valid UTF-8 sequence at P (NUL-ended), 0 if there is none. */
size_t utf8_length(const unsigned char *p);
/* Columns of TEXT[0..N), which is UTF-8: each character takes one. */
static inline unsigned utf8_columns(const char *text, size_t n)
{
	unsigned columns = 0;

	for (; n > 0; n--, text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80; /* continuation bytes take none */
	return columns;
}

/* The character at P, a valid sequence of N bytes. */
uint32_t utf8_character(const unsigned char *p, size_t n);
/*
 * What stands at P (NUL-ended), where utf8_length is 0, in the JVM's own kind of UTF-8: character *C, 0 or one beyond
 * U+FFFF, or U+FFFD if it is none. The number of bytes it takes.
 */
size_t utf8_foreign(const unsigned char *p, uint32_t *c);
/*
 * Append TEXT as valid UTF-8. The JVM's own kind is understood: pairs of encoded surrogates become
 * one character, a zero in two bytes becomes one; what is neither becomes U+FFFD, one for a byte, or
 * for a lone surrogate.
 */
void utf8_put(struct buffer *b, const char *text);

#endif
