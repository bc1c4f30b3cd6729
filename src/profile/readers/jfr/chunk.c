#include "profile/readers/jfr/chunk.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/wide.h"

#define CHAIN_SHORT 1024 /* checkpoints; the JDK writes one each second */

static const uint8_t magic[6] = {'F', 'L', 'R', 0, 0, 2};

/* "FLR\0" and major version 1 or 2. */
static bool is_magic(const struct input *in, uint64_t at)
{
	const uint8_t *p = in->bytes + at;

	return at <= in->size && in->size - at >= CHUNK_HEADER && memcmp(p, magic, 5) == 0 &&
	       (p[5] == 1 || p[5] == 2);
}

bool chunk_is_recording(const struct input *in)
{
	return in->size >= 4 && memcmp(in->bytes, magic, 4) == 0;
}

/* The first magic from FROM on, but before END; END: there is none. */
static uint64_t magic_between(const struct input *in, uint64_t from, uint64_t end)
{
	while (from < end) {
		const uint8_t *p = memmem(in->bytes + from, end - from, magic, 5);

		if (!p)
			break;
		from = (uint64_t)(p - in->bytes);
		if (is_magic(in, from))
			return from;
		from++;
	}
	return end;
}

/* The first magic at or behind FROM, or the file's size. Holes, which may have terabytes, are passed over. */
static uint64_t find_magic(const struct input *in, uint64_t from)
{
	uint64_t end, found;

	for (from = input_data(in, from); from < in->size; from = input_data(in, end)) {
		end = MAX(input_data_end(in, from), from + 1); /* also where who writes it makes a hole there */
		found = magic_between(in, from, end);
		if (found < end)
			return found;
	}
	return in->size;
}

static uint64_t header(const struct chunk *c, unsigned offset)
{
	uint64_t value;

	memcpy(&value, c->in->bytes + c->start + offset, sizeof(value));
	return be64toh(value);
}

bool chunk_event_slowly(const struct chunk *c, uint64_t at, struct chunk_event *e)
{
	const uint8_t *first = c->in->bytes + at;
	struct reader r = read_between(first, c->in->bytes + c->end, c->wide);

	if (at >= c->end)
		return false;
	e->at = at;
	e->size = read_int(&r);
	e->type = read_long(&r);
	e->body = r.c.at;
	return !r.c.failed && e->size >= (uint64_t)(r.c.at - first) && e->size <= c->end - at;
}

static int keep_constants(struct chunk *c, uint64_t at)
{
	uint64_t *place = VECTOR_PUSH(&c->constants);

	if (!place)
		return -ENOMEM;
	*place = at;
	return 0;
}

/*
 * Whether events lead from the chunk's begin to the one at AT. A long chain of checkpoints is followed only
 * then: each of thousands of headers in a row may lead to the same one, in vain, but the next is not looked for
 * before the events end.
 */
static bool events_reach(const struct chunk *c, uint64_t at)
{
	uint64_t place = c->start + CHUNK_HEADER;
	struct chunk_event e;

	while (place < at && !is_magic(c->in, place) && chunk_event(c, place, &e))
		place += e.size;
	return place == at;
}

/* Follow the checkpoints back from the one at AT. -EBADMSG: they do not hang together. */
static int follow(struct chunk *c, uint64_t at)
{
	uint64_t end = c->end, last = at;
	struct chunk_event e;
	struct reader r;
	int64_t delta;

	for (;; end = e.at) {
		if (!chunk_event(c, at, &e) || e.type != CHUNK_EVENT_CONSTANTS)
			return -EBADMSG;
		/* one that reaches into the next would have the same bytes read once for each of them */
		if (e.size > end - at)
			return -EBADMSG;
		if (c->constants.count == CHAIN_SHORT && !events_reach(c, last))
			return -EBADMSG;
		if (keep_constants(c, at))
			return -ENOMEM;
		r = chunk_reader(c, &e);
		read_long(&r); /* start */
		read_long(&r); /* duration */
		delta = (int64_t)read_long(&r);
		if (r.c.failed)
			return -EBADMSG;
		if (delta == 0)
			return 0;
		/* back only, or a ring of them would never end */
		if (delta > 0 || -(uint64_t)delta > at - c->start)
			return -EBADMSG;
		at -= -(uint64_t)delta;
	}
}

/* Whether the header says true things; the chunk is ready then. */
static int by_header(struct chunk *c)
{
	uint64_t size = header(c, 8), constants = header(c, 16), metadata = header(c, 24);
	const uint8_t *p = c->in->bytes + c->start;
	struct chunk_event e;

	if (p[64] != 0 || size < CHUNK_HEADER || size > c->in->size - c->start ||
	    constants < CHUNK_HEADER || constants >= size || metadata < CHUNK_HEADER ||
	    metadata >= size)
		return -EBADMSG;
	c->end = c->next = c->start + size;
	c->metadata = c->start + metadata;
	if (!chunk_event(c, c->metadata, &e) || e.type != CHUNK_EVENT_METADATA)
		return -EBADMSG;
	return follow(c, c->start + constants);
}

/* Event by event, up to the last whole one. */
static int by_events(struct chunk *c)
{
	uint64_t at = c->start + CHUNK_HEADER;
	struct chunk_event e;

	c->constants.count = 0;
	c->metadata = 0;
	c->end = c->in->size;
	for (; !is_magic(c->in, at) && chunk_event(c, at, &e); at += e.size) {
		if (e.type == CHUNK_EVENT_METADATA)
			c->metadata = at;
		if (e.type == CHUNK_EVENT_CONSTANTS && keep_constants(c, at))
			return -ENOMEM;
	}
	c->end = at;
	c->next = find_magic(c->in, at);
	c->cut = c->next > c->end;
	return 0;
}

int chunk_find(struct chunk *c, const struct input *in, uint64_t from)
{
	int rc;

	memset(c, 0, sizeof(*c));
	c->in = in;
	c->start = is_magic(in, from) ? from : find_magic(in, from);
	if (c->start >= in->size)
		return -ENOENT;
	c->start_ns = header(c, 32);
	c->duration_ns = header(c, 40);
	c->start_ticks = header(c, 48);
	c->ticks_per_second = header(c, 56);
	if (!c->ticks_per_second)
		c->ticks_per_second = NS_PER_S;
	c->wide = !(in->bytes[c->start + 67] & 1);
	rc = by_header(c);
	c->finished = rc == 0;
	return rc == -EBADMSG ? by_events(c) : rc;
}

void chunk_free(struct chunk *c)
{
	free(c->constants.items);
	c->constants.items = NULL;
	c->constants.count = c->constants.capacity = 0;
}

int64_t chunk_time(const struct chunk *c, uint64_t ticks)
{
	uint64_t rate = (int64_t)c->ticks_per_second > 0 ? c->ticks_per_second : 1;

	/* a damaged header may speak of any time */
	return MAX(0, wide_convert((int64_t)ticks, (int64_t)c->start_ticks, NS_PER_S, rate, (int64_t)c->start_ns));
}
