/*
 * repair.c - a recording anew, with every chunk finished, so that the JDK's tools can read it.
 *
 * Finished chunks are copied as they are. Of others the whole events are copied; the checkpoints get
 * new distances to one another (readers follow them from the last one back), and the header at last
 * says true things. The JDK refuses a whole file for a checkpoint that has no constants: such ones
 * are left out, and the empty pool inside one is not ours to mend.
 *
 *   checkpoint = size, 1, start, duration, distance to the one before, rest
 */
#include <errno.h>
#include <stdlib.h>

#include "profile/readers/input/progress.h"
#include "profile/readers/read_formats.h"

#define PADDED 5 /* bytes of a number that is filled in when it is known; 35 bits */

/* The header is written when all else is known, so the chunk is gathered in two rounds. */
struct repaired {
	uint64_t size, constants, metadata; /* in the new chunk; 0 = none */
	int64_t last; /* ns since 1970 */
};

static size_t varint(uint8_t out[9], uint64_t value)
{
	size_t n = 0;

	while (n < 8 && value > 0x7f) {
		out[n++] = 0x80 | (uint8_t)(value & 0x7f);
		value >>= 7;
	}
	out[n++] = (uint8_t)value;
	return n;
}

/* VALUE in PADDED bytes, whatever it needs. */
static void padded(uint8_t out[PADDED], uint64_t value)
{
	unsigned i;

	for (i = 0; i < PADDED - 1; i++, value >>= 7)
		out[i] = 0x80 | (uint8_t)(value & 0x7f);
	out[i] = (uint8_t)(value & 0x7f);
}

static void big_endian(uint8_t *out, uint64_t value, unsigned size)
{
	for (; size; value >>= 8)
		out[--size] = (uint8_t)value;
}

/* A whole number of the chunk, a long or an int. */
static size_t number(const struct chunk *c, uint8_t out[9], uint64_t value, unsigned wide_size)
{
	if (!c->wide)
		return varint(out, value);
	big_endian(out, value, wide_size);
	return wide_size;
}

static void put(struct buffer *out, struct repaired *to, const void *bytes, uint64_t n)
{
	if (out)
		buffer_append(out, bytes, n);
	to->size += n;
}

/* A checkpoint with its new distance. OUT NULL: measure only. */
static void put_constants(const struct chunk *c, const struct chunk_event *e, struct buffer *out,
			  struct repaired *to)
{
	struct reader r = chunk_reader(c, e);
	uint64_t start = read_long(&r), duration = read_long(&r), at = to->size;
	uint8_t head[64], size[9];
	size_t n = 0, size_bytes = c->wide ? 4 : PADDED;

	read_long(&r); /* the old distance */
	if (r.c.failed || read_left(&r) < 2)
		return;
	n += number(c, head + n, CHUNK_EVENT_CONSTANTS, 8);
	n += number(c, head + n, start, 8);
	n += number(c, head + n, duration, 8);
	n += number(c, head + n, to->constants ? (uint64_t)-(int64_t)(at - to->constants) : 0, 8);
	if (c->wide)
		big_endian(size, size_bytes + n + read_left(&r), 4);
	else
		padded(size, size_bytes + n + read_left(&r));
	put(out, to, size, size_bytes);
	put(out, to, head, n);
	put(out, to, r.c.at, read_left(&r));
	to->constants = at;
}

/* Whether a checkpoint has any constants. */
static bool has_constants(const struct chunk *c, const struct chunk_event *e)
{
	struct reader r = chunk_reader(c, e);

	read_long(&r);
	read_long(&r);
	read_long(&r);
	read_u8(&r);
	return read_int(&r) > 0 && !r.c.failed;
}

static void put_events(const struct chunk *c, struct buffer *out, struct repaired *to)
{
	uint64_t at = c->start + CHUNK_HEADER;
	struct chunk_event e;

	to->size = CHUNK_HEADER;
	to->constants = to->metadata = 0;
	to->last = (int64_t)c->start_ns;
	for (; chunk_event(c, at, &e); at += e.size) {
		struct reader r = chunk_reader(c, &e);
		int64_t time = chunk_time(c, read_long(&r));

		if (e.type == CHUNK_EVENT_CONSTANTS) {
			if (has_constants(c, &e))
				put_constants(c, &e, out, to);
			continue;
		}
		/* all but the last metadata are superseded */
		if (e.type == CHUNK_EVENT_METADATA && at != c->metadata)
			continue;
		if (e.type == CHUNK_EVENT_METADATA)
			to->metadata = to->size;
		else if (!r.c.failed)
			to->last = MAX(to->last, time);
		put(out, to, c->in->bytes + at, e.size);
	}
}

/* False: the JDK could not read it at all; it wants a description of the types, and constants. */
static bool put_chunk(const struct chunk *c, struct buffer *out)
{
	struct repaired measured;
	uint8_t head[CHUNK_HEADER];

	put_events(c, NULL, &measured);
	if (!measured.metadata || !measured.constants)
		return false;
	memcpy(head, c->in->bytes + c->start, sizeof(head));
	big_endian(head + 8, measured.size, 8);
	big_endian(head + 16, measured.constants, 8);
	big_endian(head + 24, measured.metadata, 8);
	big_endian(head + 40, (uint64_t)measured.last - c->start_ns, 8);
	head[64] = 0;
	buffer_append(out, head, sizeof(head));
	put_events(c, out, &measured);
	return true;
}

int recording_repair(const struct input *in, struct buffer *out, struct recording_info *info)
{
	uint64_t at = 0;
	struct chunk c = {.in = in};
	int rc = 0;

	while ((!at || progress_goes_on(at, in->size)) && (rc = chunk_find(&c, in, at)) == 0) {
		bool good = true;

		info->lost_bytes += c.start - at + (c.next - c.end);
		if (c.finished)
			buffer_append(out, in->bytes + c.start, c.end - c.start);
		else
			good = put_chunk(&c, out);
		info->chunks += good;
		info->lost_chunks += !good;
		info->open_chunks += good && !c.finished;
		at = c.next;
		input_forget(in, c.start, at);
		chunk_free(&c);
	}
	chunk_free(&c);
	if (rc == -ENOENT)
		info->lost_bytes += in->size - at;
	return rc && rc != -ENOENT ? rc : info->chunks ? 0 : -EBADMSG;
}
