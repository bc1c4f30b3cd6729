/*
 * input.h - the file to convert, mapped and read once from front to back.
 *
 * What was read is given back piece by piece (input_forget), so that a file of any size needs the
 * memory of a window. The file must be a regular one; if it is truncated while it is read, reading
 * beyond its end raises SIGBUS, as for every mapped file: the command says so and ends.
 */
#ifndef JSTROBE_READERS_INPUT_H
#define JSTROBE_READERS_INPUT_H

#include "common/base/error.h"

struct input {
	const char *name; /* the caller's */
	const uint8_t *bytes;
	uint64_t size;
};

/* Map the file called NAME, which must stay until input_close. */
int input_open(struct input *in, const char *name, struct error *err);
/* What lies before byte UP_TO is not needed soon; it can still be read. */
void input_forget(const struct input *in, uint64_t from, uint64_t up_to);
/* Safe on a closed one. */
void input_close(struct input *in);

/*
 * What a file may ask for whatever its size, by who reads it; each limit stands where it is kept.
 *
 * Fuzzers are built with CONVERT_LIMITS_SMALLER: their inputs are of kilobytes, and have to get there, too.
 */

#ifdef CONVERT_LIMITS_SMALLER
#define LIMIT_BYTES(n) ((n) >> 14)
#define LIMIT_COUNT(n) 6
#else
#define LIMIT_BYTES(n) (n)
#define LIMIT_COUNT(n) (n)
#endif

#endif
