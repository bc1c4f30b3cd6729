/*
 * jfr_text.c - strings as JFR writes them: a byte that says how, then the text.
 *
 *   0 null   1 ""   2 key in the pool java.lang.String   3 UTF-8   4 UTF-16 units   5 Latin-1
 */
#include "profile/readers/jfr/jfr_reader.h"

#define REPLACEMENT 0xfffd

void text_skip(struct reader *r)
{
	uint64_t n;

	switch (read_u8(r)) {
	case TEXT_NULL:
	case TEXT_EMPTY:
		break;
	case TEXT_POOLED:
		read_long(r);
		break;
	case TEXT_UTF8:
	case TEXT_LATIN1:
		read_skip(r, read_int(r));
		break;
	case TEXT_UNITS:
		n = read_int(r);
		if (n > read_left(r))
			read_fail(r);
		else if (r->wide)
			read_skip(r, 2 * n);
		else
			read_skip_varints(r, n);
		break;
	default:
		read_fail(r);
	}
}

/* Whether all of TEXT[0..N) are ASCII, and no NUL among them. */
static bool is_ascii(const uint8_t *text, uint64_t n)
{
	uint64_t word, bad = 0;

	for (; n >= sizeof(word); n -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		bad |= word | (word - BLOCK_ONES); /* of a NUL the high bit */
	}
	for (; n; n--, text++)
		bad |= !*text || *text & 0x80 ? BLOCK_HIGH : 0;
	return !(bad & BLOCK_HIGH);
}

bool text_plain(struct reader *r, const char **text, size_t *length)
{
	struct reader ahead = *r;
	enum text_kind kind = read_u8(&ahead);
	uint64_t n;

	if (kind != TEXT_UTF8 && kind != TEXT_LATIN1)
		return false;
	n = read_int(&ahead);
	if (n > read_left(&ahead) || !is_ascii(ahead.c.at, n))
		return false;
	*text = (const char *)ahead.c.at;
	*length = n;
	read_skip(&ahead, n);
	*r = ahead;
	return true;
}

static void put_point(struct buffer *out, uint32_t c)
{
	if (c == 0)
		c = ' ';
	if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = REPLACEMENT;
	if (c < 0x80) {
		buffer_putc(out, (char)c);
		return;
	}
	if (c < 0x800) {
		buffer_putc(out, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			buffer_putc(out, (char)(0xe0 | c >> 12));
		} else {
			buffer_putc(out, (char)(0xf0 | c >> 18));
			buffer_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		buffer_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	buffer_putc(out, (char)(0x80 | (c & 0x3f)));
}

/* The bytes as they are: writers that must have whole UTF-8 see to it themselves. */
static void put_utf8(struct reader *r, struct buffer *out, uint64_t n)
{
	const char *text = (const char *)r->c.at;

	read_skip(r, n);
	while (n && !r->c.failed) {
		const char *nul = memchr(text, '\0', n);
		size_t part = nul ? (size_t)(nul - text) : n;

		buffer_append(out, text, part);
		if (nul)
			buffer_putc(out, ' '); /* texts end at a NUL in here */
		n -= part + (nul != NULL);
		text += part + (nul != NULL);
	}
}

static void put_latin1(struct reader *r, struct buffer *out, uint64_t n)
{
	const uint8_t *text = r->c.at, *end = text + n, *p;

	read_skip(r, n);
	while (text < end && !r->c.failed) {
		for (p = text; p < end && *p && *p < 0x80; p++)
			;
		buffer_append(out, text, (size_t)(p - text));
		if (p < end)
			put_point(out, *p++);
		text = p;
	}
}

static void put_units(struct reader *r, struct buffer *out, uint64_t n)
{
	uint32_t high = 0;

	for (; n && !r->c.failed; n--) {
		uint32_t c = (uint32_t)(r->wide ? read_fixed(r, 2) : read_varint(r)) & 0xffff;

		if (high && c >= 0xdc00 && c < 0xe000) {
			put_point(out, 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00));
			high = 0;
			continue;
		}
		if (high)
			put_point(out, REPLACEMENT);
		high = c >= 0xd800 && c < 0xdc00 ? c : 0;
		if (!high)
			put_point(out, c);
	}
	if (high)
		put_point(out, REPLACEMENT);
}

enum text_kind text_read(struct reader *r, struct buffer *out, uint64_t *key)
{
	enum text_kind kind = read_u8(r);
	uint64_t n;

	*key = 0;
	switch (kind) {
	case TEXT_NULL:
	case TEXT_EMPTY:
		return kind;
	case TEXT_POOLED:
		*key = read_long(r);
		return kind;
	case TEXT_UTF8:
	case TEXT_UNITS:
	case TEXT_LATIN1:
		n = read_int(r);
		if (n > read_left(r))
			break;
		if (kind == TEXT_UTF8)
			put_utf8(r, out, n);
		else if (kind == TEXT_UNITS)
			put_units(r, out, n);
		else
			put_latin1(r, out, n);
		return kind;
	}
	read_fail(r);
	return TEXT_NULL;
}
