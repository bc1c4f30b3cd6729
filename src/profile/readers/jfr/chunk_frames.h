/*
 * chunk_frames.h - what chunk_names.c and chunk_frames.c share.
 */
#ifndef JSTROBE_READERS_JFR_CHUNK_FRAMES_H
#define JSTROBE_READERS_JFR_CHUNK_FRAMES_H

#include "profile/readers/jfr/chunk_names.h"

/* Slots of the layouts. */
enum { STACK_TRUNCATED, STACK_FRAMES, STACK_SLOTS };
enum { IN_METHOD, IN_LINE, IN_KIND, IN_BCI, FRAME_SLOTS };
enum { METHOD_TYPE, METHOD_NAME, METHOD_SIGNATURE, METHOD_MODIFIERS, METHOD_SLOTS };
enum { OS_NAME, OS_ID, JAVA_NAME, JAVA_ID, THREAD_SLOTS };

/* A reader at AT, which is inside the chunk. */
static inline struct reader names_reader_at(const struct names *n, const uint8_t *at)
{
	return read_between(at, n->pools->end, n->wide);
}

static inline const char *names_text_of(const struct names *n, uint32_t number)
{
	return strings_get(&n->aggregate->strings, number);
}

/*
 * The text of a constant's FIELD (NULL: it has none), whose value is in SLOT: a key or a string, as the
 * metadata say.
 */
uint32_t names_field_text(struct names *n, const struct metadata_field *field, uint64_t slot);
/*
 * The frame of key METHOD that ran as key KIND says, and LINE (0 where lines do not matter). LISTS_FAILED:
 * out of memory.
 */
uint32_t names_frame(struct names *n, uint64_t method, uint64_t kind, uint32_t line);

#endif
