/*
 * jfr_emit.h - the bytes a recording is made of, appended to a buffer in memory. Inner header.
 *
 * Numbers are little-endian base-128 (LEB128), at most 9 bytes, the ninth whole; sizes in front of
 * what is not written yet take 4 bytes whatever they are, which readers accept.
 */
#ifndef JSTROBE_WRITERS_JFR_JFR_EMIT_H
#define JSTROBE_WRITERS_JFR_JFR_EMIT_H

#include "common/base/buffer.h"

void jfr_put_number(struct buffer *b, uint64_t value);
/* TEXT (NULL allowed) as UTF-8; what is none becomes U+FFFD. */
void jfr_put_string(struct buffer *b, const char *text);
/* LENGTH characters of Latin-1: any bytes. */
void jfr_put_latin1(struct buffer *b, const char *bytes, size_t length);
/* The same, but never as null nor as the short form of "": some readers want that of symbols. */
void jfr_put_symbol(struct buffer *b, const char *text);
void jfr_put_float(struct buffer *b, float value);
void jfr_put_big64(struct buffer *b, uint64_t value);

/* Begin something of a size not known yet; to be handed to jfr_end, which writes it. */
size_t jfr_begin(struct buffer *b);
void jfr_end(struct buffer *b, size_t begin);
/* For a short event, whose size of one byte stands in front; jfr_end_short makes room for more if need be. */
size_t jfr_begin_short(struct buffer *b);
void jfr_end_short(struct buffer *b, size_t begin);

#endif
