/*
 * clean.h - text of foreign origin, made safe to show: names, options and answers come from processes and files that
 * may be hostile, and a terminal obeys what it is sent.
 *
 * What a terminal would obey, or what would not be seen, is written out instead: \x1b, \u009b, \u202e. That is control
 * characters (U+0000 to U+001F, U+007F to U+009F), direction marks and overrides, characters of no width, separators of
 * lines, tags, and bytes that are no UTF-8. Normal code.
 */
#ifndef JSTROBE_BASE_CLEAN_H
#define JSTROBE_BASE_CLEAN_H

#include "common/base/base.h"

struct buffer;

/* What may stand beside visible characters. */
enum clean_kind {
	CLEAN_LINE, /* nothing: it becomes one line */
	CLEAN_TEXT, /* line ends and tabs */
};

/* Whether character C is one that must be written out. Line ends and tabs are. */
bool clean_is_unsafe(uint32_t c);
/* How many of BYTES[0..N) may stay as they are, up to the first that must be written out. */
size_t clean_length(const char *bytes, size_t n, enum clean_kind kind);
/* Append BYTES[0..N), what is unsafe written out. */
void clean_put(struct buffer *b, const char *bytes, size_t n, enum clean_kind kind);
/* The same with a name that is a part of one line. */
void clean_name(struct buffer *b, const char *name);

#endif
