#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(const char *text, size_t length)
{
	uint64_t h = 0xcbf29ce484222325ull;
	size_t i;

	for (i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return h;
}

static bool room(struct strings *s, size_t n)
{
	size_t wanted = MAX(s->capacity * 2, s->length + n + 1024);
	char *bytes;

	if (s->length + n <= s->capacity)
		return true;
	if (wanted > UINT32_MAX)
		return false;
	bytes = realloc(s->bytes, wanted);
	if (!bytes)
		return false;
	s->bytes = bytes;
	s->capacity = wanted;
	return true;
}

uint32_t strings_add(struct strings *s, const char *text, size_t length)
{
	uint64_t hash = hash_text(text, length);
	uint32_t *slot;
	bool fresh;

	if (length == 0)
		return 0;
	if (!room(s, length + 2)) {
		s->failed = true;
		return 0;
	}
	if (s->length == 0)
		s->bytes[s->length++] = '\0';
	/* Texts that share a hash (never seen) take the next keys. */
	for (;; hash++) {
		slot = map_put(&s->index, hash, &fresh);
		if (!slot) {
			s->failed = true;
			return 0;
		}
		if (fresh)
			break;
		if (strncmp(s->bytes + *slot, text, length) == 0 && s->bytes[*slot + length] == '\0')
			return *slot;
	}
	*slot = (uint32_t)s->length;
	memcpy(s->bytes + s->length, text, length);
	s->bytes[s->length + length] = '\0';
	s->length += length + 1;
	return *slot;
}

const char *strings_get(const struct strings *s, uint32_t number)
{
	return s->bytes ? s->bytes + number : "";
}

void strings_free(struct strings *s)
{
	free(s->bytes);
	map_free(&s->index);
	memset(s, 0, sizeof(*s));
}
