/*
 * session_result.c - what a session has gathered, as profiles, recordings and status lines.
 */
#include "agent/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/derive.h"
#include "agent/jvm.h"
#include "agent/recorder.h"
#include "agent/session_state.h"
#include "agent/streams.h"
#include "agent/trace.h"
#include "agent/window.h"
#include "collect/collector.h"
#include "collect/ring.h"
#include "engine/engine.h"
#include "format/format.h"
#include "os/os.h"

#define SHORT (200 * NS_PER_MS)

static void gather_facts(uint32_t e, struct collector_facts *f)
{
	const struct session_event *event = &session.events[e];

	memset(f, 0, sizeof(*f));
	f->duration = session.duration;
	f->cpu_time = session.cpu_time;
	f->own_cpu = session.own_cpu;
	f->children_cpu = session.children_cpu;
	if (session_samples()) {
		f->duration += os_monotonic() - session.resumed_at;
		f->cpu_time += os_process_cpu() - session.cpu_at_start;
		f->own_cpu += records_own_cpu() - session.own_at_start;
		f->children_cpu += os_children_cpu() - session.children_at_start;
	}
	f->event = event->event.name;
	f->engine = event->engine;
	f->in_events = !event->event.time;
	f->wall = event->event.turns == TURNS_WALL || event->event.waits;
	f->main_class = jvm_main_class();
	f->jdk = jvm_version();
	f->title = session.options.title[0] ? session.options.title : NULL;
	f->started_at = session.started_at;
	f->interval = event->event.interval;
	f->counted = event->event.time ? 0 : event->counted + event->counts.counted;
	f->partial = session.options.filter[0] || session.options.alluser ||
		     session.options.target_cpu != OPTIONS_ANY_CPU;
	f->threads_perf = event->counts.perf;
	f->threads_timer = event->counts.timer;
	f->threads_refused = event->counts.refused;
	f->raised = event->counts.raised;
	f->stretched = event->counts.stretched;
	agent_window_facts(&session.options, &session.windows, session_samples(), &f->window);
}

/* The event that O wants to see: its number, session.event_count for all of them, or a negative errno. */
static int shown_event(const struct options *o, struct error *err)
{
	const char *name = o->show[0] ? o->show : NULL;
	uint32_t e;

	if (strcmp(o->event, session.options.event) != 0)
		name = o->event;
	if (!name)
		return session.event_count == 1 ? 0 : (int)session.event_count;
	for (e = 0; e < session.event_count; e++)
		if (strcmp(name, session.events[e].event.name) == 0)
			return (int)e;
	return error_set(err, ENOENT, "the samples are of %s, not of %s", session.options.event, name);
}

/* Views of events FROM up to, not including, TO. */
static int take_views(const struct options *o, uint32_t from, uint32_t to, struct profile **views,
		      struct error *err)
{
	struct collector_facts facts;
	uint32_t e;

	if (session_samples()) {
		jvm_name_threads();
		session_note_counts(false);
	}
	for (e = from; e < to; e++) {
		gather_facts(e, &facts);
		views[e - from] = session.ring ? ring_view(session.ring, session.account, e, &facts)
					       : collector_view(session.account, e, &facts);
		if (!views[e - from])
			return error_set(err, ENOMEM, "out of memory for the result");
		if (o->title[0])
			views[e - from]->title = o->title;
	}
	return 0;
}

static int take_result(const struct options *o, struct profile **views, uint32_t *count, struct error *err)
{
	int rc = -ENOENT;

	*count = 0;
	pthread_mutex_lock(&session.lock);
	if (!session.account)
		error_set(err, ENOENT, "there are no samples: profiling has not been started in this process");
	else
		rc = shown_event(o, err);
	if (rc >= 0) {
		bool all = (uint32_t)rc == session.event_count;

		*count = all ? session.event_count : 1;
		rc = take_views(o, all ? 0 : (uint32_t)rc, all ? session.event_count : (uint32_t)rc + 1,
				views, err);
	}
	pthread_mutex_unlock(&session.lock);
	return rc;
}

static int copy_recording(const struct options *o, struct buffer *out, struct error *err)
{
	int rc;

	pthread_mutex_lock(&session.lock);
	if (strcmp(o->include, session.options.include) != 0 || strcmp(o->exclude, session.options.exclude) != 0)
		rc = error_set(err, EINVAL, "include, exclude: what a recording holds is chosen when it begins; "
			       "`jstrobe convert` takes a part of it");
	else
		rc = recorder_copy(out, err);
	pthread_mutex_unlock(&session.lock);
	return rc;
}

int session_write_window(const struct options *o, int fd, struct error *err)
{
	struct engine_event *events = calloc(RECORD_EVENTS, sizeof(*events));
	struct recording *r = NULL;
	int file = fcntl(fd, F_DUPFD_CLOEXEC, 0), rc = 0;
	uint32_t e;

	pthread_mutex_lock(&session.lock);
	if (!events || file < 0)
		rc = error_set(err, events ? errno : ENOMEM, "no memory or descriptor for the recording");
	else if (!session.ring)
		rc = error_set(err, ENOENT, "no flight recorder (--last) runs in this process");
	for (e = 0; rc == 0 && e < session.event_count; e++)
		events[e] = session.events[e].event;
	if (rc == 0)
		r = recorder_open(o, events, session.event_count, false, ring_since(session.ring), file, err);
	else if (file >= 0)
		close(file);
	if (r)
		rc = recording_write_ring(r, session.account, session.ring, err);
	else if (rc == 0)
		rc = -err->code;
	recording_free(r);
	pthread_mutex_unlock(&session.lock);
	free(events);
	return rc;
}

int session_complete_recording(struct error *err)
{
	int rc;

	pthread_mutex_lock(&session.lock);
	rc = recorder_complete(err);
	pthread_mutex_unlock(&session.lock);
	return rc;
}

void session_close_recording(void)
{
	pthread_mutex_lock(&session.lock);
	if (!session.running)
		recorder_close();
	pthread_mutex_unlock(&session.lock);
}

/* True if the session counts calls: then *RC tells whether its result is in OUT. */
static bool dump_trace(const struct options *o, struct buffer *out, int *rc, struct error *err)
{
	bool tracing;

	pthread_mutex_lock(&session.lock);
	tracing = session.tracing;
	if (tracing)
		*rc = trace_dump(o, out, err);
	pthread_mutex_unlock(&session.lock);
	return tracing;
}

int session_dump(const struct options *o, struct buffer *out, struct error *err)
{
	const struct format *format = format_by_name(o->format[0] ? o->format : "text");
	struct format_options how = derive_format(o);
	struct profile *views[RECORD_EVENTS] = {NULL};
	uint32_t count, i;
	int rc;

	if (!format)
		return error_set(err, EINVAL, "unknown output format: %s", o->format);
	if (dump_trace(o, out, &rc, err))
		return rc;
	if (strcmp(format->name, "jfr") == 0)
		return copy_recording(o, out, err);
	rc = take_result(o, views, &count, err);
	if (rc == 0)
		format_write(format, (const struct profile *const *)views, count, &how, out);
	for (i = 0; i < count; i++)
		collector_view_free(views[i]);
	if (rc == 0 && out->failed)
		return error_set(err, out->failed, "cannot write the result: %s", error_text(out->failed));
	return rc;
}

static uint64_t recorded_samples(void)
{
	uint64_t samples;

	pthread_mutex_lock(&session.lock);
	samples = recorder_samples();
	pthread_mutex_unlock(&session.lock);
	return samples;
}

uint64_t session_left(const struct options *o)
{
	struct format_options how = derive_format(o);
	struct profile *views[RECORD_EVENTS] = {NULL};
	uint64_t left = UINT64_MAX;
	struct error ignored;
	uint32_t count, i;

	if ((!o->include[0] && !o->exclude[0]) || o->instrument[0])
		return UINT64_MAX;
	/* a recording was filtered sample by sample */
	if (strcmp(o->format, "jfr") == 0 && !o->last)
		return recorded_samples();
	if (take_result(o, views, &count, &ignored) == 0)
		left = format_left((const struct profile *const *)views, count, &how);
	for (i = 0; i < count; i++)
		collector_view_free(views[i]);
	return left;
}

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
static void read_status(struct session_status *s)
{
	struct collector_totals totals;
	struct stream_totals streamed;
	const struct session_event *first = &session.events[0];

	memset(s, 0, sizeof(*s));
	s->running = session.running || session.goes_on;
	s->has_data = (session.account || session.tracing) && !s->running;
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
	put_engines(s->engine, sizeof(s->engine));
	s->threads = first->counts.threads;
	s->threads_perf = first->counts.perf;
	s->threads_timer = first->counts.timer;
	s->threads_refused = first->counts.refused;
	trace_work_progress(&s->trace);
	if (session.tracing) {
		strcpy(s->event, "calls");
		strcpy(s->engine, "probes");
		s->interval = 0;
		s->taken = s->stored = trace_calls();
	} else if (session.account) {
		collector_totals(session.account, &totals);
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
