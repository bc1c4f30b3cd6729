/*
 * strings.h - texts kept once and named by number.
 *
 * Number 0 is "". Zeroed = empty. Normal code, one thread at a time.
 */
#ifndef JSTROBE_BASE_STRINGS_H
#define JSTROBE_BASE_STRINGS_H

#include "common/base/map.h"

struct strings {
	char *bytes;      /* all texts behind each other, NUL-ended; pages */
	size_t length, capacity;
	struct map index; /* hash → offset of the first text with that hash */
	bool failed;      /* a text could not be kept: out of memory; the caller's to reset */
};

/* The number of TEXT[0..LENGTH), kept from now on; 0 when out of memory (or empty). TEXT may be one of S's own. */
uint32_t strings_add(struct strings *s, const char *text, size_t length);
/* The text behind NUMBER; valid until the next strings_add. */
const char *strings_get(const struct strings *s, uint32_t number);
/* Bytes of memory that S takes. */
size_t strings_bytes(const struct strings *s);
void strings_free(struct strings *s);

#endif
