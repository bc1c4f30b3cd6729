/*
 * guessed_frame.h - a frame of a file that has its name and hardly more. Inner header of the readers room.
 */
#ifndef JSTROBE_READERS_GUESSED_FRAME_H
#define JSTROBE_READERS_GUESSED_FRAME_H

#include "profile/readers/read_aggregate.h"

/* The frame spelled TEXT[0..LENGTH). LISTS_FAILED: out of memory. */
uint32_t guessed_frame(struct read_aggregate *f, const char *text, size_t length);
/* Its words, for more to be put in; SAID: its kind, where the file says it and the name does not, else FRAME_KINDS. */
void guessed_frame_words(struct read_aggregate *f, const char *text, size_t length, enum frame_kind said,
			 uint32_t words[READ_FRAME_WORDS]);

#endif
