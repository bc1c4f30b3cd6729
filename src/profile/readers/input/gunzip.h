/*
 * gunzip.h - files that are packed by gzip are read as what they hold. Inner header of the readers room.
 */
#ifndef JSTROBE_READERS_GUNZIP_H
#define JSTROBE_READERS_GUNZIP_H

#include "profile/readers/input/input.h"

/* Whether the file begins as one of gzip. */
bool gunzip_is(const struct input *in);
/*
 * A file without name, in $TMPDIR or /tmp, that holds what IN has unpacked: its descriptor, the caller's to close, or a
 * negative errno with the reason. *CUT: IN ends too early or is damaged further on; what stood before that is there.
 */
int gunzip(const struct input *in, bool *cut, struct error *err);

#endif
