#include "profile/model/name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/seed.h"

/* FNV-1a over the text and the type, from a begin that no file knows. */
static uint32_t hash(const char *text, unsigned type)
{
	uint32_t h = (uint32_t)seed() ^ type;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h ^ h >> 15;
}

/* Types that count as one when names are compared. */
static unsigned group(const struct name_table *t, unsigned type)
{
	return t->any_type ? 0 : type == TYPE_JVM ? TYPE_NATIVE : type;
}

/*
 * The number of the name that starts at OFFSET in t->text, the last one there;
 * its text is taken back when the name was known already.
 */
static uint32_t intern(struct name_table *t, size_t offset, unsigned type, const char *library)
{
	const char *text;
	uint32_t slot;

	buffer_putc(&t->text, '\0');
	if (t->text.failed)
		return 0;
	text = t->text.data + offset;
	slot = hash(text, group(t, type)) & t->slot_mask;
	while (t->slots[slot]) {
		uint32_t name = t->slots[slot] - 1;

		if (group(t, t->names[name].type) == group(t, type) &&
		    !strcmp(name_text(t, name), text)) {
			t->text.length = offset;
			return name;
		}
		slot = (slot + 1) & t->slot_mask;
	}
	t->names[t->count] = (struct name){(uint32_t)offset, (uint8_t)type, library};
	t->slots[slot] = t->count + 1;
	return t->count++;
}

int name_table_build(struct name_table *t, const struct profile *p, unsigned style)
{
	size_t most = (size_t)p->frame_count + p->thread_count + 1;
	size_t slots = 64, offset;
	uint32_t i;

	memset(t, 0, sizeof(*t));
	t->any_type = style & STYLE_ANY_TYPE;
	buffer_init(&t->text, -1);
	while (slots < most * 2)
		slots *= 2;
	t->slot_mask = (uint32_t)(slots - 1);
	t->names = calloc(most, sizeof(*t->names));
	t->slots = calloc(slots, sizeof(*t->slots));
	t->of_frame = calloc((size_t)p->frame_count + 1, sizeof(*t->of_frame));
	t->of_thread = calloc((size_t)p->thread_count + 1, sizeof(*t->of_thread));
	if (!t->names || !t->slots || !t->of_frame || !t->of_thread)
		return -ENOMEM;
	for (i = 0; i < p->frame_count; i++) {
		offset = t->text.length;
		frame_name_put(&t->text, &p->frames[i], style);
		t->of_frame[i] = intern(t, offset, frame_type(&p->frames[i]), p->frames[i].library);
	}
	for (i = 0; i < p->thread_count; i++) {
		offset = t->text.length;
		frame_name_thread(&t->text, &p->threads[i], style);
		t->of_thread[i] = intern(t, offset, TYPE_OTHER, NULL);
	}
	offset = t->text.length;
	buffer_puts(&t->text, "[no_frames]");
	t->no_frames = intern(t, offset, TYPE_OTHER, NULL);
	return t->text.failed || t->text.length > UINT32_MAX ? -ENOMEM : 0;
}

void name_table_free(struct name_table *t)
{
	free(t->names);
	free(t->slots);
	free(t->of_frame);
	free(t->of_thread);
	buffer_free(&t->text);
	memset(t, 0, sizeof(*t));
}
