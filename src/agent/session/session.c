/*
 * session.c - the life of a session: start, resume, stop; what is set up in which order is in session_stages.c.
 */
#include "agent/session/session.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/collect/collector.h"
#include "agent/context/java_context.h"
#include "agent/jvm/fallback.h"
#include "agent/jvm/jvm.h"
#include "agent/session/jfrsync.h"
#include "agent/session/neighbours.h"
#include "agent/session/recorder.h"
#include "agent/session/session_roots.h"
#include "agent/session/session_stages.h"
#include "agent/session/session_state.h"
#include "agent/session/session_window.h"
#include "agent/session/source_options.h"
#include "agent/session/streams.h"
#include "agent/sinks/ring/ring.h"
#include "agent/sources/engine.h"
#include "agent/sources/engine_clocks.h"
#include "agent/tracing/tracing.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/os/os.h"

#define DEFAULT_RING (64ull << 20) /* bytes: some four million samples */

struct session session = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- start ---- */

static int read_layout(struct error *err)
{
	int rc;

	if (zone.has_jvm || fallback_taken() || !jvm_is_known())
		return 0;
	rc = layout_read(&zone.layout, err);
	zone.has_jvm = rc == 0;
	return rc && fallback_take(&zone.layout) ? 0 : rc;
}

static int busy(struct error *err)
{
	return error_set(err, EBUSY, "Profiler already started: it samples this process (event %s) for %llu s "
			 "already; `jstrobe stop` it first", session.options.event,
			 (unsigned long long)((os_monotonic() - session.resumed_at) / NS_PER_S));
}

static const char *forbidden_by; /* the start-up option; NULL = nothing is forbidden */
static bool all_forbidden;       /* not only sampling */

void session_forbid(const char *option, bool all)
{
	pthread_mutex_lock(&session.lock);
	forbidden_by = option;
	all_forbidden = all;
	pthread_mutex_unlock(&session.lock);
}

/* Lock held. */
static int refused(struct error *err)
{
	return error_set(err, EPERM, "this was switched off when the JVM started, by the agent's "
			 "option %s, for as long as it lives; start it without", forbidden_by);
}

/* Lock held. */
static int may_begin(const struct options *o, struct error *err)
{
	bool forbidden = o->instrument[0] ? all_forbidden : forbidden_by != NULL;

	return forbidden ? refused(err) : session.running ? busy(err) : neighbours_allow(o, err);
}

int session_may_begin(const struct options *o, struct error *err)
{
	/* what held the last one up may be over */
	int rc = session.silent_since ? session_stop(err) : 0;

	if (rc)
		return rc;
	pthread_mutex_lock(&session.lock);
	rc = may_begin(o, err);
	pthread_mutex_unlock(&session.lock);
	return rc;
}

/* What must be known before anything is set up: session.run is of O's events then. */
static int prepare(const struct options *o, struct error *err)
{
	int rc = may_begin(o, err);

	if (rc == 0)
		rc = session_settle(err);
	if (rc == 0)
		rc = read_layout(err);
	if (rc)
		return rc;
	session.run = (struct session_run){.count = 0};
	rc = source_options_events(o, session.run.events, err);
	if (rc < 0)
		return rc;
	session.run.count = (uint32_t)rc;
	return 0;
}

/* A session is about to begin. Lock held. */
static void end_round(void)
{
	session.round_ended = session.goes_on ? session.resumed_at + session.duration - session.earlier : 0;
}

/* Its clocks have just begun, and those of the one before are void. Lock held. */
static void begin_time(void)
{
	session.gap = session.round_ended ? session.resumed_at - session.round_ended : 0;
	session.duration = session.earlier = 0;
}

/* Lock held. */
static int start_anew(struct error *err)
{
	const struct options *o = &session.given;
	struct session_run *run = &session.run;
	uint32_t e;
	int rc = 0;

	end_round();
	run->collector = source_options_collector(o, run->events, run->count);
	run->ring = o->last ? ring_new(o->last, o->memlimit ? o->memlimit : DEFAULT_RING) : NULL;
	if (!run->collector || (o->last && !run->ring))
		rc = error_set(err, ENOMEM, "out of memory for the samples");
	else if (session.goes_on && session.collector)
		collector_names_from(run->collector, session.collector);
	if (rc == 0)
		rc = session_begin_run(err);
	if (rc && session_sampling.begun)
		return rc; /* a thread of ours is held in them: session_settle */
	if (rc) {
		ring_free(run->ring);
		collector_free(run->collector);
		return rc;
	}
	recorder_forget();
	session_roots_forget();
	begin_time();
	session.cpu_time = session.own_cpu = session.children_cpu = 0;
	session.windows = (struct engine_window){0};
	for (e = 0; e < RECORD_EVENTS; e++)
		session.events[e].counted = 0;
	/* Its time and its CPU time count from there; on a busy machine the engine's start has taken a while since. */
	session.started_at = os_realtime() - (os_monotonic() - session.resumed_at);
	ring_free(session.ring);
	session.ring = run->ring;
	collector_free(session.collector);
	session.collector = run->collector;
	return 0;
}

/* Lock held. Samples of one event do not mix with those of another. */
static int go_on(struct error *err)
{
	struct session_run *run = &session.run;
	uint64_t earlier = session.duration;
	uint32_t e = 0;
	int rc;

	while (e < run->count && e < session.event_count &&
	       strcmp(run->events[e].name, session.events[e].event.name) == 0)
		e++;
	if (e != run->count || e != session.event_count)
		return error_set(err, EINVAL, "the samples gathered so far are of %s, not of %s: resume with the same "
				 "events, or start anew", session.options.event, session.given.event);
	run->collector = session.collector;
	run->ring = session.ring;
	session.round_ended = 0;
	rc = session_begin_run(err);
	if (rc == 0)
		session.earlier = earlier;
	return rc;
}

/* Lock held. FILE is used up in any case. */
static int start_or_go_on(const struct options *o, bool resume, int file, struct buffer *notes, struct error *err)
{
	struct session_run *run = &session.run;
	int rc = prepare(o, err);

	if (rc) {
		if (file >= 0)
			close(file);
		return rc;
	}
	/* from here on nothing is kept of the caller's options */
	session.given = *o;
	session.begins = &session.given;
	if (file >= 0) {
		run->recording = recorder_open(&session.given, run->events, run->count, resume && session.collector,
					       file, err);
		if (!run->recording)
			return -err->code;
	}
	run->notes = notes;
	rc = resume && session.collector ? go_on(err) : start_anew(err);
	run->notes = NULL;
	if (rc && !session_sampling.begun)
		recording_free(run->recording);
	return rc;
}

/* Lock held. Calls are counted instead of sampling. FILE is used up. */
static int start_tracing(const struct options *o, int file, struct buffer *notes, struct error *err)
{
	int rc = may_begin(o, err);

	if (file >= 0)
		close(file);
	if (rc)
		return rc;
	/* what is left of a start that failed may still read session.given */
	session.given_trace = *o;
	session.begins = &session.given_trace;
	session.run.notes = notes;
	rc = stages_begin(&session_tracing, session_stage_to_fail(o), err);
	session.run.notes = NULL;
	if (rc)
		return rc;
	session.options = *o;
	session.has_options = session.running = session.tracing = true;
	session.event_count = 0;
	session.started_at = os_realtime();
	session.resumed_at = os_monotonic();
	session.duration = session.earlier = session.gap = 0;
	return 0;
}

static int start_or_resume(const struct options *o, bool resume, int file, struct buffer *notes,
			   struct error *err)
{
	int rc;

	pthread_mutex_lock(&session.lock);
	if (o->instrument[0]) {
		rc = start_tracing(o, file, notes, err);
	} else {
		rc = start_or_go_on(o, resume, file, notes, err);
		if (!rc && !options_have_probes(o))
			trace_forget();
		session.tracing = session.tracing && rc;
	}
	pthread_mutex_unlock(&session.lock);
	return rc;
}

/* Java code runs in there: not with the session's lock held. */
static int sync_and_start(const struct options *o, bool resume, int file, struct buffer *notes, struct error *err)
{
	struct error ignored;
	int rc = 0;

	if (!o->jfrsync[0])
		return start_or_resume(o, resume, file, notes, err);
	if (session.running)
		rc = busy(err);
	else if (file < 0)
		rc = error_set(err, EINVAL, "jfrsync: the JDK's events need a recording to go to: give -f FILE.jfr, "
			       "without --last");
	else
		rc = jfrsync_begin(o->jfrsync, err);
	if (rc) {
		if (file >= 0)
			close(file);
		return rc;
	}
	rc = start_or_resume(o, resume, file, notes, err);
	if (rc) {
		file = jfrsync_end(&ignored);
		if (file >= 0)
			close(file);
	}
	return rc;
}

int session_start(const struct options *o, int file, struct buffer *notes, struct error *err)
{
	agent_trace_contexts_begin();
	return sync_and_start(o, false, file, notes, err);
}

int session_resume(const struct options *o, int file, struct buffer *notes, struct error *err)
{
	agent_trace_contexts_begin();
	return sync_and_start(o, true, file, notes, err);
}

int session_confirm(struct error *err)
{
	int rc;

	pthread_mutex_lock(&session.lock);
	rc = streams_publish(&session.options, err);
	pthread_mutex_unlock(&session.lock);
	return rc;
}

/* ---- streams of a session that runs ---- */

int session_join(const struct options *o, struct error *err)
{
	struct engine_event *events = calloc(RECORD_EVENTS, sizeof(*events));
	struct buffer notes = BUFFER_INIT;
	int rc = -EAGAIN;
	uint32_t e;

	pthread_mutex_lock(&session.lock);
	if (!events)
		rc = error_set(err, ENOMEM, "out of memory for the stream");
	else if (session.running && session.tracing)
		rc = error_set(err, EBUSY, "a session that counts calls runs in this process; it has no samples to "
			       "stream");
	for (e = 0; events && e < session.event_count; e++)
		events[e] = session.events[e].event;
	if (rc == -EAGAIN && session_samples())
		rc = streams_join(o, events, session.event_count, session.collector, err);
	if (rc == 0)
		session_watch_names(o, &notes);
	pthread_mutex_unlock(&session.lock);
	buffer_free(&notes);
	free(events);
	return rc;
}

void session_leave(const void *reader)
{
	pthread_mutex_lock(&session.lock);
	streams_leave(reader);
	pthread_mutex_unlock(&session.lock);
}

/* ---- stop ---- */

static atomic_bool drains;

void session_goes_on(bool on)
{
	pthread_mutex_lock(&session.lock);
	session.goes_on = on;
	if (!on && !session.running) /* none has followed */
		engine_listen_no_more(false);
	pthread_mutex_unlock(&session.lock);
}

bool session_drains(void)
{
	return atomic_load(&drains);
}

/* What the engines say now; once STOPPED only their final counts are new. */
void session_note_counts(bool stopped)
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
			event->counts.stretched = counts.stretched;
		} else {
			event->counts = counts;
			/* and that stacks came from the JVM itself, if so */
			snprintf(event->engine, sizeof(event->engine), "%s%s", engine_active(e),
				 fallback_taken() ? "+agct" : "");
		}
	}
}

/* What the JDK recorded meanwhile goes behind our own recording. */
static void join_sync(void)
{
	struct error err;
	int fd = jfrsync_end(&err);

	if (fd == -ENOENT)
		return;
	pthread_mutex_lock(&session.lock);
	recorder_append(fd, 0, "the JDK's events", &err);
	pthread_mutex_unlock(&session.lock);
	if (fd >= 0)
		close(fd);
}

/* The calls that were traced beside samples go behind them in the recording. */
static void join_calls(void)
{
	struct error err = {.code = 0};
	uint32_t key = 0;
	int fd = -1;

	pthread_mutex_lock(&session.lock);
	if (session.options.traced[0] && session_calls_recording(&key, &fd, &err) != -ENOENT)
		recorder_append(fd, key, "the traced calls", &err);
	pthread_mutex_unlock(&session.lock);
	if (fd >= 0)
		close(fd);
}

/* What the threads use from here on is of no sample. Lock held. */
static void end_clocks(void)
{
	const struct source_clocks end = engine_clocks();

	session.duration += end.time - session.resumed_at;
	session.cpu_time += end.cpu - session.cpu_at_start;
	session.own_cpu += end.own - session.own_at_start;
	session.children_cpu += os_children_cpu() - session.children_at_start;
}

/* No source raises a signal any more; what the threads used is counted. Lock held. */
static void silence(void)
{
	struct error ignored; /* none of these waits for a thread of ours */

	session_note_counts(false);
	session.silent_since = os_monotonic();
	stages_end(&session_sampling, STAGE_OF_LISTENING, &ignored);
	engine_halt();
	end_clocks();
	stages_end(&session_sampling, STAGE_OF_SOURCES, &ignored);
	session_note_counts(true);
	if (recorder_runs())
		session_note_recorded();
	agent_window_keep(&session.windows);
}

void session_round_ends(void)
{
	struct recording_books books[RECORD_EVENTS];
	struct error ignored;

	pthread_mutex_lock(&session.lock);
	if (session_samples() && !session.tracing) {
		collector_name(session.collector);
		recorder_complete(books, &ignored);
	}
	pthread_mutex_unlock(&session.lock);
}

/* Lock held. -EINPROGRESS: it goes on at the next call. */
static int stop_sampling(struct error *err)
{
	int rc;

	if (!session.silent_since)
		silence();
	atomic_store(&drains, true);
	rc = stages_end(&session_sampling, NULL, err);
	atomic_store(&drains, false);
	if (rc == 0)
		session.silent_since = 0;
	return rc;
}

static int stop_tracing(struct error *err)
{
	int rc = stages_end(&session_tracing, NULL, err);

	session.duration += os_monotonic() - session.resumed_at;
	return rc;
}

void session_collect_heap(void)
{
	pthread_mutex_lock(&session.lock);
	/* else its own end does that */
	if (session_samples() && !session.options.collect_first)
		engine_look(true);
	pthread_mutex_unlock(&session.lock);
}

int session_stop(struct error *err)
{
	bool tracing;
	int rc = 0;

	pthread_mutex_lock(&session.lock);
	if (!session.running)
		rc = error_set(err, ENOENT, "Profiler is not active: no session runs in this process; "
			       "`jstrobe start` begins one");
	tracing = session.tracing;
	if (rc == 0)
		rc = tracing ? stop_tracing(err) : stop_sampling(err);
	if (rc == 0)
		session.running = false;
	pthread_mutex_unlock(&session.lock);
	if (rc == 0 && !tracing) {
		join_calls();
		join_sync();
	}
	return rc;
}

/* ---- afterwards ---- */

void session_forget(void)
{
	pthread_mutex_lock(&session.lock);
	if (!session.running && !session_sampling.begun) {
		recorder_close();
		ring_free(session.ring);
		session.ring = NULL;
		collector_free(session.collector);
		session.collector = NULL;
		session.has_options = session.tracing = false;
		trace_forget();
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
