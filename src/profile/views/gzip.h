/*
 * gzip.h - what is appended to a buffer, as a file of gzip (RFC 1952). Normal code, one thread.
 */
#ifndef JSTROBE_VIEWS_GZIP_H
#define JSTROBE_VIEWS_GZIP_H

#include "common/base/buffer.h"

struct gzip;

/* A file that goes to OUT, which must live as long. NULL: no memory, and OUT has failed. */
struct gzip *gzip_begin(struct buffer *out);
/* The same without compression: larger, and all that a build without zlib can do. */
struct gzip *gzip_begin_stored(struct buffer *out);
/* Take what PART holds, which is empty then; little stays there until more has gathered, or it is the LAST. */
void gzip_take(struct gzip *z, struct buffer *part, bool last);
/*
 * BYTES, which are empty then, as a file of gzip appended to PACKED. False, with nothing done: there are few, or this
 * build has no zlib.
 */
bool gzip_pack(struct buffer *bytes, struct buffer *packed);
/* Free Z; NULL is allowed. The file is whole if the last part was taken and OUT has not failed. */
void gzip_end(struct gzip *z);

#endif
