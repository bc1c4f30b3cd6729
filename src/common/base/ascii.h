/*
 * ascii.h - letters of ASCII and their case, whatever locale the process has: under tr_TR libc's functions hold that
 * the small letter of I is no i. Any thread.
 */
#ifndef JSTROBE_BASE_ASCII_H
#define JSTROBE_BASE_ASCII_H

#include <string.h>

#include "common/base/base.h"

static inline bool ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline char ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline bool ascii_is_letter(char c)
{
	return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}

/* Whether TEXT begins with WITH, to the letter. */
static inline bool text_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Whether A and B are the same in their first N characters, letter case aside. */
static inline bool ascii_begins(const char *a, const char *b, size_t n)
{
	for (; n > 0 && ascii_lower(*a) == ascii_lower(*b); n--, a++, b++)
		if (!*a)
			return true;
	return n == 0;
}

/* Whether A and B are the same, letter case aside. */
static inline bool ascii_equals(const char *a, const char *b)
{
	return ascii_begins(a, b, SIZE_MAX);
}

/* Whether PART stands in TEXT, letter case aside. */
static inline bool ascii_contains(const char *text, const char *part)
{
	size_t n;

	for (n = 0; part[n]; n++)
		;
	for (; !ascii_begins(text, part, n); text++)
		if (!*text)
			return false;
	return true;
}

#endif
