#include "profile/model/name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Types that count as one when names are compared. */
static unsigned group(const struct name_table *t, unsigned type)
{
	return t->any_type ? 0 : type == TYPE_JVM ? TYPE_NATIVE : type;
}

/* The number of the name that TEXT holds, which is empty afterwards. */
static uint32_t intern(struct name_table *t, struct buffer *text, unsigned type, const char *library)
{
	uint32_t number = text->failed ? 0 : strings_add(&t->texts, text->data, text->length);
	uint32_t *slot = map_put(&t->by_text, (uint64_t)number << 8 | group(t, type), NULL);

	text->length = 0;
	if (!slot) {
		t->texts.failed = true;
		return 0;
	}
	if (!*slot) {
		t->names[t->count++] = (struct name){number, (uint8_t)type, library};
		*slot = t->count;
	}
	return *slot - 1;
}

int name_table_build(struct name_table *t, const struct profile *p, unsigned style)
{
	size_t most = (size_t)p->frame_count + p->thread_count + 1;
	struct buffer text = BUFFER_INIT;
	uint32_t i;
	int rc;

	memset(t, 0, sizeof(*t));
	t->any_type = style & STYLE_ANY_TYPE;
	t->names = calloc(most, sizeof(*t->names));
	t->of_frame = calloc((size_t)p->frame_count + 1, sizeof(*t->of_frame));
	t->of_thread = calloc((size_t)p->thread_count + 1, sizeof(*t->of_thread));
	if (!t->names || !t->of_frame || !t->of_thread)
		return -ENOMEM;
	for (i = 0; i < p->frame_count; i++) {
		frame_name_put(&text, &p->frames[i], style);
		t->of_frame[i] = intern(t, &text, frame_type(&p->frames[i]), p->frames[i].library);
	}
	for (i = 0; i < p->thread_count; i++) {
		frame_name_thread(&text, &p->threads[i], style);
		t->of_thread[i] = intern(t, &text, TYPE_OTHER, NULL);
	}
	buffer_puts(&text, "[no_frames]");
	t->no_frames = intern(t, &text, TYPE_OTHER, NULL);
	rc = text.failed || t->texts.failed ? -ENOMEM : 0;
	buffer_free(&text);
	return rc;
}

void name_table_free(struct name_table *t)
{
	free(t->names);
	free(t->of_frame);
	free(t->of_thread);
	map_free(&t->by_text);
	strings_free(&t->texts);
	memset(t, 0, sizeof(*t));
}
