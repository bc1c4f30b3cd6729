#include "profile/writers/jfr/jfr_emit.h"

#include <string.h>

#include "common/base/utf8.h"

enum { TEXT_NULL = 0, TEXT_EMPTY = 1, TEXT_UTF8 = 3, TEXT_LATIN1 = 5 };

#define SIZE_BYTES 4

void jfr_put_number(struct buffer *b, uint64_t value)
{
	char bytes[9];
	size_t n = 0;

	while (value >= 0x80 && n < 8) {
		bytes[n++] = (char)(value | 0x80);
		value >>= 7;
	}
	bytes[n++] = (char)value;
	buffer_append(b, bytes, n);
}

/* Write VALUE over the SIZE_BYTES bytes AT. */
static void patch(struct buffer *b, size_t at, uint64_t value)
{
	size_t i;

	for (i = 0; i < SIZE_BYTES; i++) {
		b->data[at + i] = (char)((value & 0x7f) | (i < SIZE_BYTES - 1 ? 0x80 : 0));
		value >>= 7;
	}
}

void jfr_put_symbol(struct buffer *b, const char *text)
{
	size_t at, n;

	buffer_putc(b, TEXT_UTF8);
	n = strlen(text);
	at = b->length;
	if (n < 0x80 / 3) {
		/* cleaned it is at most three times as long: its length fits one byte */
		buffer_putc(b, 0);
		utf8_put(b, text);
		if (!b->failed)
			b->data[at] = (char)(b->length - at - 1);
		return;
	}
	buffer_append(b, "\0\0\0", SIZE_BYTES);
	utf8_put(b, text);
	if (!b->failed)
		patch(b, at, b->length - at - SIZE_BYTES);
}

void jfr_put_string(struct buffer *b, const char *text)
{
	if (!text)
		buffer_putc(b, TEXT_NULL);
	else if (!*text)
		buffer_putc(b, TEXT_EMPTY);
	else
		jfr_put_symbol(b, text);
}

void jfr_put_latin1(struct buffer *b, const char *bytes, size_t length)
{
	buffer_putc(b, TEXT_LATIN1);
	jfr_put_number(b, length);
	buffer_append(b, bytes, length);
}

void jfr_put_big64(struct buffer *b, uint64_t value)
{
	char bytes[8];
	int i;

	for (i = 0; i < 8; i++)
		bytes[i] = (char)(value >> (56 - 8 * i));
	buffer_append(b, bytes, 8);
}

void jfr_put_float(struct buffer *b, float value)
{
	uint32_t bits;
	char bytes[4];
	int i;

	memcpy(&bits, &value, sizeof(bits));
	for (i = 0; i < 4; i++)
		bytes[i] = (char)(bits >> (24 - 8 * i));
	buffer_append(b, bytes, 4);
}

size_t jfr_begin(struct buffer *b)
{
	buffer_append(b, "\0\0\0", SIZE_BYTES);
	return b->length - (b->failed ? 0 : SIZE_BYTES);
}

void jfr_end(struct buffer *b, size_t begin)
{
	if (!b->failed)
		patch(b, begin, b->length - begin);
}

size_t jfr_begin_short(struct buffer *b)
{
	buffer_putc(b, 0);
	return b->length - (b->failed ? 0 : 1);
}

void jfr_end_short(struct buffer *b, size_t begin)
{
	size_t size = b->length - begin;

	if (b->failed)
		return;
	if (size < 0x80) {
		b->data[begin] = (char)size;
		return;
	}
	buffer_append(b, "\0\0", SIZE_BYTES - 1);
	if (b->failed)
		return;
	memmove(b->data + begin + SIZE_BYTES, b->data + begin + 1, size - 1);
	patch(b, begin, size + SIZE_BYTES - 1);
}
