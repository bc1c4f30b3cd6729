/*
 * session.c - the life of a session: what is set up in which order, and undone in the
 * reverse one. `struct session` is the one process-wide state of normal code.
 */
#include "agent/session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/derive.h"
#include "agent/fallback.h"
#include "agent/jvm.h"
#include "agent/recorder.h"
#include "agent/window.h"
#include "collect/collector.h"
#include "engine/engine.h"
#include "format/format.h"
#include "os/os.h"

#define DEFAULT_DEPTH 2048

static struct session {
	pthread_mutex_t lock;       /* everything below */
	bool running;
	bool has_options;
	struct options options;     /* of the running or last session */
	struct collector *account;  /* its samples; NULL before the first */
	uint64_t started_at;        /* real time, ns */
	uint64_t resumed_at;        /* monotonic: start of the present run */
	uint64_t duration;          /* of earlier runs, ns */
	uint64_t cpu_at_start;      /* process CPU clock at the present run's start */
	uint64_t cpu_time;          /* of earlier runs */
	uint64_t own_at_start, own_cpu; /* the same of jstrobe's own threads */
	bool held;                  /* the last run's memory is kept: a handler was held inside */
	uint32_t event_count;       /* of the running or last session */
	struct session_event {
		struct engine_event event;
		struct engine_counts counts; /* as it stopped */
		uint64_t counted;            /* by the kernel, in earlier runs */
		char engine[32];
	} events[RECORD_EVENTS];
	struct engine_window windows; /* of runs that have ended */
} session = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- start ---- */

static int read_layout(struct error *err)
{
	int rc;

	if (zone.has_jvm || fallback_taken())
		return 0;
	rc = layout_read(&zone.layout, err);
	zone.has_jvm = rc == 0;
	return rc && fallback_take(&zone.layout) ? 0 : rc;
}

/* Threads of the option `filter`; changes only while no engine is in force. */
static char wanted[sizeof(((struct options *)0)->filter)];

static bool is_wanted(pid_t tid)
{
	return options_thread_listed(wanted, (uint32_t)tid);
}

static void prepare_zone(const struct options *o)
{
	strcpy(wanted, o->filter);
	zone.depth = o->depth ? o->depth : DEFAULT_DEPTH;
	zone.stats = o->stats;
	zone.record_cpu = o->record_cpu;
	atomic_store(&zone.vm_exiting, false);
}

/* Everything from the records up to the first signal; undone on failure. EVENTS has room for more than COUNT. */
static int arm(const struct options *o, struct engine_event *events, uint32_t count,
	       struct collector *account, struct recording *recording, struct buffer *notes,
	       struct error *err)
{
	struct error ignored;
	struct engine_options e = {
		.wanted = o->filter[0] ? is_wanted : NULL,
		.user_only = o->alluser,
		.only_cpu = o->target_cpu + 1, /* OPTIONS_ANY_CPU + 1 = 0 */
		.window_watched = o->nostop,
		.signal = (int)o->signal,
		.events = events,
		.queue_start = derive_queue(o, events, count),
		.one_by_one = o->nobatch,
		.wall_mode = o->wall_mode,
		.fail = o->engine_fail,
	};
	int rc = agent_window_add(o, events, count, err);

	if (rc < 0)
		return rc;
	e.count = (uint32_t)rc;
	jvm_generated_code();
	rc = records_open(err);
	if (rc == 0)
		rc = faults_install(err);
	if (rc)
		return rc;
	rc = collector_start(account, err);
	if (rc)
		goto no_collector;
	session.cpu_at_start = os_process_cpu();
	session.own_at_start = records_own_cpu();
	session.resumed_at = os_monotonic();
	if (recording)
		rc = recording_begin(recording, account, err);
	if (rc == 0)
		rc = engine_start(&e, notes, err);
	if (rc)
		goto no_engine;
	jvm_session_begin(account);
	engine_threads_known();
	jvm_debug_non_safepoints(true);
	return 0;

no_engine:
	collector_stop(account);
	if (recording)
		recording_end(recording, &ignored);
	collector_release(account);
no_collector:
	faults_remove();
	return rc;
}

/* What the last run had to leave behind goes now. */
static int settle(struct error *err)
{
	if (!session.held)
		return 0;
	if (!engine_settle())
		return error_set(err, EBUSY, "a thread of this process is still held inside the profiler, by a "
				 "debugger or by lack of CPU time; let it run, then try again");
	collector_release(session.account);
	faults_remove();
	session.held = false;
	return 0;
}

static int begin(const struct options *o, struct engine_event *events, uint32_t count,
		 struct collector *account, struct recording *recording, struct buffer *notes,
		 struct error *err)
{
	int rc = settle(err);
	uint32_t e;

	if (rc == 0 && o->filter[0] && events[0].ops == &engine_itimer)
		rc = error_set(err, EINVAL, "filter: itimer samples whichever thread runs; use -e cpu or "
			       "-e ctimer");
	if (rc)
		return rc;
	prepare_zone(o);
	rc = arm(o, events, count, account, recording, notes, err);
	if (rc)
		return rc;
	if (fallback_taken())
		buffer_puts(notes, "the Zero VM cannot be walked: its Java frames come from AsyncGetCallTrace "
			    "(see docs/jdks.md)\n");
	for (e = 0; e < count; e++)
		session.events[e].event = events[e];
	session.event_count = count;
	recorder_take(recording);
	session.options = *o;
	session.has_options = true;
	session.running = true;
	return 0;
}

static int busy(struct error *err)
{
	return error_set(err, EBUSY, "Profiler already started: it samples this process (event %s) for %llu s "
			 "already; `jstrobe stop` it first", session.options.event,
			 (unsigned long long)((os_monotonic() - session.resumed_at) / NS_PER_S));
}

static const char *forbidden_by; /* the start-up option; NULL = nothing is forbidden */

void session_forbid(const char *option)
{
	pthread_mutex_lock(&session.lock);
	forbidden_by = option;
	pthread_mutex_unlock(&session.lock);
}

/* Lock held. */
static int refused(struct error *err)
{
	return error_set(err, EPERM, "sampling was switched off when this JVM started, by the agent's "
			 "option %s, for as long as it lives; start it without", forbidden_by);
}

/* What must be known before anything is set up. The number of EVENTS, or a negative errno. */
static int prepare(const struct options *o, struct engine_event *events, struct error *err)
{
	int rc = forbidden_by ? refused(err) : session.running ? busy(err) : read_layout(err);

	return rc ? rc : derive_events(o, events, err);
}

/* Lock held. */
static int start_anew(const struct options *o, struct engine_event *events, uint32_t count,
		      struct recording *recording, struct buffer *notes, struct error *err)
{
	struct collector *account = derive_account(o, events, count);
	uint32_t e;
	int rc;

	if (!account)
		return error_set(err, ENOMEM, "out of memory for the samples");
	rc = begin(o, events, count, account, recording, notes, err);
	if (rc) {
		collector_free(account);
		return rc;
	}
	session.duration = session.cpu_time = session.own_cpu = 0;
	session.windows = (struct engine_window){0};
	for (e = 0; e < RECORD_EVENTS; e++)
		session.events[e].counted = 0;
	session.started_at = os_realtime();
	collector_free(session.account);
	session.account = account;
	return 0;
}

/* Lock held. Samples of one event do not mix with those of another. */
static int go_on(const struct options *o, struct engine_event *events, uint32_t count,
		 struct recording *recording, struct buffer *notes, struct error *err)
{
	uint32_t e = 0;

	while (e < count && e < session.event_count &&
	       strcmp(events[e].name, session.events[e].event.name) == 0)
		e++;
	if (e != count || e != session.event_count)
		return error_set(err, EINVAL, "the samples gathered so far are of %s, not of %s: resume with the same "
				 "events, or start anew", session.options.event, o->event);
	return begin(o, events, count, session.account, recording, notes, err);
}

/* Lock held. FILE is used up in any case. */
static int start_or_go_on(const struct options *o, bool resume, int file, struct engine_event *events,
			  struct buffer *notes, struct error *err)
{
	struct recording *recording = NULL;
	int count = prepare(o, events, err), rc = count;

	if (rc < 0) {
		if (file >= 0)
			close(file);
		return rc;
	}
	if (file >= 0) {
		recording = recorder_open(o, events, (uint32_t)count, resume && session.account, file, err);
		if (!recording)
			return -err->code;
	}
	rc = resume && session.account ? go_on(o, events, (uint32_t)count, recording, notes, err)
				       : start_anew(o, events, (uint32_t)count, recording, notes, err);
	if (rc)
		recording_free(recording);
	return rc;
}

static int start_or_resume(const struct options *o, bool resume, int file, struct buffer *notes,
			   struct error *err)
{
	struct engine_event *events = calloc(RECORD_EVENTS, sizeof(*events));
	int rc;

	if (!events) {
		if (file >= 0)
			close(file);
		return error_set(err, ENOMEM, "out of memory for the session");
	}
	pthread_mutex_lock(&session.lock);
	rc = start_or_go_on(o, resume, file, events, notes, err);
	pthread_mutex_unlock(&session.lock);
	free(events);
	return rc;
}

int session_start(const struct options *o, int file, struct buffer *notes, struct error *err)
{
	return start_or_resume(o, false, file, notes, err);
}

int session_resume(const struct options *o, int file, struct buffer *notes, struct error *err)
{
	return start_or_resume(o, true, file, notes, err);
}

/* ---- stop ---- */

/* What the engines say now; once STOPPED only their final counts are new. */
static void note_counts(bool stopped)
{
	struct engine_counts counts;
	uint32_t e;

	for (e = 0; e < session.event_count; e++) {
		struct session_event *event = &session.events[e];

		engine_count(e, &counts);
		if (stopped) {
			event->counted += counts.counted;
			event->counts.counted = 0;
			event->counts.raised = counts.raised;
		} else {
			event->counts = counts;
			/* and that stacks came from the JVM itself, if so */
			snprintf(event->engine, sizeof(event->engine), "%s%s", engine_in_force(e),
				 fallback_taken() ? "+agct" : "");
		}
	}
}

int session_stop(struct error *err)
{
	bool outside;

	pthread_mutex_lock(&session.lock);
	if (!session.running) {
		pthread_mutex_unlock(&session.lock);
		return error_set(err, ENOENT, "Profiler is not active: no session runs in this process; "
				 "`jstrobe start` begins one");
	}
	note_counts(false);
	outside = engine_stop();
	note_counts(true);
	agent_window_keep(&session.windows);
	session.duration += os_monotonic() - session.resumed_at;
	session.cpu_time += os_process_cpu() - session.cpu_at_start;
	session.own_cpu += records_own_cpu() - session.own_at_start;
	jvm_name_threads();
	/* Before the last drain: no thread's start or end waits for it. */
	jvm_session_end();
	collector_stop(session.account);
	recorder_end();
	jvm_debug_non_safepoints(false);
	/* A handler held by a debugger still reads all this: then it is left until it is out. */
	session.held = !outside;
	if (outside) {
		collector_release(session.account);
		faults_remove();
	}
	session.running = false;
	pthread_mutex_unlock(&session.lock);
	return 0;
}

/* ---- results ---- */

static void gather_facts(uint32_t e, struct collector_facts *f)
{
	const struct session_event *event = &session.events[e];

	memset(f, 0, sizeof(*f));
	f->duration = session.duration;
	f->cpu_time = session.cpu_time;
	f->own_cpu = session.own_cpu;
	if (session.running) {
		f->duration += os_monotonic() - session.resumed_at;
		f->cpu_time += os_process_cpu() - session.cpu_at_start;
		f->own_cpu += records_own_cpu() - session.own_at_start;
	}
	f->event = event->event.name;
	f->engine = event->engine;
	f->in_events = !event->event.time;
	f->wall = event->event.turns == TURNS_WALL;
	f->main_class = jvm_main_class();
	f->jdk = jvm_version();
	f->title = session.options.title[0] ? session.options.title : NULL;
	f->started_at = session.started_at;
	f->interval = event->event.interval;
	f->counted = event->event.time ? 0 : event->counted + event->counts.counted;
	f->threads_perf = event->counts.perf;
	f->threads_timer = event->counts.timer;
	f->threads_refused = event->counts.refused;
	f->raised = event->counts.raised;
	agent_window_facts(&session.options, &session.windows, session.running, &f->window);
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

	if (session.running) {
		jvm_name_threads();
		note_counts(false);
	}
	for (e = from; e < to; e++) {
		gather_facts(e, &facts);
		views[e - from] = collector_view(session.account, e, &facts);
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

static int copy_recording(struct buffer *out, struct error *err)
{
	int rc;

	pthread_mutex_lock(&session.lock);
	rc = recorder_copy(out, err);
	pthread_mutex_unlock(&session.lock);
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

int session_dump(const struct options *o, struct buffer *out, struct error *err)
{
	const struct format *format = format_by_name(o->format[0] ? o->format : "text");
	struct format_options how = derive_format(o);
	struct profile *views[RECORD_EVENTS] = {NULL};
	uint32_t count, i;
	int rc;

	if (!format)
		return error_set(err, EINVAL, "unknown output format: %s", o->format);
	if (strcmp(format->name, "jfr") == 0)
		return copy_recording(out, err);
	rc = take_result(o, views, &count, err);
	if (rc == 0)
		format_write(format, (const struct profile *const *)views, count, &how, out);
	for (i = 0; i < count; i++)
		collector_view_free(views[i]);
	if (rc == 0 && out->failed)
		return error_set(err, out->failed, "cannot write the result: %s", strerror(out->failed));
	return rc;
}

/* "perf,wall-marker". Lock held. */
static const char *all_engines(void)
{
	static char text[RECORD_EVENTS * (sizeof(session.events[0].engine) + 1)];
	uint32_t e;
	size_t n = 0;

	text[0] = '\0';
	for (e = 0; e < session.event_count; e++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", e ? "," : "", session.events[e].engine);
	return text;
}

void session_get_status(struct session_status *s)
{
	struct collector_totals totals;
	const struct session_event *first = &session.events[0];

	memset(s, 0, sizeof(*s));
	pthread_mutex_lock(&session.lock);
	s->running = session.running;
	s->has_data = session.account && !session.running;
	s->event = session.options.event;
	s->interval = first->event.interval;
	s->running_for = session.duration;
	if (session.running) {
		note_counts(false);
		s->running_for += os_monotonic() - session.resumed_at;
	}
	s->engine = all_engines();
	s->threads = first->counts.threads;
	s->threads_perf = first->counts.perf;
	s->threads_timer = first->counts.timer;
	s->threads_refused = first->counts.refused;
	if (session.account) {
		collector_totals(session.account, &totals);
		s->taken = totals.taken;
		s->stored = totals.stored;
		s->lost = totals.lost;
		s->outside = totals.outside;
		s->queue_bytes = totals.queue_bytes;
	}
	recorder_status(&s->recording, &s->unwritten);
	pthread_mutex_unlock(&session.lock);
}

void session_forget(void)
{
	pthread_mutex_lock(&session.lock);
	if (!session.running) {
		recorder_close();
		collector_free(session.account);
		session.account = NULL;
		session.has_options = false;
	}
	pthread_mutex_unlock(&session.lock);
}

void session_notes(struct buffer *notes)
{
	pthread_mutex_lock(&session.lock);
	engine_notes(notes);
	pthread_mutex_unlock(&session.lock);
}

void session_list_events(struct buffer *out)
{
	event_list(out);
}

const struct options *session_options(void)
{
	return session.has_options ? &session.options : NULL;
}

void session_own_thread(bool own)
{
	records_own(os_gettid(), own);
}
