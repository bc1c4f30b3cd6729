/*
 * jfr_chunk.h - the open chunk of a recording in its file. Inner header.
 *
 *   ┌ header, 68 bytes ┬ metadata ┬ events, constants, events, constants, …
 *   └ size, places     │          │  each checkpoint of constants points back at the one before
 *
 * Each flush appends behind what the header speaks of and then writes the header anew, so that the file
 * is a whole, finished recording after each of them: a reader needs no repair when the process is killed,
 * but for a kill in the microseconds between the two writes. A flush that fails (disk full) is
 * taken back: the file stays as it was after the one before.
 */
#ifndef JSTROBE_WRITERS_JFR_JFR_CHUNK_H
#define JSTROBE_WRITERS_JFR_JFR_CHUNK_H

#include "common/base/buffer.h"
#include "common/base/error.h"

#define JFR_TICK 10000 /* ns in a tick of ours: a finer one costs each event a byte */

struct jfr_chunk {
	uint64_t start;           /* its place in the file */
	uint64_t tick;            /* ns */
	uint64_t size;            /* bytes of it in the file, 0 = nothing yet */
	uint64_t checkpoint;      /* place of the last one in the chunk, 0 = none */
	uint64_t metadata;        /* place in the chunk */
	uint64_t began;           /* ns, os_monotonic */
	uint64_t start_ticks;
	uint64_t start_nanos;     /* since 1970 */
	struct buffer head;       /* metadata, until it is written */
};

/* How the types of a chunk are told. */
enum jfr_dialect {
	JFR_DIALECT_APART = 1,    /* numbered apart from a JVM's: jfr_types.h */
	JFR_DIALECT_NO_SPANS = 2, /* wall-clock samples without timeSpan */
};

/*
 * Begin a chunk at START in the file; in memory until the first flush. REAL and NOW: ns; TICK: ns of one;
 * DIALECT: of enum jfr_dialect.
 */
void jfr_chunk_begin(struct jfr_chunk *c, uint64_t start, uint64_t real, uint64_t now, uint64_t ticks, uint64_t tick,
		     unsigned dialect);
/*
 * Write EVENTS (whole ones) and CONSTANTS (COUNT pools' bytes, 0 = none) to FD and empty them. LAST: nothing
 * more will come into this chunk. 0, or what the system said; then nothing was emptied. -EFBIG: the file would
 * have more than LIMIT bytes (0 = any).
 */
int jfr_chunk_flush(struct jfr_chunk *c, int fd, struct buffer *events, struct buffer *constants,
		    unsigned count, uint64_t now, bool last,
		    uint64_t limit);
void jfr_chunk_free(struct jfr_chunk *c);

/* Append the metadata event (jfr_metadata.c). */
void jfr_put_metadata(struct buffer *out, uint64_t ticks, unsigned dialect);

#endif
