/*
 * session_metrics.c - the session's counters, for clients that poll them.
 */
#include <errno.h>
#include <string.h>

#include "agent/context/context_table.h"
#include "agent/jvm/jvm.h"
#include "agent/session/session.h"
#include "agent/session/session_state.h"
#include "profile/writers/metrics.h"

/* Lock held. The number of events. */
static uint32_t list_events(struct metrics_event *events)
{
	uint32_t e, count = session.collector && !session.tracing ? session.event_count : 0;
	struct collector_event_totals totals[RECORD_EVENTS];

	if (count)
		collector_event_totals(session.collector, totals);
	for (e = 0; e < count; e++) {
		const struct collector_event_totals *t = &totals[e];

		events[e] = (struct metrics_event){
			.name = session.events[e].event.name, .weight_kind = session.events[e].event.weight,
			.taken = t->taken, .stored = t->stored, .open = t->open, .value = t->value,
		};
		memcpy(events[e].lost, t->lost, sizeof(t->lost));
	}
	return count;
}

int session_metrics(struct buffer *out, struct error *err)
{
	struct metrics_event events[RECORD_EVENTS];
	struct metrics_held held[COLLECTOR_HELD];
	struct trace_contexts_counts contexts;
	struct session_status s;
	struct metrics m;

	trace_contexts_count(&contexts);
	if (!session_get_status(&s) || pthread_mutex_trylock(&session.lock))
		return error_set(err, EBUSY, "the profiler is at work on another command ('jstrobe status' tells "
				 "which); ask again in a moment");
	if (session.collector)
		collector_held(session.collector, held);
	m = (struct metrics){
		.version = JSTROBE_VERSION, .jdk = jvm_version(), .running = s.running, .running_for = s.running_for,
		.cpu_time = s.cpu_time, .own_cpu = s.own_cpu, .queue_bytes = s.queue_bytes,
		.ring_bytes = s.ring_bytes, .recording_bytes = s.recording, .threads = s.threads,
		.threads_perf = s.threads_perf, .threads_timer = s.threads_timer,
		.threads_refused = s.threads_refused, .streams = s.streams, .streamed = s.streamed,
		.dropped = s.dropped, .unwritten = s.unwritten, .events = events,
		.event_count = list_events(events),
		.held = held, .held_count = session.collector ? COLLECTOR_HELD : 0,
		.contexts_torn = contexts.torn, .contexts_evicted = contexts.evicted,
		.labels_refused = contexts.refused,
	};
	metrics_write(&m, out);
	pthread_mutex_unlock(&session.lock);
	return 0;
}
