/*
 * protobuf_pull.h - fields of Protocol Buffers (protobuf.dev/programming-guides/encoding), one after the other, out of
 * bytes that may be anything. Inner header of the readers room.
 *
 *	struct proto m = proto_of(bytes, size);
 *	while (proto_next(&m))
 *		if (proto_is(&m, 1, PULL_VARINT)) … m.number
 *	if (m.bad) … the bytes at m.at are no field
 */
#ifndef JSTROBE_READERS_PROTOBUF_PULL_H
#define JSTROBE_READERS_PROTOBUF_PULL_H

#include "common/base/leb.h"

enum pull_type { PULL_VARINT = 0, PULL_FIXED64 = 1, PULL_LENGTH = 2, PULL_FIXED32 = 5 };

struct proto {
	const uint8_t *at, *end;
	bool bad;
	uint64_t field;
	unsigned type;
	uint64_t number;      /* of a varint or a fixed one; how many bytes a length has */
	const uint8_t *bytes; /* of a length */
};

static inline struct proto proto_of(const uint8_t *bytes, uint64_t size)
{
	return (struct proto){.at = bytes, .end = bytes + size};
}

/* The message that the present field of M is. */
static inline struct proto proto_inner(const struct proto *m)
{
	return proto_of(m->bytes, m->number);
}

static inline bool proto_is(const struct proto *m, uint64_t field, enum pull_type type)
{
	return m->field == field && m->type == (unsigned)type;
}

/* The next varint of M. False: there is none, or a bad one. */
static inline bool proto_pull(struct proto *m, uint64_t *value)
{
	if (leb_get(&m->at, m->end, value))
		return true;
	m->bad |= m->at < m->end;
	return false;
}

/* The next number of WIDTH bytes. False: there are fewer. */
static inline bool proto_pull_fixed(struct proto *m, unsigned width, uint64_t *value)
{
	unsigned i;

	*value = 0;
	if ((uint64_t)(m->end - m->at) < width) {
		m->bad |= m->at < m->end;
		return false;
	}
	for (i = 0; i < width; i++)
		*value |= (uint64_t)*m->at++ << 8 * i;
	return true;
}

/* The value of the present field of M, whose type is known. */
static inline bool proto_value(struct proto *m)
{
	switch (m->type) {
	case PULL_VARINT:
		return proto_pull(m, &m->number);
	case PULL_FIXED64:
		return proto_pull_fixed(m, 8, &m->number);
	case PULL_FIXED32:
		return proto_pull_fixed(m, 4, &m->number);
	case PULL_LENGTH:
		if (!proto_pull(m, &m->number) || m->number > (uint64_t)(m->end - m->at))
			return false;
		m->bytes = m->at;
		m->at += m->number;
		return true;
	default:
		return false;
	}
}

/* The next field of M. False: there is none, or what is there is none: then M is bad, and stays there. */
static inline bool proto_next(struct proto *m)
{
	const uint8_t *from = m->at;
	uint64_t tag;

	if (m->bad || m->at == m->end)
		return false;
	if (proto_pull(m, &tag) && tag >> 3) {
		m->field = tag >> 3;
		m->type = tag & 7;
		if (proto_value(m))
			return true;
	}
	m->bad = true;
	m->at = from;
	return false;
}

/* Whether M is nothing but numbers, in fields 1 to MOST, one at least: no text is that, and few messages are. */
static inline bool proto_has_numbers(struct proto m, uint64_t most)
{
	unsigned numbers = 0;

	while (proto_next(&m)) {
		if (m.type != PULL_VARINT || m.field > most)
			return false;
		numbers++;
	}
	return numbers && !m.bad;
}

/* As proto_next, but a length that leads behind the end has what is there: the last one of a file that is cut. */
static inline bool proto_next_cut(struct proto *m)
{
	struct proto again;
	uint64_t tag, length;

	if (proto_next(m))
		return true;
	again = *m;
	if (m->at == m->end || !proto_pull(&again, &tag) || !(tag >> 3) || (tag & 7) != PULL_LENGTH ||
	    !proto_pull(&again, &length) || length <= (uint64_t)(m->end - again.at))
		return false;
	m->field = tag >> 3;
	m->type = PULL_LENGTH;
	m->bytes = again.at;
	m->number = (uint64_t)(m->end - again.at);
	m->at = m->end;
	return true;
}

/* The number in field FIELD of the message MESSAGE, the last one there is; 0: none. */
static inline uint64_t proto_number_in(struct proto message, uint64_t field)
{
	uint64_t number = 0;

	while (proto_next(&message))
		if (message.field == field && message.type != PULL_LENGTH)
			number = message.number;
	return number;
}

/* The values of a repeated number: of a packed list, or of a field for each. */
struct proto_numbers {
	struct proto list;
	uint64_t one;
	enum pull_type type; /* of the items */
	bool is_list, given;
};

/* The numbers, of TYPE, that the present field of M has; of another type than it may be: none. */
static inline struct proto_numbers proto_numbers_of(const struct proto *m, enum pull_type type)
{
	struct proto_numbers n = {.type = type, .is_list = m->type == PULL_LENGTH, .one = m->number};

	if (n.is_list)
		n.list = proto_inner(m);
	n.given = !n.is_list && m->type != (unsigned)type;
	return n;
}

/* The next of them; false: there is none, or a bad one. */
static inline bool proto_numbers_next(struct proto_numbers *n, uint64_t *value)
{
	if (n->is_list)
		return n->type == PULL_VARINT ? proto_pull(&n->list, value) :
		       proto_pull_fixed(&n->list, n->type == PULL_FIXED64 ? 8 : 4, value);
	*value = n->one;
	if (n->given)
		return false;
	n->given = true;
	return true;
}

#endif
