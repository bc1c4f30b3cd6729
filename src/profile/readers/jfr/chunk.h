/*
 * chunk.h - where the chunks of a recording lie, and which of their events can be read.
 *
 *   0 "FLR\0"  4 major  6 minor  8 size  16 last checkpoint  24 metadata   (offsets in the chunk)
 *   32 start, ns since 1970  40 duration, ns  48 start, ticks  56 ticks a second
 *   64 state (0 = finished)  67 flags (1 = compressed integers)  68 events
 *
 * A finished chunk is read by its header. One that is still open, was cut off or has a header that
 * does not hold true (async-profiler writes a size of 1 GB until the chunk is finished) is walked
 * through event by event, up to the last whole one. Events have no marks to find them by, so that
 * behind a damaged event the next thing that can be found is the next chunk.
 */
#ifndef JSTROBE_READERS_JFR_CHUNK_H
#define JSTROBE_READERS_JFR_CHUNK_H

#include "common/base/vector.h"
#include "profile/readers/input/input.h"
#include "profile/readers/jfr/jfr_reader.h"

#define CHUNK_HEADER 68
#define CHUNK_EVENT_METADATA 0
#define CHUNK_EVENT_CONSTANTS 1

struct chunk {
	const struct input *in;
	uint64_t start;    /* in the file */
	uint64_t end;      /* of its last whole event */
	uint64_t next;     /* where to look for the next chunk */
	uint64_t metadata; /* its metadata event in the file; 0 = there is none */
	VECTOR(uint64_t) constants; /* its checkpoint events, in any order */
	uint64_t start_ns, duration_ns, start_ticks, ticks_per_second;
	bool wide;         /* integers are not compressed */
	bool finished;     /* the header holds true */
	bool cut;          /* bytes between `end` and `next` belong to no whole event */
};

/* An event's beginning. */
struct chunk_event {
	uint64_t at, size; /* in the file */
	uint64_t type;
	const uint8_t *body; /* what follows the type */
};

/* Whether FILE begins as a recording does. */
bool chunk_is_recording(const struct input *in);
/*
 * The first chunk at or behind FROM: C->start > FROM if bytes before it belong to none. 0, -ENOENT
 * (there is no other), -ENOMEM. Free in all cases.
 */
int chunk_find(struct chunk *c, const struct input *in, uint64_t from);
void chunk_free(struct chunk *c);
/* The event at AT; false if none that is whole begins there. */
bool chunk_event_slowly(const struct chunk *c, uint64_t at, struct chunk_event *e);
/* TICKS of the chunk's clock as ns since 1970. */
int64_t chunk_time(const struct chunk *c, uint64_t ticks);

/* The same: most events are short and of a type with a small number. */
static inline bool chunk_event(const struct chunk *c, uint64_t at, struct chunk_event *e)
{
	const uint8_t *p = c->in->bytes + at;
	bool two;

	if (unlikely(c->wide || c->end < at + 256))
		return chunk_event_slowly(c, at, e);
	two = p[1] & 0x80;
	if (unlikely((p[0] & 0x80) || p[0] < 4 || (two && (p[2] & 0x80))))
		return chunk_event_slowly(c, at, e);
	e->at = at;
	e->size = p[0];
	e->type = two ? (p[1] & 0x7fu) | (uint64_t)p[2] << 7 : p[1];
	e->body = p + 2 + two;
	return true;
}

/* A reader over event E behind its type. */
static inline struct reader chunk_reader(const struct chunk *c, const struct chunk_event *e)
{
	return read_between(e->body, c->in->bytes + e->at + e->size, c->wide);
}

#endif
