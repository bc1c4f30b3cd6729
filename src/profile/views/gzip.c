/*
 * gzip.c - by zlib. Builds for CPUs that it is not there for have none: their files are gzip's all the same, of stored
 * blocks (RFC 1951, 3.2.4).
 */
#include "profile/views/gzip.h"

#include <errno.h>
#include <stdlib.h>

#ifdef JSTROBE_ZLIB
#include <zlib.h>
#endif

#define WORTH_PACKING (32u << 10) /* bytes */
#define PIECE (256u << 10)    /* bytes that are worth a call */
#define GZIP_WINDOW (15 + 16) /* zlib's words for the largest window, and the frame of gzip */
#define MOST_STORED 0xffffu   /* bytes of a block */
#define LEVEL 4 /* takes half the time of 6, and what pages hold is not larger for it (6.5 MB become 3.89 and 3.91) */

struct gzip {
	struct buffer *out;
	bool stored;
	uint32_t crc, size; /* of what was stored */
#ifdef JSTROBE_ZLIB
	z_stream stream;
	unsigned char packed[64 << 10];
#endif
};

static struct gzip *begin(struct buffer *out)
{
	struct gzip *z = calloc(1, sizeof(*z));

	if (z)
		z->out = out;
	else if (!out->failed)
		out->failed = ENOMEM;
	return z;
}

struct gzip *gzip_begin_stored(struct buffer *out)
{
	/* deflate, no time, unknown system */
	static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
	struct gzip *z = begin(out);

	if (!z)
		return NULL;
	z->stored = true;
	buffer_append(out, head, sizeof(head));
	return z;
}

struct gzip *gzip_begin(struct buffer *out)
{
#ifdef JSTROBE_ZLIB
	struct gzip *z = begin(out);

	if (!z || deflateInit2(&z->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8,
			       Z_DEFAULT_STRATEGY) == Z_OK)
		return z;
	free(z);
	if (!out->failed)
		out->failed = ENOMEM;
	return NULL;
#else
	return gzip_begin_stored(out);
#endif
}

static void put_little_endian(struct buffer *out, uint32_t value, unsigned bytes)
{
	for (; bytes > 0; bytes--, value >>= 8)
		buffer_putc(out, (char)value);
}

static uint32_t crc_of(uint32_t crc, const char *bytes, size_t n)
{
	unsigned bit;

	for (crc = ~crc; n > 0; n--) {
		crc ^= (unsigned char)*bytes++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static void store(struct gzip *z, const struct buffer *part, bool last)
{
	size_t at = 0, n;

	z->crc = crc_of(z->crc, part->data, part->length);
	z->size += (uint32_t)part->length;
	do {
		n = MIN(part->length - at, (size_t)MOST_STORED);
		buffer_putc(z->out, (char)(last && at + n == part->length));
		put_little_endian(z->out, (uint32_t)n, 2);
		put_little_endian(z->out, ~(uint32_t)n, 2);
		if (n)
			buffer_append(z->out, part->data + at, n);
		at += n;
	} while (at < part->length);
	if (last) {
		put_little_endian(z->out, z->crc, 4);
		put_little_endian(z->out, z->size, 4);
	}
}

#ifdef JSTROBE_ZLIB
static void compress_part(struct gzip *z, const struct buffer *part, bool last)
{
	int rc;

	z->stream.next_in = (unsigned char *)part->data;
	z->stream.avail_in = (unsigned)part->length;
	do {
		z->stream.next_out = z->packed;
		z->stream.avail_out = sizeof(z->packed);
		rc = deflate(&z->stream, last ? Z_FINISH : Z_NO_FLUSH);
		buffer_append(z->out, z->packed, sizeof(z->packed) - z->stream.avail_out);
	} while (rc == Z_OK && !z->stream.avail_out);
	if (rc == Z_STREAM_ERROR && !z->out->failed)
		z->out->failed = EIO;
}
#endif

void gzip_take(struct gzip *z, struct buffer *part, bool last)
{
	if (part->failed && !z->out->failed)
		z->out->failed = part->failed;
	if (part->length < PIECE && !last)
		return;
#ifdef JSTROBE_ZLIB
	if (!z->stored)
		compress_part(z, part, last);
#endif
	if (z->stored)
		store(z, part, last);
	part->length = 0;
}

bool gzip_pack(struct buffer *bytes, struct buffer *packed)
{
#ifdef JSTROBE_ZLIB
	struct gzip *z = bytes->length < WORTH_PACKING ? NULL : gzip_begin(packed);

	if (z)
		gzip_take(z, bytes, true);
	gzip_end(z);
	return z;
#else
	return false;
#endif
}

void gzip_end(struct gzip *z)
{
#ifdef JSTROBE_ZLIB
	if (z && !z->stored)
		deflateEnd(&z->stream);
#endif
	free(z);
}
