#include "profile/writers/jfr/jfr_chunk.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "profile/writers/jfr/jfr_emit.h"
#include "profile/writers/jfr/jfr_types.h"

#define HEADER_BYTES 68
#define VERSION 0x00020001u /* 2.1 */
enum { COMPRESSED_INTS = 1, FINAL_CHUNK = 2 };

static uint64_t ticks_at(const struct jfr_chunk *c, uint64_t now)
{
	return c->start_ticks + (now > c->began ? (now - c->began) / c->tick : 0);
}

void jfr_chunk_begin(struct jfr_chunk *c, uint64_t start, uint64_t real, uint64_t now, uint64_t ticks, uint64_t tick,
		     unsigned dialect)
{
	buffer_free(&c->head);
	memset(c, 0, sizeof(*c));
	buffer_init(&c->head, -1);
	c->tick = tick;
	c->start = start;
	c->began = now;
	c->start_ticks = ticks;
	c->start_nanos = real;
	c->metadata = HEADER_BYTES;
	jfr_put_metadata(&c->head, ticks, dialect);
}

static void put_header(const struct jfr_chunk *c, struct buffer *out, uint64_t now, bool last)
{
	buffer_append(out, "FLR", 4);
	buffer_append(out, "\0\2\0\1", 4); /* version 2.1 */
	jfr_put_big64(out, c->size);
	jfr_put_big64(out, c->checkpoint);
	jfr_put_big64(out, c->metadata);
	jfr_put_big64(out, c->start_nanos);
	jfr_put_big64(out, now > c->began ? now - c->began : 0);
	jfr_put_big64(out, c->start_ticks);
	jfr_put_big64(out, NS_PER_S / c->tick);
	/* state 0: finished, whatever may still come */
	buffer_append(out, "\0\0\0", 3);
	buffer_putc(out, last ? COMPRESSED_INTS : COMPRESSED_INTS | FINAL_CHUNK);
}

static int write_at(int fd, const struct buffer *b, uint64_t at)
{
	size_t done = 0;

	while (done < b->length) {
		ssize_t n = pwrite(fd, b->data + done, b->length - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		done += (size_t)n;
	}
	return 0;
}

/* The constants as a checkpoint behind what OUT holds, which will stand at c->size. */
static void put_checkpoint(struct jfr_chunk *c, struct buffer *out, const struct buffer *constants,
			   unsigned count, uint64_t now)
{
	uint64_t at = c->size + out->length;
	size_t begin = jfr_begin(out);

	jfr_put_number(out, JFR_CHECKPOINT);
	jfr_put_number(out, ticks_at(c, now));
	jfr_put_number(out, 0);
	jfr_put_number(out, c->checkpoint ? c->checkpoint - at : 0);
	buffer_putc(out, 1); /* flushed on the way */
	jfr_put_number(out, count);
	buffer_append(out, constants->data, constants->length);
	jfr_end(out, begin);
	c->checkpoint = at;
}

int jfr_chunk_flush(struct jfr_chunk *c, int fd, struct buffer *events, struct buffer *constants,
		    unsigned count, uint64_t now, bool last,
		    uint64_t limit)
{
	struct buffer body = BUFFER_INIT, header = BUFFER_INIT;
	struct jfr_chunk before = *c;
	bool first = c->size == 0;
	int rc;

	if (first) {
		c->size = HEADER_BYTES;
		buffer_append(&body, c->head.data, c->head.length);
	}
	buffer_append(&body, events->data, events->length);
	if (count)
		put_checkpoint(c, &body, constants, count, now);
	rc = -(events->failed ? events->failed : constants->failed ? constants->failed :
	       c->head.failed ? c->head.failed : body.failed);
	if (rc == 0 && limit && c->start + c->size + body.length > limit)
		rc = -EFBIG;
	if (rc == 0)
		rc = write_at(fd, &body, c->start + c->size);
	c->size += body.length;
	put_header(c, &header, now, last);
	if (rc == 0 && header.failed)
		rc = -header.failed;
	if (rc == 0)
		rc = write_at(fd, &header, c->start);
	if (rc) {
		/* what was written of it goes again; should even that fail, the header does not speak of it */
		if (ftruncate(fd, (off_t)(before.start + before.size)))
			errno = -rc;
		*c = before;
	} else {
		buffer_free(&c->head);
		events->length = constants->length = 0;
	}
	buffer_free(&body);
	buffer_free(&header);
	return rc;
}

void jfr_chunk_free(struct jfr_chunk *c)
{
	buffer_free(&c->head);
}
