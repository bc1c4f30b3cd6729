#include "profile/exports/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "profile/model/frame_name.h"
#include "profile/model/name_table.h"

#define PROGRAM 1 /* the first mapping */
#define NAMES (STYLE_DOTS | STYLE_KERNEL | STYLE_PRINTABLE)

/* The number of KEY in TABLE, whose items are one word each. */
static uint32_t number_in(struct dictionary *t, struct lists *table, uint32_t key)
{
	uint32_t number = lists_add(table, &key, 1);

	t->failed |= number == LISTS_FAILED;
	return number + 1;
}

uint32_t dictionary_text(struct dictionary *t, const char *text)
{
	uint32_t place;

	if (!*text)
		return 0;
	t->spelled.fd = -1;
	t->spelled.length = 0;
	utf8_put(&t->spelled, text);
	place = t->spelled.failed ? 0 : strings_add(&t->texts, t->spelled.data, t->spelled.length);
	t->failed |= !place;
	return place ? number_in(t, &t->text_places, place) : 0;
}

const char *dictionary_get_text(const struct dictionary *t, uint32_t n)
{
	return strings_get(&t->texts, dictionary_only(&t->text_places, n - 1));
}

static uint32_t mapping_of(struct dictionary *t, const struct profile_frame *f)
{
	if (!f->library)
		return f->class_name ? PROGRAM : 0;
	return number_in(t, &t->mappings, dictionary_text(t, f->library));
}

void dictionary_program(struct dictionary *t, const struct profile *p)
{
	number_in(t, &t->mappings, dictionary_text(t, *p->main_class ? p->main_class : "java"));
}

uint32_t *dictionary_functions(struct dictionary *t, const struct profile *p, const struct format_options *options)
{
	struct format_options own = *options;
	uint32_t *functions = calloc((size_t)p->frame_count + 1, sizeof(*functions)), i;
	struct name_table names;

	own.lines = false; /* they have a place of their own */
	t->failed |= name_table_build(&names, p, format_style(NAMES, &own)) || !functions;
	for (i = 0; !t->failed && i < p->frame_count; i++)
		functions[i] = number_in(t, &t->functions, dictionary_text(t, name_text(&names, names.of_frame[i])));
	if (!t->failed)
		functions[i] = number_in(t, &t->functions, dictionary_text(t, name_text(&names, names.no_frames)));
	name_table_free(&names);
	return functions;
}

static void add(struct dictionary *t, struct numbers *list, uint32_t value)
{
	uint32_t *item = VECTOR_PUSH(list);

	if (item)
		*item = value;
	else
		t->failed = true;
}

static void begin_location(struct dictionary *t, uint32_t mapping, enum frame_type type)
{
	t->location.count = 0;
	add(t, &t->location, mapping);
	add(t, &t->location, type);
}

static void end_location(struct dictionary *t, struct numbers *list)
{
	uint32_t number = t->failed ? LISTS_FAILED :
				      lists_add(&t->locations, t->location.items, (uint32_t)t->location.count);

	t->failed |= number == LISTS_FAILED;
	add(t, list, number + 1);
}

void dictionary_locate(struct dictionary *t, const struct profile *p, const struct profile_stack *s,
		       const uint32_t *functions, struct numbers *list)
{
	uint32_t i, next, at;

	list->count = 0;
	for (i = 0; i < s->depth; i = next) {
		const struct profile_frame *outer = &p->frames[s->frames[i]];

		for (next = i + 1; next < s->depth && p->frames[s->frames[next]].kind == FRAME_INLINED;)
			next++;
		begin_location(t, mapping_of(t, outer), frame_type(outer));
		for (at = next; at-- > i;) {
			int32_t line = p->frames[s->frames[at]].line;

			add(t, &t->location, functions[s->frames[at]]);
			add(t, &t->location, line > 0 ? (uint32_t)line : 0);
		}
		end_location(t, list);
	}
	if (s->depth)
		return;
	begin_location(t, 0, TYPE_OTHER);
	add(t, &t->location, functions[p->frame_count]);
	add(t, &t->location, 0);
	end_location(t, list);
}

void dictionary_free(struct dictionary *t)
{
	strings_free(&t->texts);
	lists_free(&t->text_places);
	lists_free(&t->functions);
	lists_free(&t->mappings);
	lists_free(&t->locations);
	buffer_free(&t->spelled);
	free(t->location.items);
}
