/*
 * pack.c - a profile for the command of the same build (packed.h), so that findings, tables and pages are made there
 * and not in the program that is looked at.
 */
#include <string.h>

#include "profile/model/packed.h"
#include "profile/writers/writers.h"

/* How far texts and frames have come. */
struct packing {
	struct packed_head sums;
};

/*
 * A copy of pointers as they travel: the N texts at OFFSETS in OBJECT, whose copy is TO (NULL: they are only
 * counted).
 */
static void place_texts(struct packing *k, const void *object, const uint16_t *offsets, unsigned n, char *to)
{
	unsigned i;

	for (i = 0; i < n && offsets[i] != PACKED_NONE; i++) {
		const char *text = packed_pointer(object, offsets[i]);
		uintptr_t place = text ? (uintptr_t)k->sums.texts + 1 : 0;

		if (to)
			memcpy(to + offsets[i], &place, sizeof(place));
		k->sums.texts += text ? strlen(text) + 1 : 0;
	}
}

static void place_frames(struct packing *k, const void *item, const struct packed_list *list, char *to)
{
	uintptr_t place = (uintptr_t)k->sums.frames + 1;

	if (list->frames == PACKED_NONE)
		return;
	if (to)
		memcpy(to + list->frames, &place, sizeof(place));
	k->sums.frames += *(const uint32_t *)((const char *)item + list->depth);
}

static const char *item_of(const struct profile *p, const struct packed_list *list, uint32_t i)
{
	return (const char *)packed_pointer(p, list->items) + (size_t)i * list->size;
}

static void pad(struct buffer *out, uint64_t bytes)
{
	static const char zeros[8];

	buffer_append(out, zeros, (size_t)(packed_padded(bytes) - bytes));
}

/* The items of LIST; OUT NULL: what they point to is only counted. */
static void put_list(struct packing *k, const struct profile *p, const struct packed_list *list, struct buffer *out)
{
	uint64_t item[32]; /* aligned as any structure wants it */
	uint32_t count = packed_count(p, list), i;
	bool plain = list->texts[0] == PACKED_NONE && list->frames == PACKED_NONE;

	if (plain && out && count)
		buffer_append(out, packed_pointer(p, list->items), (size_t)count * list->size);
	for (i = 0; i < count && !plain; i++) {
		const char *from = item_of(p, list, i);

		memcpy(item, from, list->size);
		place_texts(k, from, list->texts, PACKED_TEXTS, (char *)item);
		place_frames(k, from, list, (char *)item);
		if (out)
			buffer_append(out, item, list->size);
	}
	if (out)
		pad(out, (uint64_t)count * list->size);
}

static void put_structures(struct packing *k, const struct profile *p, struct buffer *out)
{
	struct profile copy = *p;
	unsigned i;

	copy.calls = NULL;
	copy.blocks = NULL;
	copy.blocks_of = NULL;
	copy.moments_of = NULL;
	copy.growth_of = NULL;
	for (i = 0; i < packed_list_count; i++) {
		uintptr_t there = packed_pointer(p, packed_lists[i].items) != NULL;

		memcpy((char *)&copy + packed_lists[i].items, &there, sizeof(there));
	}
	place_texts(k, p, packed_texts, packed_text_count, (char *)&copy);
	if (out) {
		buffer_append(out, &copy, sizeof(copy));
		pad(out, sizeof(copy));
	}
	for (i = 0; i < packed_list_count; i++)
		put_list(k, p, &packed_lists[i], out);
}

static void put_frames(const struct profile *p, struct buffer *out)
{
	uint64_t bytes = 0;
	unsigned l;
	uint32_t i;

	for (l = 0; l < packed_list_count; l++) {
		const struct packed_list *list = &packed_lists[l];

		for (i = 0; list->frames != PACKED_NONE && i < packed_count(p, list); i++) {
			const char *item = item_of(p, list, i);
			size_t size = *(const uint32_t *)(item + list->depth) * sizeof(uint32_t);

			buffer_append(out, packed_pointer(item, list->frames), size);
			bytes += size;
		}
	}
	pad(out, bytes);
}

static void put_texts_of(const void *object, const uint16_t *offsets, unsigned n, struct buffer *out)
{
	unsigned i;

	for (i = 0; i < n && offsets[i] != PACKED_NONE; i++) {
		const char *text = packed_pointer(object, offsets[i]);

		if (text)
			buffer_append(out, text, strlen(text) + 1);
	}
}

static void put_texts(const struct profile *p, struct buffer *out)
{
	unsigned l;
	uint32_t i;

	put_texts_of(p, packed_texts, packed_text_count, out);
	for (l = 0; l < packed_list_count; l++)
		for (i = 0; i < packed_count(p, &packed_lists[l]); i++)
			put_texts_of(item_of(p, &packed_lists[l], i), packed_lists[l].texts, PACKED_TEXTS, out);
}

void format_packed(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	struct packing k = {.sums = {.magic = PACKED_MAGIC, .layout = packed_layout()}};
	struct profile whole = *p;
	struct packing again;

	(void)options;
	whole.growth = p->growth_of == p->stacks ? p->growth : NULL;
	if (p->moments_of != p->stacks) {
		whole.times = NULL;
		whole.time_stacks = whole.time_threads = NULL;
		whole.time_bytes = whole.time_stack_count = whole.time_thread_count = 0;
	}
	put_structures(&k, &whole, NULL);
	buffer_append(out, &k.sums, sizeof(k.sums));
	again = (struct packing){.sums = {.frames = 0}};
	put_structures(&again, &whole, out);
	put_frames(&whole, out);
	put_texts(&whole, out);
	pad(out, k.sums.texts);
}
