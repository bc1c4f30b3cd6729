/*
 * named_frames_add.h - what named_frames.c and named_frames_late.c share.
 */
#ifndef JSTROBE_COLLECT_NAMES_NAMED_FRAMES_ADD_H
#define JSTROBE_COLLECT_NAMES_NAMED_FRAMES_ADD_H

#include <string.h>

#include "agent/collect/names/named_frames.h"

/* The number of TEXT in F's strings, 0 for NULL. */
static inline uint32_t frames_text(struct frames *f, const char *text)
{
	return text ? strings_add(&f->strings, text, strlen(text)) : 0;
}

/* The number of a frame equal to N, made if need be. FRAMES_NO_MEMORY. */
uint32_t frames_intern(struct frames *f, const struct named_frame *n);
/*
 * The frame of native or kernel code at ADDRESS in IMAGE (its id, 0 = the kernel): that of its function if it is
 * known, else one of its own until frames_name_late has the names.
 */
uint32_t frames_later(struct frames *f, uint64_t address, enum frame_kind kind, uint32_t library, uint32_t image);

#endif
