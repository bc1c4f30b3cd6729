/*
 * saved_waits.c - what a result in JSON says of waits beside its stacks: locks, their owners, and stacks of these.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/readers/saved/saved_reader.h"

static uint32_t text(struct saved *s)
{
	size_t length;
	const char *text = json_string(&s->j, &length);

	return strings_add(&s->aggregate->strings, text, length);
}

uint32_t saved_lock(struct saved *s)
{
	uint64_t place = json_number(&s->j);

	return place < UINT16_MAX - 1 ? (uint32_t)place + 1 : 0;
}

void saved_keep_waits(struct saved *s)
{
	struct read_aggregate_family *family = &s->aggregate->families.items[s->family];

	s->lock_count = 0;
	/* the tables of several results of an event would be those of one of them; nor are they of a part */
	if (family->samples || s->part) {
		read_waits_free(&family->waits);
		return;
	}
	read_waits_free(&family->waits);
	family->waits = s->waits;
	s->lock_count = s->waits.locks.count;
	memset(&s->waits, 0, sizeof(s->waits));
}

uint32_t saved_lock_frame(struct saved *s, uint32_t lock)
{
	const struct read_wait *w = &s->aggregate->families.items[s->family].waits.locks.items[lock - 1];
	uint32_t words[READ_FRAME_WORDS] = {[READ_FRAME_KIND] = FRAME_OTHER, [READ_FRAME_CLASS] = w->name,
					    [READ_FRAME_LOCK] = lock};

	return read_aggregate_frame(s->aggregate, words);
}

/* A member that all of them have; false: KEY is another. */
static bool read_sum(struct saved *s, const char *key, struct read_wait *w)
{
	if (strcmp(key, "identity") == 0)
		w->identity = strtoull(json_string(&s->j, NULL), NULL, 16);
	else if (strcmp(key, "kind") == 0)
		w->kind = (uint8_t)lock_kind_by_word(json_string(&s->j, NULL));
	else if (strcmp(key, "class") == 0 || strcmp(key, "name") == 0)
		w->name = text(s);
	else if (strcmp(key, "lock_place") == 0)
		w->lock = saved_lock(s);
	else
		return json_take_numbers(&s->j, key, {"waits", &w->waits}, {"time_ns", &w->time},
					 {"longest_ns", &w->longest}, {"open", &w->open});
	return true;
}

/* The stack that stands in `frames` and `kinds`. */
static uint32_t stack_of(struct saved *s)
{
	uint32_t stack = s->names.count ? saved_frames(s, 0) : LISTS_FAILED;

	return stack == LISTS_FAILED ? READ_NO_STACK : stack;
}

static void read_wait(struct saved *s, struct read_wait_list *list)
{
	struct read_wait w = {.stack = READ_NO_STACK}, *kept;
	const char *key;

	s->names.count = s->kinds.count = 0;
	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j)))
		if (strcmp(key, "frames") == 0)
			saved_names(s);
		else if (strcmp(key, "kinds") == 0)
			saved_kinds(s);
		else if (!read_sum(s, key, &w))
			json_skip(&s->j);
	w.stack = stack_of(s);
	if (w.lock > s->waits.locks.count)
		w.lock = 0;
	kept = VECTOR_PUSH(list);
	s->no_memory |= !kept;
	if (kept)
		*kept = w;
}

bool saved_waits_of(struct saved *s, const char *key)
{
	struct read_wait_list *list = strcmp(key, "locks") == 0 ? &s->waits.locks :
				      strcmp(key, "owners") == 0 ? &s->waits.owners :
				      strcmp(key, "owner_stacks") == 0 ? &s->waits.holders : NULL;

	if (!list)
		return false;
	list->count = 0;
	if (json_open(&s->j, '['))
		while (json_item(&s->j) && !s->no_memory)
			read_wait(s, list);
	return true;
}

/* ---- libraries ---- */

/* {"library": "libc.so.6", "names": ["read", "write"]} */
static void read_library(struct saved *s)
{
	uint32_t library = 0, *slot;
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "library") == 0) {
			library = text(s);
			continue;
		}
		if (strcmp(key, "names") != 0) {
			json_skip(&s->j);
			continue;
		}
		if (!json_open(&s->j, '['))
			return;
		while (json_item(&s->j) && !s->no_memory) {
			slot = map_put(&s->library_of, text(s), NULL);
			s->no_memory |= !slot;
			if (slot)
				*slot = *slot ? *slot : library;
		}
	}
}

void saved_libraries(struct saved *s)
{
	map_clear(&s->library_of);
	map_clear(&s->frame_of); /* frames of another result may be of other libraries */
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j) && !s->no_memory)
		read_library(s);
}
