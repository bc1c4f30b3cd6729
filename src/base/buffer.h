/*
 * buffer.h - a growing run of bytes, and a way out of it into a descriptor.
 *
 * Writers append; when the buffer has a descriptor it is written out whenever
 * FLUSH_AT bytes have gathered, so a large profile needs little memory.
 * A failed allocation or write sets `failed` to a positive errno; everything
 * appended after that is dropped, and one check at the end is enough.
 */
#ifndef JSTROBE_BASE_BUFFER_H
#define JSTROBE_BASE_BUFFER_H

#include <stdarg.h>

#include "base/base.h"

struct buffer {
	char *data;
	size_t length;
	size_t capacity;
	int fd;      /* -1: keep everything in memory */
	int failed;  /* positive errno of the first failure */
	uint64_t written; /* bytes already passed to fd */
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
/* Append TEXT as a quoted JSON string (invalid UTF-8 becomes U+FFFD). */
void buffer_json(struct buffer *b, const char *text);
/* What B holds as a text, NUL-ended, until B changes. If B has failed: "", and the failure is OUT's as well. */
const char *buffer_text(struct buffer *b, struct buffer *out);
/* Write out what is left. Returns 0 or the negative errno of the first failure. */
int buffer_flush(struct buffer *b);
/* Free the memory; safe on a zeroed or already freed buffer. */
void buffer_free(struct buffer *b);

#endif
