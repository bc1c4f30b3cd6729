/*
 * annotations.c - annotations in class files (JVMS 4.7.16 to 4.7.20).
 */
#include "common/bytecode/classfile.h"

#define NESTED_MAX 32 /* annotations and arrays within each other */

static void skip_value(struct cursor *at, unsigned depth);

static void skip_pairs(struct cursor *at, unsigned depth)
{
	unsigned count = cursor_be16(at);

	while (count-- > 0 && !at->failed) {
		cursor_skip(at, 2);
		skip_value(at, depth);
	}
}

static void skip_value(struct cursor *at, unsigned depth)
{
	unsigned count;

	if (depth == 0)
		cursor_fail(at);
	switch (cursor_u8(at)) {
	case 'e': /* type and name of the constant */
		cursor_skip(at, 4);
		break;
	case '@':
		cursor_skip(at, 2);
		skip_pairs(at, depth - 1);
		break;
	case '[':
		count = cursor_be16(at);
		while (count-- > 0 && !at->failed)
			skip_value(at, depth - 1);
		break;
	default: /* a constant, a text or a class */
		cursor_skip(at, 2);
	}
}

bool annotation_next(const struct class_file *c, struct cursor *at, struct text *type)
{
	bool named = classfile_text(c, cursor_be16(at), type);

	skip_pairs(at, NESTED_MAX);
	return named && !at->failed;
}
