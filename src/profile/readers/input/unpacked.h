/*
 * unpacked.h - the file without name that what a packed one holds is written to, while it is unpacked. Inner header of
 * the readers room.
 *
 * A few bytes can stand for terabytes. So what comes out is at most GROWTH times as long, or LITTLE, if that is more:
 * recordings shrink to a tenth, stacks to a fiftieth.
 */
#ifndef JSTROBE_READERS_UNPACKED_H
#define JSTROBE_READERS_UNPACKED_H

#include "common/base/buffer.h"
#include "common/base/error.h"

struct unpacked {
	const char *name; /* of the packed one */
	int fd;
	uint64_t size, most, made; /* bytes: of the packed one, of what comes out */
};

/* Begin to unpack the file NAME of SIZE bytes, into $TMPDIR or /tmp. 0, or a negative errno with the reason. */
int unpacked_begin(struct unpacked *u, const char *name, uint64_t size, struct error *err);
/* The next N bytes of what it holds. The same. */
int unpacked_put(struct unpacked *u, const void *bytes, size_t n, struct error *err);
/* All is there; RC: what went wrong before. The descriptor, the caller's to close, or a negative errno. */
int unpacked_end(struct unpacked *u, int rc, struct error *err);

#endif
