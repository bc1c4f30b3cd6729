/*
 * stream_state.h - what the parts of a stream share. Inner header of the sinks room.
 */
#ifndef JSTROBE_SINKS_STREAM_STREAM_STATE_H
#define JSTROBE_SINKS_STREAM_STREAM_STATE_H

#include <pthread.h>

#include "agent/collect/sink.h"
#include "agent/sinks/sink_filter.h"
#include "agent/sinks/stream/stream.h"

/* An event on its way, with its wait if it is one. */
struct stream_item {
	struct sink_event event;
	struct sink_lock lock; /* event.lock leads there, or is NULL */
	struct sink_fields fields; /* the same */
};

/* The time that the record of ITEM has: of a wait, its begin. */
static inline uint64_t stream_time(const struct stream_item *item)
{
	return item->event.time - (item->event.lock ? item->lock.told : 0);
}

/* A thread's name or end on its way. */
struct stream_note {
	int32_t tid;
	uint64_t java_id;
	uint32_t name;
	bool ended;
	uint64_t time;
};

/* What was dropped since the reader was last told. */
struct stream_lost {
	uint64_t records, samples, value, since;
};

/* A stack by its node: the id it has here, and up to which round its reader knows it. */
struct stream_known {
	uint32_t id, round;
};

struct stream {
	struct sink sink;
	struct stream_options options;
	struct stream_out *out;
	struct collector *collector;
	int wake;              /* eventfd: events are pending, or it is the end */
	pthread_t thread;
	_Atomic pid_t tid;     /* of it; 0: it has not begun */
	bool running;
	atomic_bool stopping, over;

	/* with the collector's lock: `pending`, `notes`, `late`, `batch`, `held`, `stacks`. Its own: all else */
	VECTOR(struct stream_item) pending, batch, held; /* being told: batch; waiting for names of frames: held */
	VECTOR(struct stream_note) notes, batch_notes;
	struct stream_lost late[RECORD_EVENTS]; /* no room in `pending` */

	VECTOR(struct stream_known) stacks;     /* by node */
	uint32_t last_id, round;
	uint32_t reader;       /* the reader that has got records so far; 0 = none */
	uint64_t real_offset;
	uint64_t names_due, stats_due, flush_due, repeat_due, drops_due;
	uint64_t symbols_due;  /* when symbol tables are given back if they are not used, 0 = none are kept */
	struct stream_lost lost[RECORD_EVENTS + 1]; /* the last: names */
	uint64_t dropped[RECORD_EVENTS];            /* samples, since the begin */
	struct shown shown;    /* include and exclude */
	uint64_t left_out[RECORD_EVENTS];           /* samples, by them */
	struct buffer record;  /* what is put next */
	VECTOR(struct profile_frame) frames; /* room for a stack, and for its holder's */

	_Atomic uint64_t records, samples, dropped_all, bytes, waiting;
};

/* Records about the session, its threads and samples: put, or counted as dropped. Collector's lock held. */
void stream_tell_header(struct stream *s, uint64_t now);
void stream_tell_threads(struct stream *s, uint64_t now);
void stream_tell_note(struct stream *s, const struct stream_note *n);
void stream_tell_item(struct stream *s, const struct stream_item *item);
void stream_tell_stats(struct stream *s, uint64_t now);
/* What was dropped, as soon as there is room again. */
void stream_tell_drops(struct stream *s, uint64_t now);
/* E never went into the stream. */
void stream_lose(struct stream_lost *lost, const struct sink_event *e, uint64_t now);

#endif
