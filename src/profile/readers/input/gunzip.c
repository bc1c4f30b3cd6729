/*
 * gunzip.c - by zlib, all members of the file behind each other, as gzip reads them.
 */
#include "profile/readers/input/gunzip.h"

#include <errno.h>

#include "profile/readers/input/unpacked.h"

#ifdef JSTROBE_ZLIB
#include <zlib.h>
#endif

#define GZIP_WINDOW (15 + 16) /* zlib's words for the largest window, and the frame of gzip */

bool gunzip_is(const struct input *in)
{
	return in->size > 2 && in->bytes[0] == 0x1f && in->bytes[1] == 0x8b && in->bytes[2] == 8;
}

#ifdef JSTROBE_ZLIB

/* Unpack all of IN, member by member. */
static int unpack_all(z_stream *z, const struct input *in, struct unpacked *to, bool *cut, struct error *err)
{
	static unsigned char piece[256 << 10];
	uint64_t given = 0;
	bool whole = false; /* a member was */
	int rc = Z_OK, put;

	while (rc == Z_OK || (rc == Z_STREAM_END && inflateReset(z) == Z_OK)) {
		size_t left = MIN(in->size - given, (uint64_t)1 << 20);

		if (!left)
			break;
		z->next_in = (unsigned char *)(uintptr_t)(in->bytes + given);
		z->avail_in = (unsigned)left;
		z->next_out = piece;
		z->avail_out = sizeof(piece);
		rc = inflate(z, Z_NO_FLUSH);
		whole |= rc == Z_STREAM_END;
		given += left - z->avail_in;
		put = unpacked_put(to, piece, sizeof(piece) - z->avail_out, err);
		if (put)
			return put;
		if (rc == Z_BUF_ERROR && given < in->size)
			rc = Z_OK;
	}
	/* what follows the last member is no part of the file, as gzip has it */
	*cut = rc != Z_STREAM_END && !(rc == Z_DATA_ERROR && whole && !z->total_out);
	return 0;
}

int gunzip(const struct input *in, bool *cut, struct error *err)
{
	z_stream z = {.next_in = NULL};
	struct unpacked to;
	int rc;

	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return error_set(err, ENOMEM, "%s: out of memory", in->name);
	rc = unpacked_begin(&to, in->name, in->packed ? in->packed : in->size, err);
	if (rc == 0)
		rc = unpack_all(&z, in, &to, cut, err);
	inflateEnd(&z);
	return unpacked_end(&to, rc, err);
}

#else

int gunzip(const struct input *in, bool *cut, struct error *err)
{
	return error_set(err, ENOTSUP, "%s: this jstrobe was built without zlib; gunzip it first", in->name);
}

#endif
