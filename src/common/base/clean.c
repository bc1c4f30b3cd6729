#include "common/base/clean.h"

#include <string.h>

#include "common/base/buffer.h"
#include "common/base/utf8.h"

/* First and last of each range, in order. */
static const uint32_t unsafe[][2] = {
	{0x0000, 0x001f}, {0x007f, 0x009f}, /* controls: ESC, CSI (U+009B), OSC (U+009D) */
	{0x00ad, 0x00ad},                   /* soft hyphen */
	{0x034f, 0x034f},                   /* combining grapheme joiner */
	{0x061c, 0x061c},                   /* Arabic letter mark */
	{0x115f, 0x1160},                   /* Hangul fillers */
	{0x17b4, 0x17b5},                   /* Khmer vowels without a shape */
	{0x180b, 0x180f},                   /* Mongolian selectors and separator */
	{0x200b, 0x200f},                   /* no width; direction marks */
	{0x2028, 0x202e},                   /* separators; embeddings and overrides of direction */
	{0x2060, 0x206f},                   /* no width; isolates */
	{0x3164, 0x3164},                   /* Hangul filler */
	{0xfe00, 0xfe0f},                   /* variation selectors */
	{0xfeff, 0xfeff},                   /* byte order mark */
	{0xffa0, 0xffa0},                   /* Hangul filler */
	{0xfff0, 0xfffb},                   /* annotations */
	{0xfffe, 0xffff},
	{0x1bca0, 0x1bca3},                 /* format controls of shorthand */
	{0x1d173, 0x1d17a},                 /* … of music */
	{0xe0000, 0xe0fff},                 /* tags, selectors */
};

bool clean_is_unsafe(uint32_t c)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(unsafe) && c >= unsafe[i][0]; i++)
		if (c <= unsafe[i][1])
			return true;
	return false;
}

/* Length of the sequence at BYTES[0..N), 0 if it is none; *C is its character. */
static size_t sequence(const char *bytes, size_t n, uint32_t *c)
{
	unsigned char four[5] = {0};
	size_t length;

	/* what is looked at ends in a NUL, which no sequence of several bytes holds */
	memcpy(four, bytes, MIN(n, (size_t)4));
	length = utf8_length(four);
	*c = length ? utf8_character(four, length) : four[0];
	return length;
}

static bool may_stay(char c, enum clean_kind kind)
{
	return (c >= 0x20 && c < 0x7f) || (kind == CLEAN_TEXT && (c == '\n' || c == '\t'));
}

size_t clean_length(const char *bytes, size_t n, enum clean_kind kind)
{
	size_t at = 0, length;
	uint32_t c;

	while (at < n) {
		if (may_stay(bytes[at], kind)) {
			at++;
			continue;
		}
		length = sequence(bytes + at, n - at, &c);
		if (length < 2 || clean_is_unsafe(c))
			break;
		at += length;
	}
	return at;
}

void clean_put(struct buffer *b, const char *bytes, size_t n, enum clean_kind kind)
{
	size_t at = 0, length;
	uint32_t c;

	for (;;) {
		length = clean_length(bytes + at, n - at, kind);
		buffer_append(b, bytes + at, length);
		at += length;
		if (at == n)
			break;
		length = sequence(bytes + at, n - at, &c);
		buffer_printf(b, length < 2 ? "\\x%02x" : c <= 0xffff ? "\\u%04x" : "\\U%08x", c);
		at += MAX(length, (size_t)1);
	}
}

void clean_name(struct buffer *b, const char *name)
{
	clean_put(b, name, strlen(name), CLEAN_LINE);
}
