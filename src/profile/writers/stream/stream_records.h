/*
 * stream_records.h - the records of a live stream, in two spellings: NDJSON (docs/reference/stream.md) and Kindling's.
 *
 * A record is told by a struct whose texts live for the call only; a writer appends its bytes to a buffer, complete
 * with their line end. Times are CLOCK_MONOTONIC in ns, taken at the event itself; the header says what to add for
 * real time. Pure functions, any thread in normal code; a failure stays in the buffer.
 */
#ifndef JSTROBE_WRITERS_STREAM_STREAM_RECORDS_H
#define JSTROBE_WRITERS_STREAM_STREAM_RECORDS_H

#include "common/base/buffer.h"
#include "common/words/enum_names.h"
#include "profile/model/profile.h"

#define STREAM_SCHEMA 1

/* An event that the session samples, as header and stats tell of it. */
struct stream_event {
	const char *name, *engine;
	uint64_t interval;
	enum weight_kind weight_kind; /* of values */
	uint64_t open;           /* taken, and neither stored nor lost yet: of runs that go on */
	uint64_t taken, stored, value; /* samples so far; value of the stored ones */
	uint64_t lost[LOSS_REASONS];
	uint64_t dropped;        /* stored samples that this stream did not deliver */
	uint64_t left_out;       /* and those that include and exclude leave out */
};

/* What a reader must know before anything else. */
struct stream_header {
	uint64_t time;
	uint64_t real_offset;    /* time + this = ns since 1970 */
	int pid;
	unsigned cpus;
	const char *main_class, *jdk;
	const struct stream_event *events;
	uint32_t event_count;
};

struct stream_thread {
	uint64_t time;           /* since when it has the name, or when it ended */
	int32_t tid;             /* 0: a virtual thread */
	uint64_t java_id;        /* Thread.getId, 0 = none */
	const char *name;
	bool ended;
};

/* Frames leaf first. A definition: it stands before the first record that needs it. */
struct stream_stack {
	uint64_t time;
	uint64_t id;             /* within this stream, from 1 */
	const struct profile_frame *frames;
	uint32_t depth;
	bool complete;           /* the walk reached the root */
	bool lasting;            /* as in struct format_options */
};

struct stream_lock {
	enum lock_kind kind;
	const char *class_name;  /* with slashes; "" = not known */
	uint64_t identity;       /* 0 = none */
	uint64_t duration;       /* ns, from its begin on */
	bool open;               /* it has not ended */
	int32_t owner_tid;       /* 0 = none, or not known */
	uint64_t owner_java_id;
	const char *owner;       /* its name, "" = not known */
	const struct stream_stack *owner_stack; /* NULL = not taken */
};

/* What samples of an event say besides, as its row of events.def has it. */
struct stream_fields {
	struct event_fields list;
	const uint64_t *values;  /* in its order */
	const char *class_name;  /* with slashes; "" = not known */
};

/* Equal samples of one thread in a row are one record. */
struct stream_sample {
	uint64_t time;           /* of the first of them */
	uint64_t span;           /* ns from the first to the last */
	uint64_t samples;
	uint64_t value;          /* of all of them */
	const char *event;
	struct stream_thread thread;   /* its name at that time */
	enum thread_state state;
	const struct stream_stack *stack;
	const struct stream_lock *lock; /* NULL: it is no wait */
	const struct stream_fields *fields; /* NULL: it has none */
	const struct profile_trace_context *trace_context; /* what the thread worked for; NULL = not known */
};

/* What the reader was too slow for, between `since` and `time`. */
struct stream_drop {
	uint64_t time, since;
	const char *event;       /* NULL: names of threads, which are said again */
	uint64_t records;
	uint64_t samples, value;
};

/* The books; so far. */
struct stream_stats {
	uint64_t time;
	uint64_t cpu_time, own_cpu; /* of the process and of jstrobe's threads in it, since the session began */
	uint64_t queue_bytes;    /* of all threads' queues */
	uint64_t waiting;        /* bytes that wait for the reader */
	uint32_t threads;        /* known ones */
	const struct stream_event *events;
	uint32_t event_count;
};

/* A spelling. What has no place in it is NULL. REAL_OFFSET as in the header. */
struct stream_writer {
	const char *name;        /* word of -o */
	bool stacks_apart;       /* samples name their stacks by id, so that each is defined once */
	void (*header)(struct buffer *out, const struct stream_header *h);
	void (*thread)(struct buffer *out, const struct stream_thread *t);
	void (*stack)(struct buffer *out, const struct stream_stack *s);
	void (*sample)(struct buffer *out, const struct stream_sample *s, uint64_t real_offset);
	void (*drop)(struct buffer *out, const struct stream_drop *d);
	void (*stats)(struct buffer *out, const struct stream_stats *s);
};

extern const struct stream_writer stream_ndjson, stream_kindling;
/* The writer called NAME ("" = ndjson), or NULL. */
const struct stream_writer *stream_writer_by_name(const char *name);
/*
 * The record that begins at BYTES[0..N): its length with its end, 0 when it is not whole. Both spellings end a
 * record with a line break and have none inside.
 */
size_t stream_record_length(const char *bytes, size_t n);

#endif
