/*
 * io_fields.h - what a sample of the event `io` says besides, in the places that its row of events.def has.
 */
#ifndef JSTROBE_WORDS_IO_FIELDS_H
#define JSTROBE_WORDS_IO_FIELDS_H

#include "common/words/enum_names.h"

enum {
	IO_FIELD_TARGET,    /* number of a name */
	IO_FIELD_OPERATION, /* enum io_operation */
	IO_FIELD_KIND,      /* enum io_kind, and above it IO_FLAG_… and the peer's port */
	IO_FIELD_BYTES,     /* of the call */
	IO_FIELD_DURATION,  /* ns of the call, but for what samples before this one have told of */
	IO_FIELD_IDLE,      /* what the sample would weigh, had the call not waited until it was needed */
};

#define IO_FLAG_IDLE 1u /* it waited for a client */
#define IO_FLAG_END 2u  /* the file or the stream had ended */
#define IO_FLAG_OPEN 4u /* it goes on */

static inline uint64_t io_kind_word(enum io_kind kind, uint8_t flags, uint16_t port)
{
	return (uint64_t)kind | (uint64_t)flags << 8 | (uint64_t)port << 16;
}

/* Whether a sample of WEIGHT with VALUES stands for others like it, of which what it says is an estimate. */
static inline bool io_stands_for_others(uint64_t weight, const uint64_t *values)
{
	return weight + values[IO_FIELD_IDLE] != values[IO_FIELD_DURATION];
}

static inline enum io_kind io_kind_in(uint64_t word)
{
	return (enum io_kind)MIN(word & 0xff, (uint64_t)IO_KIND_OTHER);
}

static inline uint8_t io_flags_in(uint64_t word)
{
	return (uint8_t)(word >> 8);
}

static inline uint16_t io_port_in(uint64_t word)
{
	return (uint16_t)(word >> 16);
}

static inline enum io_operation io_operation_in(uint64_t word)
{
	return (enum io_operation)MIN(word, (uint64_t)IO_OPERATIONS - 1);
}

#endif
