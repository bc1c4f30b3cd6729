/*
 * protobuf.h - fields of Protocol Buffers (protobuf.dev/programming-guides/encoding), appended to a buffer.
 *
 * A message inside another one is made in a buffer of its own first, since its length stands before it. Numbers and
 * texts that are 0 or "" are left out, which means the same.
 */
#ifndef JSTROBE_WRITERS_PROTOBUF_H
#define JSTROBE_WRITERS_PROTOBUF_H

#include <string.h>

#include "common/base/buffer.h"
#include "common/base/leb.h"

enum { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_LENGTH = 2 };

static inline void proto_varint(struct buffer *b, uint64_t value)
{
	uint8_t bytes[LEB_LONGEST];

	buffer_append(b, bytes, (size_t)(leb_put(bytes, value) - bytes));
}

static inline void proto_two(struct buffer *b, uint64_t first, uint64_t second)
{
	uint8_t bytes[2 * LEB_LONGEST];

	buffer_append(b, bytes, (size_t)(leb_put(leb_put(bytes, first), second) - bytes));
}

/* Also where it is 0: without it, it is not known. */
static inline void proto_known_number(struct buffer *b, unsigned field, uint64_t value)
{
	proto_two(b, field << 3 | PROTO_VARINT, value);
}

static inline void proto_number(struct buffer *b, unsigned field, uint64_t value)
{
	if (value)
		proto_known_number(b, field, value);
}

/* Without the field: an item of a list of such numbers. */
static inline void proto_put64(struct buffer *b, uint64_t value)
{
	unsigned i;

	for (i = 0; i < 8; i++, value >>= 8)
		buffer_putc(b, (char)value);
}

static inline void proto_fixed64(struct buffer *b, unsigned field, uint64_t value)
{
	proto_varint(b, field << 3 | PROTO_FIXED64);
	proto_put64(b, value);
}

/* Also where it is empty: it is an item of a list. */
static inline void proto_bytes(struct buffer *b, unsigned field, const void *bytes, size_t n)
{
	proto_two(b, field << 3 | PROTO_LENGTH, n);
	buffer_append(b, bytes, n);
}

/* MESSAGE, a whole one, which is empty again then. */
static inline void proto_message(struct buffer *b, unsigned field, struct buffer *message)
{
	proto_bytes(b, field, message->data, message->length);
	if (message->failed && !b->failed)
		b->failed = message->failed;
	message->length = 0;
}

#endif
