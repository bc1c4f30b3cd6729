/*
 * input.h - the file to convert, mapped and read once from front to back.
 *
 * What was read is given back piece by piece (input_forget), so that a file of any size needs the
 * memory of a window. The file must be a regular one; if it is truncated while it is read, reading
 * beyond its end raises SIGBUS, as for every mapped file: the command says so and ends.
 */
#ifndef JSTROBE_READERS_INPUT_H
#define JSTROBE_READERS_INPUT_H

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "profile/readers/read_limits.h"

struct input {
	const char *name; /* the caller's */
	const uint8_t *bytes;
	uint64_t size;
	uint64_t packed; /* the size of the file itself, if it was packed; 0 */
	int file;        /* its descriptor + 1; 0: none, as it was packed */
	bool cut; /* it was packed, and what is packed does not end as it should */
};

/* Map the file called NAME, or what it holds if it is one of gzip or lz4. NAME must stay until input_close. */
int input_open(struct input *in, const char *name, struct error *err);
/* Append to NOTES, as a line, that not all of it can be read, if so. */
void input_note(const struct input *in, struct buffer *notes);
/* What lies before byte UP_TO is not needed soon; it can still be read. */
void input_forget(const struct input *in, uint64_t from, uint64_t up_to);
/* The first byte from FROM on that is in no hole, as far as the file system knows; the size: there is none. */
uint64_t input_data(const struct input *in, uint64_t from);
/* Where those bytes end: the next hole, or the size. */
uint64_t input_data_end(const struct input *in, uint64_t from);
/* Safe on a closed one. */
void input_close(struct input *in);

#endif
