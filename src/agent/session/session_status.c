/*
 * session_status.c - what a session says of itself while it runs, and after.
 */
#include "agent/session/session.h"

#include <stdio.h>
#include <string.h>

#include "agent/collect/collector.h"
#include "agent/session/recorder.h"
#include "agent/session/session_state.h"
#include "agent/session/streams.h"
#include "agent/sinks/ring/ring.h"
#include "agent/threads/records.h"
#include "agent/tracing/tracing.h"
#include "common/os/os.h"

#define SHORT (200 * NS_PER_MS)

/* "perf,wall-marker". Lock held. */
static void put_engines(char *text, size_t size)
{
	uint32_t e;
	size_t n = 0;

	text[0] = '\0';
	for (e = 0; e < session.event_count && n < size; e++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", e ? "," : "", session.events[e].engine);
}

/* Lock held. */
static void read_events(struct session_status *s)
{
	uint32_t e;

	s->event_count = session.tracing ? 0 : session.event_count;
	for (e = 0; e < s->event_count; e++) {
		const struct session_event *from = &session.events[e];
		const struct engine_event *event = &from->event;
		struct session_armed *to = &s->events[e];

		snprintf(to->event, sizeof(to->event), "%s", event->name);
		snprintf(to->engine, sizeof(to->engine), "%s", from->engine);
		to->of = weight_kind_names[event->weight].of;
		to->interval = event->interval;
		to->perf = from->counts.perf;
		to->timer = from->counts.timer;
		to->refused = from->counts.refused;
		s->threads_perf = MAX(s->threads_perf, to->perf);
		s->threads_timer = MAX(s->threads_timer, to->timer);
		s->threads_refused = MAX(s->threads_refused, to->refused);
	}
}

/* Lock held. */
static void read_status(struct session_status *s)
{
	struct collector_totals totals;
	struct stream_totals streamed;
	const struct session_event *first = &session.events[0];

	memset(s, 0, sizeof(*s));
	s->running = session.running || session.goes_on;
	s->has_data = (session.collector || session.tracing) && !s->running;
	snprintf(s->event, sizeof(s->event), "%s", session.options.event);
	s->interval = first->event.interval;
	s->running_for = session.duration;
	s->ending_for = session.silent_since ? os_monotonic() - session.silent_since : 0;
	s->cpu_time = session.cpu_time;
	s->own_cpu = session.own_cpu;
	if (session_samples() && !session.tracing) {
		s->cpu_time += os_process_cpu() - session.cpu_at_start;
		s->own_cpu += records_own_cpu() - session.own_at_start;
	}
	if (session_samples()) {
		if (!session.tracing)
			session_note_counts(false);
		s->running_for += os_monotonic() - session.resumed_at;
	}
	read_events(s);
	put_engines(s->engine, sizeof(s->engine));
	s->threads = first->counts.threads;
	trace_work_progress(&s->trace);
	if (session.tracing) {
		strcpy(s->event, "calls");
		strcpy(s->engine, "probes");
		s->interval = 0;
		s->taken = s->stored = trace_calls();
	} else if (session.collector) {
		collector_totals(session.collector, &totals);
		s->taken = totals.taken;
		s->stored = totals.stored;
		s->lost = totals.lost;
		s->outside = totals.outside;
		s->open = totals.open;
		s->queue_bytes = totals.queue_bytes;
	}
	recorder_status(&s->recording, &s->unwritten);
	s->streams = streams_count(&streamed);
	s->streamed = streamed.samples;
	s->dropped = streamed.dropped;
	if (session.ring && ring_since(session.ring)) {
		s->last = os_monotonic() - ring_since(session.ring);
		s->ring_bytes = ring_bytes(session.ring);
	}
}

bool session_get_status(struct session_status *s)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
	static struct session_status last;
	uint64_t until = os_monotonic() + SHORT;
	bool fresh;

	/* another status takes no time; a start or a stop can take any */
	while (!(fresh = pthread_mutex_trylock(&session.lock) == 0) && os_monotonic() < until)
		os_sleep(NS_PER_MS);
	if (fresh) {
		read_status(s);
		pthread_mutex_unlock(&session.lock);
	}
	pthread_mutex_lock(&lock);
	if (fresh)
		last = *s;
	else
		*s = last;
	pthread_mutex_unlock(&lock);
	return fresh;
}
