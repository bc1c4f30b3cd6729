/*
 * unlz4.h - files that are packed by lz4 (frames, as its tool writes them) are read as what they hold. Inner header of
 * the readers room.
 */
#ifndef JSTROBE_READERS_UNLZ4_H
#define JSTROBE_READERS_UNLZ4_H

#include "profile/readers/input/input.h"

/* Whether the file begins as one of lz4. */
bool unlz4_is(const struct input *in);
/* As gunzip. */
int unlz4(const struct input *in, bool *cut, struct error *err);

#endif
