#include "base/buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

#define FLUSH_AT (64 * 1024)

void buffer_init(struct buffer *b, int fd)
{
	memset(b, 0, sizeof(*b));
	b->fd = fd;
}

static void write_out(struct buffer *b)
{
	size_t done = 0;

	while (done < b->length) {
		ssize_t n = write(b->fd, b->data + done, b->length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			b->failed = n < 0 ? errno : EIO;
			break;
		}
		done += (size_t)n;
	}
	b->written += done;
	b->length = 0;
}

/* Make room for N more bytes; false when that failed, now or earlier. */
static bool reserve(struct buffer *b, size_t n)
{
	size_t capacity;
	char *data;

	if (b->failed)
		return false;
	if (b->fd >= 0 && b->length > 0 && b->length + n > FLUSH_AT) {
		write_out(b);
		if (b->failed)
			return false;
	}
	if (b->length + n <= b->capacity)
		return true;
	capacity = MAX(b->capacity * 2, MAX(b->length + n, (size_t)256));
	data = realloc(b->data, capacity);
	if (!data) {
		b->failed = ENOMEM;
		return false;
	}
	b->data = data;
	b->capacity = capacity;
	return true;
}

void buffer_append(struct buffer *b, const void *bytes, size_t n)
{
	if (n == 0 || !reserve(b, n))
		return;
	memcpy(b->data + b->length, bytes, n);
	b->length += n;
}

void buffer_puts(struct buffer *b, const char *text)
{
	buffer_append(b, text, strlen(text));
}

void buffer_putc(struct buffer *b, char c)
{
	buffer_append(b, &c, 1);
}

void buffer_vprintf(struct buffer *b, const char *fmt, va_list args)
{
	va_list copy;
	int n;

	va_copy(copy, args);
	n = vsnprintf(NULL, 0, fmt, copy);
	va_end(copy);
	if (n < 0 || !reserve(b, (size_t)n + 1))
		return;
	vsnprintf(b->data + b->length, (size_t)n + 1, fmt, args);
	b->length += (size_t)n;
}

void buffer_printf(struct buffer *b, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	buffer_vprintf(b, fmt, args);
	va_end(args);
}

/* A character that is no UTF-8 at P, escaped; the number of bytes it took. */
static size_t put_escaped(struct buffer *b, const unsigned char *p)
{
	uint32_t c;
	size_t n = utf8_foreign(p, &c);

	if (c > 0xffff)
		buffer_printf(b, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		buffer_printf(b, "\\u%04x", c);
	return n;
}

void buffer_json(struct buffer *b, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	buffer_putc(b, '"');
	while (*p) {
		size_t n = utf8_length(p);

		if (n == 0) {
			p += put_escaped(b, p);
		} else if (n > 1) {
			buffer_append(b, p, n);
			p += n;
		} else {
			if (*p == '"' || *p == '\\')
				buffer_printf(b, "\\%c", *p);
			else if (*p < 0x20 || *p == 0x7f)
				buffer_printf(b, "\\u%04x", *p);
			else
				buffer_putc(b, (char)*p);
			p++;
		}
	}
	buffer_putc(b, '"');
}

const char *buffer_text(struct buffer *b, struct buffer *out)
{
	buffer_putc(b, '\0');
	if (!b->failed)
		return b->data;
	if (!out->failed)
		out->failed = b->failed;
	return "";
}

int buffer_flush(struct buffer *b)
{
	if (!b->failed && b->fd >= 0)
		write_out(b);
	return -b->failed;
}

void buffer_free(struct buffer *b)
{
	free(b->data);
	b->data = NULL;
	b->length = b->capacity = 0;
}
