/*
 * metrics.h - the profiler's own counters as Prometheus reads them (text exposition format 0.0.4).
 */
#ifndef JSTROBE_WRITERS_METRICS_H
#define JSTROBE_WRITERS_METRICS_H

#include "common/base/buffer.h"
#include "common/words/enum_names.h"
#include "common/words/events.h"

/* The counts of one event of the session that runs, or of the last one. */
struct metrics_event {
	const char *name;
	enum weight_kind weight_kind; /* of `value` */
	uint64_t taken, stored, open, value; /* open: of runs that go on */
	uint64_t lost[LOSS_REASONS];
};

/* What a structure of the session takes. */
struct metrics_held {
	const char *name;
	uint64_t bytes;
};

struct metrics {
	const char *version, *jdk;
	bool running;
	uint64_t running_for; /* ns */
	uint64_t cpu_time, own_cpu; /* ns of the process, and of jstrobe's threads in it, while it ran */
	uint64_t queue_bytes, ring_bytes, recording_bytes;
	uint64_t threads, threads_perf, threads_timer, threads_refused;
	uint64_t streams, streamed, dropped, unwritten;
	/* since the JVM began, see agent/context/context_table.h */
	uint64_t contexts_torn, contexts_evicted, labels_refused;
	const struct metrics_held *held;
	uint32_t held_count;
	const struct metrics_event *events;
	uint32_t event_count;
};

/* Append M. Pure, any thread; a failure stays in OUT. */
void metrics_write(const struct metrics *m, struct buffer *out);

#endif
