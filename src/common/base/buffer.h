/*
 * buffer.h - a growing run of bytes, and a way out of it into a descriptor.
 *
 * Writers append; when the buffer has a descriptor it is written out whenever
 * FLUSH_AT bytes have gathered, so a large profile needs little memory.
 * Of a text that is made for people, with names of foreign origin in it, nothing reaches a terminal that the terminal
 * would obey: between buffer_clean_begin and buffer_clean_end whatever is appended is made safe
 * (common/base/clean.h), but for what comes by buffer_colour.
 *
 * A failed allocation or write sets `failed` to a positive errno; everything
 * appended after that is dropped, and one check at the end is enough.
 */
#ifndef JSTROBE_BASE_BUFFER_H
#define JSTROBE_BASE_BUFFER_H

#include <stdarg.h>

#include "common/base/base.h"

struct buffer {
	char *data;
	size_t length;
	size_t capacity;
	int fd;      /* -1: keep everything in memory */
	int failed;  /* positive errno of the first failure */
	uint64_t written; /* bytes already passed to fd */
	uint64_t most;    /* that may be passed to fd; 0 = any number. More is EFBIG */
	bool clean;       /* what stands from `raw` on is to be made safe */
	size_t raw;
};

#define BUFFER_INIT {.fd = -1}

/* An empty buffer that writes to FD (-1: memory only). FD stays the caller's. */
void buffer_init(struct buffer *b, int fd);
/* Append N bytes. */
void buffer_append(struct buffer *b, const void *bytes, size_t n);
void buffer_puts(struct buffer *b, const char *text);
void buffer_putc(struct buffer *b, char c);
void buffer_printf(struct buffer *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *b, const char *fmt, va_list args);
/* From now on appended text is made safe to show: line ends and tabs stay. */
void buffer_clean_begin(struct buffer *b);
void buffer_clean_end(struct buffer *b);
/* In between: how many bytes are safe already; the begin of a character may stand behind them. */
size_t buffer_clean_so_far(struct buffer *b);
/* Append our own SEQUENCE for a terminal, as it is. */
void buffer_colour(struct buffer *b, const char *sequence);
/* What B holds as a text, NUL-ended, until B changes. If B has failed: "", and the failure is OUT's as well. */
const char *buffer_text(struct buffer *b, struct buffer *out);
/* Append what file FD holds from its begin on. A failed read fails B. FD's offset stays. */
void buffer_append_file(struct buffer *b, int fd);
/* Write out what is left. Returns 0 or the negative errno of the first failure. */
int buffer_flush(struct buffer *b);
/* Write BYTES[0..N) to FD, all of them. 0 or a negative errno. */
int buffer_write(int fd, const void *bytes, size_t n);
/* Free the memory; safe on a zeroed or already freed buffer. */
void buffer_free(struct buffer *b);

#endif
