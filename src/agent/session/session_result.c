/*
 * session_result.c - what a session has gathered, as profiles and recordings.
 */
#include "agent/session/session.h"
#include "agent/threads/java_threads.h"
#include "agent/threads/records.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/collect/collector.h"
#include "agent/jvm/jvm.h"
#include "agent/session/own_times.h"
#include "agent/session/recorder.h"
#include "agent/session/session_roots.h"
#include "agent/session/session_state.h"
#include "agent/session/session_window.h"
#include "agent/session/source_options.h"
#include "agent/session/streams.h"
#include "agent/sinks/ring/ring.h"
#include "agent/sources/engine.h"
#include "agent/sources/engine_clocks.h"
#include "agent/threads/wanted.h"
#include "agent/tracing/tracing.h"
#include "common/os/os.h"
#include "profile/writers/format.h"

#define ROOTS_PAUSE NS_PER_S

static void gather_counts(uint32_t e, struct collector_counts *f)
{
	const struct session_event *event = &session.events[e];

	memset(f, 0, sizeof(*f));
	f->duration = session.duration;
	f->cpu_time = session.cpu_time;
	f->own_cpu = session.own_cpu;
	f->children_cpu = session.children_cpu;
	if (session_samples()) {
		const struct source_clocks now = engine_clocks();

		f->clocks = (struct collector_clocks){now.time, now.cpu, now.own, os_children_cpu(),
						      event->counts.counted};
		f->duration += f->clocks.time - session.resumed_at;
		f->cpu_time += f->clocks.cpu - session.cpu_at_start;
		f->own_cpu += f->clocks.own - session.own_at_start;
		f->children_cpu += f->clocks.children - session.children_at_start;
	}
	f->gap = session.gap;
	f->event = event->event.name;
	f->engine = event->engine;
	f->weight_kind = event->event.weight;
	f->main_class = jvm_main_class();
	f->jdk = jvm_version();
	f->title = session.options.title[0] ? session.options.title : NULL;
	f->started_at = session.started_at;
	f->interval = event->event.interval;
	f->counted = weight_is_time(event->event.weight) ? 0 : event->counted + event->counts.counted;
	f->partial = source_options_partial(&session.options);
	f->filter_none = wanted_none();
	f->threads_perf = event->counts.perf;
	f->threads_timer = event->counts.timer;
	f->threads_refused = event->counts.refused;
	f->raised = event->counts.raised;
	f->stretched = event->counts.stretched;
	agent_window_counts(&session.options, &session.windows, session_samples(), &f->window);
}

/* What is known now of each event. Lock held. */
static void gather_all(struct collector_counts *event_counts)
{
	uint32_t e;

	if (session_samples()) {
		java_threads_name();
		session_note_counts(false);
	}
	for (e = 0; e < session.event_count; e++)
		gather_counts(e, &event_counts[e]);
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

/* What is there of what was sampled, before a result. Lock held. */
static void look(const struct options *o)
{
	if (session_samples())
		engine_look(o->collect_first || session.options.collect_first);
}

/* Views of events FROM up to, not including, TO. */
static int take_views(const struct options *o, const struct collector_counts *event_counts, uint32_t from, uint32_t to,
		      struct profile **views, struct error *err)
{
	const struct collector_cut cut = {from, to - from, &event_counts[from],
					  o->times || own_times_wanted(o)};
	bool ok;
	uint32_t e;

	ok = session.ring ? ring_views(session.ring, session.collector, &cut, views)
			       : collector_views(session.collector, &cut, views);
	if (!ok)
		return error_set(err, ENOMEM, "out of memory for the result");
	for (e = from; e < to; e++) {
		if (o->title[0])
			views[e - from]->title = o->title;
		session_roots_attach(views[e - from]);
	}
	return 0;
}

/* Those that O wants to see: *COUNT of them, the first of event *FROM. Lock held. */
static int take_wanted(const struct options *o, const struct collector_counts *event_counts, struct profile **views,
		       uint32_t *from, uint32_t *count, struct error *err)
{
	int event;

	*count = 0;
	if (!session.collector)
		return error_set(err, ENOENT, "there are no samples: profiling has not been started in this process");
	event = shown_event(o, err);
	if (event < 0)
		return event;
	*from = (uint32_t)event % session.event_count;
	*count = (uint32_t)event == session.event_count ? session.event_count : 1;
	return take_views(o, event_counts, *from, *from + *count, views, err);
}

static void free_views(struct profile **views, uint32_t count)
{
	while (count-- > 0) {
		if (views[count])
			session_roots_detach(views[count]);
		collector_view_free(views[count]);
	}
}

/* P's counts are those that a recording holds, which may be older; FACTS were gathered before it was complete. */
static void count_as_recorded(struct profile *p, uint32_t e, const struct collector_counts *event_counts,
			      const struct recording_books *b)
{
	const struct session_sums *unrecorded = &session.unrecorded;
	struct collector_counts then = *event_counts;
	unsigned i;

	if (p->survivors) /* they are recorded as it ends, as they are in the profile */
		return;
	if (b->clocks.time) {
		collector_advance(&then, &b->clocks);
		p->duration = then.duration;
		p->cpu_time = then.cpu_time;
		p->own_cpu = then.own_cpu;
		p->children_cpu = then.children_cpu;
		p->counted = then.counted;
	}
	if (!session.ring) {
		p->duration -= unrecorded->duration;
		p->cpu_time -= unrecorded->cpu;
		p->own_cpu -= unrecorded->own;
		p->children_cpu -= unrecorded->children;
		p->counted -= p->counted ? unrecorded->counted[e] : 0;
	}
	if (b->window_cpu) {
		p->cpu_time = b->window_cpu;
		p->own_cpu = b->window_own;
	}

	p->unfreed = false; /* a recording has all blocks */
	p->peak_after = 0;
	p->gone = 0;
	p->stored = p->taken = b->stored;
	p->weight_stored = b->weight;
	p->complete = b->complete;
	p->effective_interval = b->stored ? b->weight / b->stored : 0;
	p->ambiguous = b->ambiguous;
	memcpy(p->lost, b->lost, sizeof(p->lost));
	memcpy(p->lost_weight, b->lost_weight, sizeof(p->lost_weight));
	for (i = 0; i < LOSS_REASONS; i++)
		p->taken += b->lost[i];
	p->left_out = b->left_out.samples;
	p->left_out_weight = b->left_out.weight;
	p->unsampled = format_unsampled(p);
}

/* What is to be said beside a recording as BOOKS say, with FACTS from before. Lock held. */
static void tell_recorded(const struct options *o, const struct collector_counts *event_counts,
			  const struct recording_books *books, struct format_told *told)
{
	struct profile *views[RECORD_EVENTS] = {NULL};
	uint32_t from = 0, count = 0, e;
	struct error ignored;

	if (!told)
		return;
	if (take_wanted(o, event_counts, views, &from, &count, &ignored) == 0) {
		for (e = 0; e < count; e++)
			count_as_recorded(views[e], from + e, &event_counts[from + e], &books[from + e]);
		format_tell((const struct profile *const *)views, count, told);
		told->filtered = o->include[0] || o->exclude[0];
	}
	free_views(views, count);
}

/* The session's events as a recording wants them; NULL: no memory. Lock held. */
static struct engine_event *recorded_events(struct error *err)
{
	struct engine_event *events = calloc(RECORD_EVENTS, sizeof(*events));
	uint32_t e;

	if (!events)
		error_set(err, ENOMEM, "out of memory for the recording");
	for (e = 0; events && e < session.event_count; e++)
		events[e] = session.events[e].event;
	return events;
}

/* Whether samples of EVENT count while their objects are there. */
static bool is_of_survivors(const char *event)
{
	const struct event_fields fields = event_fields_of(event);

	return event_field_of_kind(&fields, EVENT_FIELD_ID) < fields.count;
}

/*
 * Objects that are there, which a recording has at its end only, behind the copy of one in OUT with keys up to KEY.
 * Lock held.
 */
static int copy_survivors(struct buffer *out, uint32_t key, struct error *err)
{
	struct engine_event *events;
	uint32_t e = 0;
	int rc;

	while (e < session.event_count && !is_of_survivors(session.events[e].event.name))
		e++;
	if (e == session.event_count || !session_samples())
		return 0;
	events = recorded_events(err);
	if (!events)
		return -ENOMEM;
	rc = recorder_copy_survivors(&session.options, events, session.event_count, session.collector, key, out, err);
	free(events);
	return rc;
}

/* What holds what grows, as of now, if O asks for it; for results from here on. Lock held. */
static void find_roots(const struct options *o)
{
	uint32_t most = o->roots ? o->roots : session.options.roots, e = 0;
	uint64_t pause = o->roots_pause ? o->roots_pause : session.options.roots_pause;
	struct collector_counts event_counts[RECORD_EVENTS];
	struct profile *p;

	while (e < session.event_count && !is_of_survivors(session.events[e].event.name))
		e++;
	if (!most || e == session.event_count || !session_samples())
		return;
	gather_all(event_counts);
	p = collector_view(session.collector, e, &event_counts[e]);
	if (p)
		session_roots_find(p, most, pause ? pause : ROOTS_PAUSE);
	collector_view_free(p);
}

void session_find_roots(const struct options *o)
{
	pthread_mutex_lock(&session.lock);
	/* a recording does not tell it, so the program is not made to wait */
	if (strcmp(o->format, "jfr") != 0 && (o->format[0] || !recorder_runs())) {
		if (session_samples() && (o->roots || session.options.roots))
			engine_look(false);
		find_roots(o);
	}
	pthread_mutex_unlock(&session.lock);
}

int session_calls_recording(uint32_t *key, int *fd, struct error *err)
{
	int rc;

	*key = recorder_last_key();
	*fd = memfd_create("jstrobe calls", MFD_CLOEXEC);
	if (*fd < 0)
		return error_set(err, errno, "no descriptor for the traced calls: %s", error_text(errno));
	rc = trace_record(key, *fd, err);
	if (rc == 0)
		return 0;
	close(*fd);
	*fd = -1;
	return rc;
}

/* The calls so far, behind the copy of a recording in OUT that runs; *KEY is the last one in there. Lock held. */
static int copy_calls(struct buffer *out, uint32_t *key, struct error *err)
{
	int fd, rc;

	*key = 0;
	if (!session.options.traced[0] || !recorder_runs())
		return 0;
	rc = session_calls_recording(key, &fd, err);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	buffer_append_file(out, fd);
	close(fd);
	return 0;
}

/* Append the recording, complete, to OUT (NULL: its file is the result). Lock held. */
static int complete_and_tell(const struct options *o, struct buffer *out, struct format_told *told, struct error *err)
{
	struct collector_counts event_counts[RECORD_EVENTS];
	struct recording_books books[RECORD_EVENTS];
	uint32_t key;
	int rc;

	look(o);
	gather_all(event_counts);
	rc = out ? recorder_copy(out, books, err) : recorder_complete(books, err);
	if (rc == 0 && out)
		rc = copy_calls(out, &key, err);
	if (rc == 0 && out)
		rc = copy_survivors(out, key, err);
	if (rc == 0)
		tell_recorded(o, event_counts, books, told);
	if (rc == 0 && told && session.options.traced[0])
		trace_tell(told);
	return rc;
}

/* The recording as O wants it: into OUT, or (NULL) as its own file. Lock held. */
static int whole_recording(const struct options *o, struct buffer *out, struct format_told *told, struct error *err)
{
	if (strcmp(o->include, session.options.include) != 0 || strcmp(o->exclude, session.options.exclude) != 0)
		return error_set(err, EINVAL, "include, exclude: what a recording holds is chosen when it begins; "
				 "`jstrobe convert` takes a part of it");
	return complete_and_tell(o, out, told, err);
}

static int copy_recording(const struct options *o, struct buffer *out, struct format_told *told, struct error *err)
{
	int rc;

	pthread_mutex_lock(&session.lock);
	rc = whole_recording(o, out, told, err);
	pthread_mutex_unlock(&session.lock);
	return rc;
}

bool session_is_in_file(const struct options *o, const struct stat *file, struct format_told *told, int *rc,
			struct error *err)
{
	bool wanted = strcmp(o->format, "jfr") == 0, is;

	pthread_mutex_lock(&session.lock);
	is = recorder_is_in(file) && (wanted ? !recorder_is_closed() || !session.running : recorder_runs());
	if (is)
		*rc = !wanted ? error_set(err, EINVAL, "the session's recording is written there; choose another name")
			      : recorder_is_closed() ? 0 : whole_recording(o, NULL, told, err);
	pthread_mutex_unlock(&session.lock);
	return is;
}

/* The last samples as a recording into FILE, which becomes its own. Lock held. */
static int write_window(const struct options *o, int file, struct format_told *told, struct error *err)
{
	struct engine_event *events = recorded_events(err);
	struct collector_counts event_counts[RECORD_EVENTS];
	struct recording_books books[RECORD_EVENTS];
	struct recording *r;
	int rc;

	if (!events) {
		close(file);
		return -ENOMEM;
	}
	r = recorder_open_window(o, events, session.event_count, session.resumed_at, ring_since(session.ring), file,
				 err);
	free(events);
	if (!r)
		return -err->code;
	look(o);
	gather_all(event_counts);
	rc = recording_write_ring(r, session.collector, session.ring, books, err);
	recording_free(r);
	if (rc == 0)
		tell_recorded(o, event_counts, books, told);
	return rc;
}

int session_write_window(const struct options *o, int fd, struct format_told *told, struct error *err)
{
	int file, rc;

	pthread_mutex_lock(&session.lock);
	file = session.ring ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (!session.ring)
		rc = error_set(err, ENOENT, "no flight recorder (--last) runs in this process");
	else if (file < 0)
		rc = error_set(err, errno, "no descriptor for the recording");
	else
		rc = write_window(o, file, told, err);
	pthread_mutex_unlock(&session.lock);
	return rc;
}

int session_complete_recording(const struct options *o, struct format_told *told, struct error *err)
{
	int rc;

	pthread_mutex_lock(&session.lock);
	rc = complete_and_tell(o, NULL, told, err);
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
static bool dump_trace(const struct format *f, const struct options *o, struct buffer *out, struct format_told *told,
		       int *rc, struct error *err)
{
	bool tracing;

	pthread_mutex_lock(&session.lock);
	tracing = session.tracing;
	if (tracing)
		*rc = trace_dump(f, o, out, told, err);
	pthread_mutex_unlock(&session.lock);
	return tracing;
}

int session_dump(const struct options *o, struct buffer *out, struct format_told *told, struct error *err)
{
	const struct format *format = format_by_name(o->format[0] ? o->format : "text");
	struct format_options how = source_options_format(o);
	struct collector_counts event_counts[RECORD_EVENTS];
	struct profile *views[RECORD_EVENTS] = {NULL};
	struct own_times times = {.count = 0};
	uint32_t from, count;
	int rc;

	if (!format)
		return error_set(err, EINVAL, "unknown output format: %s", o->format);
	if (dump_trace(format, o, out, told, &rc, err))
		return rc;
	if (strcmp(format->name, "jfr") == 0)
		return copy_recording(o, out, told, err);
	pthread_mutex_lock(&session.lock);
	look(o);
	find_roots(o);
	gather_all(event_counts);
	rc = take_wanted(o, event_counts, views, &from, &count, err);
	pthread_mutex_unlock(&session.lock);
	if (rc == 0 && own_times_wanted(o))
		own_times_unfold(&times, views, count);
	if (rc == 0)
		format_write(format, (const struct profile *const *)views, count, &how, out, told);
	free_views(views, count);
	own_times_free(&times);
	if (rc == 0 && out->failed)
		return error_set(err, out->failed, "cannot write the result: %s", error_text(out->failed));
	return rc;
}
