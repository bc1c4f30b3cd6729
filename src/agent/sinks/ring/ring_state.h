/*
 * ring_state.h - what the parts of the flight recorder share. Inner header of the sinks room.
 */
#ifndef JSTROBE_SINKS_RING_RING_STATE_H
#define JSTROBE_SINKS_RING_RING_STATE_H

#include <stdatomic.h>

#include "agent/sinks/ring/ring.h"

#define RING_BLOCK_BYTES (64u * 1024)
#define RING_EVENT_BYTES 240 /* at most: 24 numbers of at most 10 bytes */

struct ring_block {
	struct ring_block *next;
	uint64_t first, last;  /* times of its oldest and its newest sample */
	uint64_t base;         /* the time its first sample is relative to */
	uint32_t used, count;
	uint8_t bytes[RING_BLOCK_BYTES];
};

/* The books at one moment: what lies between two of them is known. */
struct ring_position {
	uint64_t time, cpu, own, children;
	struct loss_totals lost[RECORD_EVENTS];
};

struct ring {
	struct sink sink;
	uint64_t last, limit;
	VECTOR(struct ring_position) marks; /* the oldest is older than the window, if there is one */
	uint64_t mark_every;
	struct ring_block *oldest, *newest, *spare;
	size_t blocks;
	uint64_t previous;     /* time of the sample put last */
	uint64_t ended;        /* os_monotonic, 0 = it goes on */
	uint64_t lost;         /* no memory for a block */
	_Atomic uint64_t told_since; /* ring_since and ring_bytes; the rest is under the collector's lock */
	_Atomic size_t told_bytes;
};

/* Append E to B, which has room for RING_EVENT_BYTES; BEFORE is the time of the sample put last. */
void ring_pack(struct ring_block *b, const struct sink_event *e, uint64_t before);
/* Where to put what an event points to. */
struct ring_more {
	struct sink_lock lock;
	struct sink_fields fields;
};
/* The sample at *AT, which goes on to the next one. */
void ring_unpack(const struct ring_block *b, uint32_t *at, uint64_t before, struct sink_event *e,
		 struct ring_more *more);
/* The last mark before the window is its true begin; NULL: there is no mark. */
const struct ring_position *ring_position_of_window(const struct ring *r);
/* The mark of the window's end; of one that goes on C's books as they stand, in *NOW. Collector's lock held. */
const struct ring_position *ring_position_of_end(const struct ring *r, struct collector *c, struct ring_position *now);

#endif
