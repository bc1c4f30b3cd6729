/*
 * jfr_text.h - strings as JFR writes them: a byte that says how, then the text.
 *
 *   0 null   1 ""   2 key in the pool java.lang.String   3 UTF-8   4 UTF-16 units   5 Latin-1
 */
#ifndef JSTROBE_READERS_JFR_JFR_TEXT_H
#define JSTROBE_READERS_JFR_JFR_TEXT_H

#include "common/base/buffer.h"
#include "profile/readers/jfr/jfr_reader.h"

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
