#include "common/base/strings.h"

#include <string.h>

#include "common/base/hash.h"
#include "common/base/pages.h"

struct wanted {
	const struct strings *strings;
	const char *text;
	size_t length;
};

static bool is_text(uint32_t at, const void *wanted)
{
	const struct wanted *w = wanted;
	const struct strings *s = w->strings;

	return w->length < s->length - at && memcmp(s->bytes + at, w->text, w->length) == 0 &&
	       !s->bytes[at + w->length];
}

static bool room(struct strings *s, size_t n)
{
	size_t wanted = MAX(s->capacity * 2, pages_bytes(s->length + n + 1024));
	char *bytes;

	if (s->length + n <= s->capacity)
		return true;
	if (wanted > UINT32_MAX)
		return false;
	bytes = pages_grow(s->bytes, s->capacity, wanted);
	if (!bytes)
		return false;
	s->bytes = bytes;
	s->capacity = wanted;
	return true;
}

/* Room for TEXT, which may be one of S's own, or a part of one: where it is then. NULL: there is none. */
static const char *text_in_room(struct strings *s, const char *text, size_t length)
{
	size_t at = (uintptr_t)text - (uintptr_t)s->bytes;
	bool own = s->bytes && at < s->length;

	if (!room(s, length + 2))
		return NULL;
	return own ? s->bytes + at : text;
}

uint32_t strings_add(struct strings *s, const char *text, size_t length)
{
	struct wanted w = {s, text, length};
	uint32_t *slot;

	if (length == 0)
		return 0;
	w.text = text_in_room(s, text, length);
	if (w.text && s->length == 0)
		s->bytes[s->length++] = '\0';
	slot = w.text ? map_intern(&s->index, hash_seeded(w.text, length), is_text, &w) : NULL;
	if (!slot) {
		s->failed = true;
		return 0;
	}
	if (*slot)
		return *slot;
	*slot = (uint32_t)s->length;
	memcpy(s->bytes + s->length, w.text, length);
	s->bytes[s->length + length] = '\0';
	s->length += length + 1;
	return *slot;
}

const char *strings_get(const struct strings *s, uint32_t number)
{
	return s->bytes ? s->bytes + number : "";
}

size_t strings_bytes(const struct strings *s)
{
	return s->capacity + map_bytes(&s->index);
}

void strings_free(struct strings *s)
{
	pages_free(s->bytes, s->capacity);
	map_free(&s->index);
	memset(s, 0, sizeof(*s));
}
