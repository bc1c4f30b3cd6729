/*
 * packed.h - how a whole profile travels from the agent to the command of the same build.
 *
 *     struct packed_head | struct profile | its arrays, in the order of packed_lists | frames of stacks | texts
 *
 * Everything is as it lies in memory, each part on a multiple of 8 bytes, but for pointers: one to a text is its place
 * in the texts + 1, one to frames its place in the frames + 1, 0 is NULL. Several profiles stand one after the other.
 * No promise to anybody: both sides check that they were built alike. A trace (calls.h) does not travel so.
 */
#ifndef JSTROBE_MODEL_PACKED_H
#define JSTROBE_MODEL_PACKED_H

#include "profile/model/profile.h"

#define PACKED_MAGIC 0x6b636170u /* "pack" */
#define PACKED_TEXTS 4
#define PACKED_NONE UINT16_MAX

struct packed_head {
	uint32_t magic;
	uint32_t layout; /* packed_layout() of the build that wrote it */
	uint64_t frames; /* indices in the part `frames of stacks` */
	uint64_t texts;  /* bytes */
};

/* An array of a profile: where it says so itself, and what its items point to. */
struct packed_list {
	uint16_t items, count;         /* offsets in struct profile: of the pointer, and of a uint32_t */
	uint16_t size;                 /* of an item */
	uint16_t texts[PACKED_TEXTS];  /* offsets in an item; PACKED_NONE: no more */
	uint16_t must;                 /* so many of the first of them are never NULL */
	uint16_t frames, depth;        /* offsets in an item, of a list of frames and its length; PACKED_NONE: none */
	bool whole;                    /* it may be missing as a whole, though its count is another array's, too */
};

/* Offsets in struct profile of texts; the first PACKED_MUST are never NULL. */
#define PACKED_MUST 4
extern const uint16_t packed_texts[];
extern const unsigned packed_text_count;
extern const struct packed_list packed_lists[];
extern const unsigned packed_list_count;

/* What tells builds apart whose profiles lie differently in memory. Any thread. */
uint32_t packed_layout(void);

/* The pointer at OFFSET of OBJECT. */
static inline const void *packed_pointer(const void *object, uint16_t offset)
{
	return *(const void *const *)((const char *)object + offset);
}

/* How many items LIST of P has. */
static inline uint32_t packed_count(const struct profile *p, const struct packed_list *list)
{
	return packed_pointer(p, list->items) ? *(const uint32_t *)((const char *)p + list->count) : 0;
}

static inline uint64_t packed_padded(uint64_t bytes)
{
	return (bytes + 7) & ~(uint64_t)7;
}

#endif
