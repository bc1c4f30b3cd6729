/*
 * times.h - when samples were taken, as a stream of bytes: how the agent keeps it, and how it travels to the command.
 * Any thread.
 *
 *   varint  stack × 8, + 1: span and samples follow (else 0 and 1), + 2: a weight follows, + 4: a thread follows (else
 *           that of the moment before)
 *   varint  steps since the moment before, with its sign in the lowest bit
 *   [varint thread]
 *   [varint span in steps, varint samples]
 *   [varint quanta beside samples × usual, with its sign in the lowest bit]
 *
 * A sample of CPU time is 4 to 7 bytes this way. Varints are LEB128. Stacks and threads are places in the lists that
 * come with it, + 1, and 0 where they are not known: nothing is looked up for a sample, which would be the most of its
 * cost.
 */
#ifndef JSTROBE_MODEL_TIMES_H
#define JSTROBE_MODEL_TIMES_H

#include "common/base/base.h"

/* Some samples of one stack and thread. */
struct times_moment {
	uint64_t at, span;  /* in steps, at: since the start */
	uint64_t samples;
	int64_t beside;     /* quanta of their weight beside those that are usual */
	uint32_t stack, thread;
};

#define TIMES_LONGEST 50 /* bytes of a moment, at most */

/* Write M, which comes after BEFORE (zeroed: it is the first), to TO; how many bytes it took. */
size_t times_put(uint8_t *to, const struct times_moment *m, const struct times_moment *before);
/*
 * Read the moment at *AT, which is moved past it, into M, which still is the one before it, or zeroed. False: END is
 * there, or what is there is none.
 */
bool times_next(const uint8_t **at, const uint8_t *end, struct times_moment *m);

#endif
