/*
 * progress.h - how far the reading of a file is, told to a user who waits for it and may end it early: then what was
 * read until there is the result. Inner header of the readers.
 */
#ifndef JSTROBE_READERS_PROGRESS_H
#define JSTROBE_READERS_PROGRESS_H

#include "common/base/buffer.h"

#define PROGRESS_EVERY (1u << 20) /* bytes: a reader asks so often */

/* Byte DONE of OF is reached. False: read no further. Any thread; the one that began is told on. */
bool progress_goes_on(uint64_t done, uint64_t of);
/* Append a sentence if the file NAME of SIZE bytes was left before its end. */
void progress_note(const char *name, uint64_t size, struct buffer *notes);
/* Another file begins, on this thread. */
void progress_begin(void);

#endif
