/*
 * stream.h - the sink that tells of each sample at once: the live stream (docs/reference/stream.md).
 *
 *   collector's thread ─ events ─▶ pending ─▶ thread "jstrobe stream": names, records ─▶ waiting bytes ─▶ reader
 *
 * No other thread talks to the reader, and that one never waits for it: what finds no room is dropped and
 * counted, by event. A stack or a name that a record needs stands before it, for each reader anew.
 */
#ifndef JSTROBE_SINKS_STREAM_STREAM_H
#define JSTROBE_SINKS_STREAM_STREAM_H

#include "agent/collect/collector.h"
#include "agent/sinks/stream/stream_out.h"
#include "agent/zone/thread_record.h"
#include "common/base/error.h"
#include "profile/writers/format.h"
#include "profile/writers/stream/stream_records.h"

struct stream;

struct stream_options {
	const struct stream_writer *writer;
	char main_class[256], jdk[128];
	uint64_t names_every;    /* ns between two times that all names are said; 0 = never */
	struct format_options filter; /* include and exclude, and how these spell frames */
	uint64_t cpu_at_start, own_at_start; /* of process and own threads, when the session began */
	struct {
		char name[256];
		uint64_t interval;
		enum weight_kind weight_kind;
	} events[RECORD_EVENTS];
};

/* A stream into OUT, which becomes its own also on failure. NULL with the reason. */
struct stream *stream_new(struct stream_out *out, const struct stream_options *o, struct error *err);
/* From here on samples of C go into it. */
int stream_begin(struct stream *s, struct collector *c, struct error *err);
/*
 * The end (best after collector_stop). What waits for the reader goes to stream_closing.c: no reader is waited for.
 * False: its thread is held, as by a debugger; this can be called again.
 */
bool stream_end(struct stream *s);
/* After stream_end, or instead of stream_begin. NULL: nothing. One that stream_end could not end stays. */
void stream_free(struct stream *s);

struct stream_totals {
	uint64_t records, samples, dropped; /* written; samples in them; stored ones that are in none */
	uint64_t bytes, waiting;
};
void stream_totals(struct stream *s, struct stream_totals *t);
/* The only reader it can have has left. */
bool stream_is_over(struct stream *s);

#endif
