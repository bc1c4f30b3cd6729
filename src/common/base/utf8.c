#include "common/base/utf8.h"

#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";

size_t utf8_length(const unsigned char *p)
{
	size_t n, i;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if ((p[0] & 0xf0) == 0xe0)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

uint32_t utf8_character(const unsigned char *p, size_t n)
{
	static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = p[0] & first[n];
	size_t i;

	for (i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

/* The surrogate encoded in three bytes at P, 0 = none. */
static uint32_t surrogate(const unsigned char *p)
{
	if (p[0] != 0xed || (p[1] & 0xe0) != 0xa0 || (p[2] & 0xc0) != 0x80)
		return 0;
	return 0xd000u | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
}

size_t utf8_foreign(const unsigned char *p, uint32_t *c)
{
	uint32_t high = surrogate(p), low;

	*c = 0xfffd;
	if (p[0] == 0xc0 && p[1] == 0x80) {
		*c = 0;
		return 2;
	}
	if (!high)
		return 1;
	low = high < 0xdc00 ? surrogate(p + 3) : 0;
	if (low < 0xdc00)
		return 3;
	*c = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	return 6;
}

/* Append the character that begins at P; the number of bytes it took. */
static size_t put_foreign(struct buffer *b, const unsigned char *p)
{
	uint32_t c;
	size_t n = utf8_foreign(p, &c);

	if (c == 0) {
		buffer_putc(b, '\0');
	} else if (c == 0xfffd) {
		buffer_puts(b, replacement);
	} else {
		buffer_putc(b, (char)(0xf0 | c >> 18));
		buffer_putc(b, (char)(0x80 | (c >> 12 & 0x3f)));
		buffer_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buffer_putc(b, (char)(0x80 | (c & 0x3f)));
	}
	return n;
}

void utf8_put(struct buffer *b, const char *text)
{
	const unsigned char *p = (const unsigned char *)text, *clean = p;

	while (*p) {
		size_t n = utf8_length(p);

		if (n) {
			p += n;
			continue;
		}
		buffer_append(b, clean, (size_t)(p - clean));
		p += put_foreign(b, p);
		clean = p;
	}
	buffer_append(b, clean, (size_t)(p - clean));
}
