/*
 * categories.h - what a thread was busy with, in one word: --classify.
 */
#ifndef JSTROBE_READERS_CATEGORIES_H
#define JSTROBE_READERS_CATEGORIES_H

#include "profile/model/profile.h"

enum category {
#define X(NAME, title, kind) CATEGORY_##NAME,
#include "profile/readers/categories.def"
	CATEGORIES
};

/* The frame that stands for it, and its kind (enum frame_kind). */
extern const struct category_frame {
	const char *title;
	uint8_t kind;
} category_frames[CATEGORIES];

/* Of STACK, whose frames are those of P. */
enum category category_of(const struct profile *p, const struct profile_stack *stack);

#endif
