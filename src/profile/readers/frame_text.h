/*
 * frame_text.h - a frame as our JSON spells it ("java.util.Map$$Lambda$14/0x00.get:12"), taken apart. Pure functions.
 */
#ifndef JSTROBE_READERS_FRAME_TEXT_H
#define JSTROBE_READERS_FRAME_TEXT_H

#include "common/words/enum_names.h"

struct frame_text {
	const char *class_name, *name; /* in the text */
	size_t class_length, name_length; /* class_length 0: it has none */
	uint32_t line; /* 0 = not said */
};

/* The parts of TEXT[0..LENGTH), a frame of KIND. */
struct frame_text frame_text_split(const char *text, size_t length, enum frame_kind kind);
/* The class as the JVM spells it, with slashes, NUL-ended, to OUT: class_length + 1 bytes. */
void frame_text_class(const struct frame_text *t, char *out);

#endif
