#include "common/base/buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clean.h"

#define FLUSH_AT (64 * 1024)

void buffer_init(struct buffer *b, int fd)
{
	memset(b, 0, sizeof(*b));
	b->fd = fd;
}

static void write_out(struct buffer *b)
{
	size_t done = 0;

	if (b->most && b->written + b->length > b->most)
		b->failed = EFBIG;
	while (!b->failed && done < b->length) {
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
	b->length = b->raw = 0;
}

/* Whether the last bytes of DATA[0..N) may be the begin of a character; how many they are. */
static size_t begun(const char *data, size_t n)
{
	size_t i;

	for (i = 1; i <= 3 && i <= n; i++) {
		unsigned char c = (unsigned char)data[n - i];

		if (c >= 0xc0)
			return (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) > i ? i : 0;
		if (c < 0x80)
			break;
	}
	return 0;
}

/* Make safe what was appended; HOLD: but for the begin of a character at the end, which will come whole. */
static void make_clean(struct buffer *b, bool hold)
{
	size_t n = b->length - b->raw, held, good;
	struct buffer fresh = BUFFER_INIT;

	if (b->failed || !n)
		return;
	held = hold ? begun(b->data + b->raw, n) : 0;
	n -= held;
	good = clean_length(b->data + b->raw, n, CLEAN_TEXT);
	b->raw += good;
	if (good == n)
		return;
	clean_put(&fresh, b->data + b->raw, n - good, CLEAN_TEXT);
	buffer_append(&fresh, b->data + b->raw + n - good, held);
	b->length = b->raw;
	if (fresh.failed) {
		b->failed = fresh.failed;
	} else {
		b->clean = false;
		buffer_append(b, fresh.data, fresh.length);
		b->clean = true;
		b->raw = b->failed ? b->length : b->length - held;
	}
	buffer_free(&fresh);
}

/* Write out what is there, but for the begin of a character. */
static void pass_on(struct buffer *b)
{
	char held[4];
	size_t n = 0;

	if (b->clean) {
		make_clean(b, true);
		n = b->length - b->raw;
		memcpy(held, b->data + b->raw, n);
		b->length = b->raw;
	}
	write_out(b);
	memcpy(b->data, held, n);
	b->length = n;
}

/* Make room for N more bytes; false when that failed, now or earlier. */
static bool reserve(struct buffer *b, size_t n)
{
	size_t capacity;
	char *data;

	if (b->failed)
		return false;
	if (b->fd >= 0 && b->length > 0 && b->length + n > FLUSH_AT) {
		pass_on(b);
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
	if (!b->failed)
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

	if (b->failed)
		return;
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

void buffer_clean_begin(struct buffer *b)
{
	b->clean = true;
	b->raw = b->length;
}

void buffer_clean_end(struct buffer *b)
{
	if (b->clean)
		make_clean(b, false);
	b->clean = false;
}

size_t buffer_clean_so_far(struct buffer *b)
{
	make_clean(b, true);
	return b->failed ? 0 : b->raw;
}

void buffer_colour(struct buffer *b, const char *sequence)
{
	bool clean = b->clean;

	if (clean)
		buffer_clean_end(b);
	buffer_puts(b, sequence);
	if (clean)
		buffer_clean_begin(b);
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

void buffer_append_file(struct buffer *b, int fd)
{
	char bytes[16384];
	off_t at = 0;
	ssize_t n;

	for (; (n = pread(fd, bytes, sizeof(bytes), at)) > 0; at += n)
		buffer_append(b, bytes, (size_t)n);
	if (n < 0 && !b->failed)
		b->failed = errno;
}

int buffer_flush(struct buffer *b)
{
	if (b->clean)
		make_clean(b, false);
	if (!b->failed && b->fd >= 0)
		write_out(b);
	return -b->failed;
}

int buffer_write(int fd, const void *bytes, size_t n)
{
	struct buffer b;
	int rc;

	buffer_init(&b, fd);
	buffer_append(&b, bytes, n);
	rc = buffer_flush(&b);
	buffer_free(&b);
	return rc;
}

void buffer_free(struct buffer *b)
{
	free(b->data);
	b->data = NULL;
	b->length = b->capacity = 0;
}
