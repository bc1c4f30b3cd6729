/*
 * emit.h - writing class files: numbers with their high byte first, into a buffer.
 * A failed allocation sticks in the buffer (common/base/buffer.h).
 */
#ifndef JSTROBE_BYTECODE_EMIT_H
#define JSTROBE_BYTECODE_EMIT_H

#include "common/base/buffer.h"

static inline void emit_u1(struct buffer *b, unsigned value)
{
	uint8_t byte = (uint8_t)value;

	if (likely(b->length < b->capacity && !b->failed))
		b->data[b->length++] = (char)byte;
	else
		buffer_append(b, &byte, 1);
}

static inline void emit_u2(struct buffer *b, unsigned value)
{
	uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};

	buffer_append(b, bytes, sizeof(bytes));
}

static inline void emit_u4(struct buffer *b, uint32_t value)
{
	uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};

	buffer_append(b, bytes, sizeof(bytes));
}

/* Write over what was emitted at OFFSET. */
static inline void emit_u2_at(struct buffer *b, size_t offset, unsigned value)
{
	if (b->failed)
		return;
	b->data[offset] = (char)(value >> 8);
	b->data[offset + 1] = (char)value;
}

static inline void emit_u4_at(struct buffer *b, size_t offset, uint32_t value)
{
	emit_u2_at(b, offset, value >> 16);
	emit_u2_at(b, offset + 2, value & 0xffff);
}

#endif
