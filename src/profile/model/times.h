/*
 * times.h - when samples were taken, as a stream of bytes: how the agent keeps it, and how it travels to the command.
 * Any thread.
 *
 *   varint  place × 4, + 1: span and samples follow (else 0 and 1), + 2: a weight follows
 *   varint  steps since the moment before, with its sign in the lowest bit
 *   [varint span in steps, varint samples]
 *   [varint quanta beside samples × usual, with its sign in the lowest bit]
 *
 * A sample of CPU time is 4 to 6 bytes this way. Varints are LEB128.
 */
#ifndef JSTROBE_MODEL_TIMES_H
#define JSTROBE_MODEL_TIMES_H

#include "common/base/base.h"

/* Some samples of one place. */
struct times_moment {
	uint64_t at, span;  /* in steps, at: since the start */
	uint64_t samples;
	int64_t beside;     /* quanta of their weight beside those that are usual */
	uint32_t place;
};

#define TIMES_LONGEST 50 /* bytes of a moment, at most */

/* Write M, which comes after a moment at BEFORE, to TO; how many bytes it took. */
size_t times_put(uint8_t *to, const struct times_moment *m, uint64_t before);
/*
 * Read the moment at *AT, which is moved past it, into M, which still is the one before it, or 0. False: END is there,
 * or what is there is none.
 */
bool times_next(const uint8_t **at, const uint8_t *end, struct times_moment *m);

#endif
