/*
 * unlz4.c - by liblz4, all frames of the file behind each other.
 */
#include "profile/readers/input/unlz4.h"

#include <errno.h>
#include <string.h>

#include "profile/readers/input/unpacked.h"

#ifdef JSTROBE_LZ4
#include <lz4frame.h>
#endif

bool unlz4_is(const struct input *in)
{
	/* or a frame to be skipped: 50 to 5f, and the same three bytes in another order */
	return in->size > 4 && (memcmp(in->bytes, "\x04\x22\x4d\x18", 4) == 0 ||
				((in->bytes[0] & 0xf0) == 0x50 && memcmp(in->bytes + 1, "\x2a\x4d\x18", 3) == 0));
}

#ifdef JSTROBE_LZ4

/* Unpack all of IN, frame by frame. */
static int unpack_all(LZ4F_dctx *context, const struct input *in, struct unpacked *to, bool *cut, struct error *err)
{
	static unsigned char piece[256 << 10];
	uint64_t given = 0;
	size_t wanted = 1, taken, made;
	bool between = false; /* a frame has just ended */
	int rc = 0;

	while (rc == 0 && !LZ4F_isError(wanted) && (given < in->size || wanted)) {
		taken = (size_t)MIN(in->size - given, (uint64_t)1 << 20);
		made = sizeof(piece);
		between = wanted == 0;
		wanted = LZ4F_decompress(context, piece, &made, in->bytes + given, &taken, NULL);
		if (LZ4F_isError(wanted))
			break;
		given += taken;
		rc = unpacked_put(to, piece, made, err);
		if (given == in->size && !made)
			break;
	}
	/* what follows the last frame is no part of the file */
	*cut = LZ4F_isError(wanted) ? !between : wanted != 0;
	return rc;
}

int unlz4(const struct input *in, bool *cut, struct error *err)
{
	LZ4F_dctx *context = NULL;
	struct unpacked to;
	int rc;

	if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
		return error_set(err, ENOMEM, "%s: out of memory", in->name);
	rc = unpacked_begin(&to, in->name, in->packed ? in->packed : in->size, err);
	if (rc == 0)
		rc = unpack_all(context, in, &to, cut, err);
	LZ4F_freeDecompressionContext(context);
	return unpacked_end(&to, rc, err);
}

#else

int unlz4(const struct input *in, bool *cut, struct error *err)
{
	return error_set(err, ENOTSUP, "%s: this jstrobe was built without liblz4; run 'unlz4' on it first", in->name);
}

#endif
