/*
 * session_stages.c - the stages of a session that samples, and of one that counts calls: what is set up in which order.
 *
 * All are called with the session's lock held and session.run filled in. An end is called where a start fails
 * (session.running is false then), and by the stop.
 */
#include "agent/session/session_stages.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "agent/collect/collector.h"
#include "agent/context/context_table.h"
#include "agent/hooks/faults.h"
#include "agent/jvm/jvm.h"
#include "agent/session/neighbours.h"
#include "agent/session/recorder.h"
#include "agent/session/session_state.h"
#include "agent/session/session_window.h"
#include "agent/session/source_options.h"
#include "agent/session/streams.h"
#include "agent/session/told.h"
#include "agent/sinks/ring/ring.h"
#include "agent/sources/calls/call_samples.h"
#include "agent/sources/cpu/perf_transfer.h"
#include "agent/sources/engine.h"
#include "agent/sources/engine_clocks.h"
#include "agent/threads/java_threads.h"
#include "agent/threads/own_thread.h"
#include "agent/threads/records.h"
#include "agent/threads/thread_names.h"
#include "agent/threads/wanted.h"
#include "agent/tracing/tracing.h"
#include "agent/zone/zone.h"
#include "common/os/os.h"

#define DEFAULT_DEPTH 2048

static const struct options *options(void)
{
	return session.begins;
}

static int held(const char *thread, struct error *err)
{
	return error_set(err, EINPROGRESS, "sampling has stopped, but a thread of the profiler's own, '%s', has not "
			 "ended: a debugger holds it; let it go, then stop the session again", thread);
}

/* ---- before anything can be sampled ---- */

static int begin_outputs(struct error *err)
{
	return streams_open(options(), err);
}

static int end_streams(struct error *err)
{
	return streams_end() ? 0 : held("jstrobe stream", err);
}

/* Of an event by a process-wide timer, whose signal no one else has. */
static int process_signal(void)
{
	uint32_t e = 0;

	while (e < session.run.count && !session.run.events[e].ops->sigprof)
		e++;
	return e < session.run.count && !os_signal_taken(SIGPROF) ? SIGPROF : 0;
}

static int begin_zone(struct error *err)
{
	const struct options *o = options();

	own_threads_take(process_signal());
	wanted_set(o);
	zone.depth = o->depth ? o->depth : DEFAULT_DEPTH;
	zone.stats = o->stats;
	zone.record_cpu = o->record_cpu;
	atomic_store(&zone.vm_exiting, false);
	return 0;
}

static int begin_neighbours(struct error *err)
{
	return neighbours_claim(options(), session.run.notes, err);
}

static int end_neighbours(struct error *err)
{
	neighbours_leave();
	return 0;
}

static int begin_transfer(struct error *err)
{
	return transfer_begin(options()->fdtransfer, err);
}

static int end_transfer(struct error *err)
{
	transfer_end();
	return 0;
}

/* The events that open and shut the window stand behind those of the session. */
static int begin_window(struct error *err)
{
	int rc = agent_window_add(options(), session.run.events, session.run.count, err);

	if (rc < 0)
		return rc;
	session.run.with_window = (uint32_t)rc;
	return 0;
}

static int begin_generated_code(struct error *err)
{
	jvm_generated_code();
	return 0;
}

static int end_jvm_events(struct error *err)
{
	java_threads_end_session();
	return 0;
}

/* ---- what handlers read ---- */

/* A handler that is held, as by a debugger, still reads what begins here: then it is left until it is out (settle). */
static bool is_left(void)
{
	session.held = session.running && !session.outside;
	return session.held;
}

static int begin_records(struct error *err)
{
	return records_open(&engine_records, err);
}

static int begin_faults(struct error *err)
{
	return faults_install(err);
}

static int end_faults(struct error *err)
{
	if (!is_left())
		faults_remove();
	return 0;
}

static int begin_frozen(struct error *err)
{
	agent_frozen_learn(jvm_jni());
	return 0;
}

static int begin_aggregate(struct error *err)
{
	return collector_open(session.run.collector, err);
}

static int end_aggregate(struct error *err)
{
	if (!collector_stop(session.run.collector))
		return held("jstrobe drain", err);
	if (is_left())
		return 0;
	collector_release(session.run.collector);
	trace_contexts_otel_forget();
	return 0;
}

/* ---- where samples go ---- */

static int begin_clocks(struct error *err)
{
	const struct source_clocks clocks = engine_clocks_begin();

	session.cpu_at_start = clocks.cpu;
	session.own_at_start = clocks.own;
	session.children_at_start = os_children_cpu();
	session.resumed_at = clocks.time;
	collector_begins(session.run.collector, clocks.time);
	return 0;
}

static bool is_recorded(void)
{
	return session.run.recording != NULL;
}

static int begin_recording(struct error *err)
{
	return session_begin_recording(err);
}

static int end_recording(struct error *err)
{
	struct error why;

	if (session.running)
		return recorder_end(err) ? 0 : -err->code;
	/* what it could not write is of a session that never was */
	if (recording_end(session.run.recording, &why) != -EINPROGRESS)
		return 0;
	*err = why;
	return -EINPROGRESS;
}

static bool has_ring(void)
{
	return session.run.ring != NULL;
}

static int begin_ring(struct error *err)
{
	ring_begin(session.run.ring, session.run.collector);
	return 0;
}

static int end_ring(struct error *err)
{
	ring_end(session.run.ring);
	return 0;
}

static int begin_streams(struct error *err)
{
	/* counters are told from here on */
	engine_expect(session.run.events, session.run.count);
	return streams_begin(options(), session.run.events, session.run.count, session.run.collector, err);
}

static int begin_drain(struct error *err)
{
	return collector_start(session.run.collector, err);
}

static int end_drain(struct error *err)
{
	/* a start that failed may have left a handler behind that is held */
	if (!session.running && !engine_settle())
		return error_set(err, EINPROGRESS, "a thread of this process is held inside the profiler");
	return collector_stop(session.run.collector) ? 0 : held("jstrobe drain", err);
}

/* ---- sampling ---- */

/* Where samples are told one by one, the names of threads come first. */
static int begin_names(struct error *err)
{
	struct stream_totals ignored;

	told_begin(session.run.collector);
	if (is_recorded() || streams_count(&ignored))
		java_threads_name();
	return 0;
}

/* Before the last drain, when nothing is sampled any more: no thread's start or end waits for it. */
static int end_names(struct error *err)
{
	if (session.running)
		java_threads_name();
	java_threads_end_session();
	told_end();
	return 0;
}

static int begin_sources(struct error *err)
{
	const struct options *o = options();
	struct engine_options e = {
		.wanted = o->filter[0] ? wanted_tid : NULL,
		.user_only = o->alluser,
		.only_cpu = o->target_cpu + 1, /* OPTIONS_ANY_CPU + 1 = 0 */
		.window_watched = o->nostop,
		.signal = (int)o->signal,
		.events = session.run.events,
		.count = session.run.with_window,
		.queue_start = source_options_queue(o, session.run.events, session.run.count),
		.nobatch = o->nobatch,
		.vthreads = o->vthreads,
		.rate = o->rate,
		.collect_first = o->collect_first,
		.nopark = o->nopark,
		.sleep = o->sleep,
		.nativewait = o->nativewait,
	};

	strcpy(e.wall_mode, o->wall_mode);
	strcpy(e.fail, o->engine_fail);
	return engine_start(&e, session.run.notes, err);
}

static int end_sources(struct error *err)
{
	own_threads_take(0);
	session.outside = engine_stop();
	return 0;
}

static int begin_java_threads(struct error *err)
{
	java_threads_begin_session();
	return 0;
}

static int begin_listening(struct error *err)
{
	return engine_listen(session.run.notes, err);
}

static int end_listening(struct error *err)
{
	engine_listen_no_more(session.goes_on);
	return 0;
}

static int begin_ticks(struct error *err)
{
	engine_threads_known();
	if (is_recorded())
		recording_threads_known(session.run.recording);
	return 0;
}

static int begin_debug_info(struct error *err)
{
	jvm_debug_non_safepoints(true);
	return 0;
}

static int end_debug_info(struct error *err)
{
	jvm_debug_non_safepoints(false);
	return 0;
}

/* A stream that joins later begins it, too (session_join). */
static int begin_name_watch(struct error *err)
{
	struct stream_totals ignored;

	if (is_recorded() || streams_count(&ignored))
		session_watch_names(options(), session.run.notes);
	return 0;
}

static int end_name_watch(struct error *err)
{
	thread_names_end();
	return 0;
}

static int begin_trace(struct error *err)
{
	if (!jvm_is_known())
		return error_set(err, ENXIO, "there is no JVM in this process (yet): only Java's calls can be traced");
	trace_on_call(calls_called);
	return trace_start(options(), session.goes_on, session.run.notes, err);
}

static int end_trace(struct error *err)
{
	trace_stop();
	return 0;
}

static bool has_calls(void)
{
	return options_have_probes(options());
}

/* Calls that are samples, or beside samples: the recording gets those when both have ended. */
static int begin_calls(struct error *err)
{
	if (options()->traced[0] && !is_recorded())
		return error_set(err, EINVAL, "trace: beside samples calls go to a recording; give it a file (-f "
				 "FILE.jfr, agent: file=FILE.jfr; not with --last), or trace without events");
	return begin_trace(err);
}

static const struct stage sampling[] = {
	{"outputs", NULL, begin_outputs, end_streams},
	{"zone", NULL, begin_zone, NULL},
	{"neighbours", NULL, begin_neighbours, end_neighbours},
	{"transfer", NULL, begin_transfer, end_transfer},
	{"window", NULL, begin_window, NULL},
	{"generated-code", NULL, begin_generated_code, end_jvm_events},
	{"records", NULL, begin_records, NULL}, /* they go with the aggregate */
	{"faults", NULL, begin_faults, end_faults},
	{"frozen", jvm_is_live, begin_frozen, NULL},
	{"aggregate", NULL, begin_aggregate, end_aggregate},
	{"drain", NULL, begin_drain, NULL}, /* before the clocks: on a busy machine a new thread takes a while */
	{"clocks", NULL, begin_clocks, NULL},
	{"recording", is_recorded, begin_recording, end_recording},
	{"ring", has_ring, begin_ring, end_ring},
	{"sinks-of-streams", NULL, NULL, end_streams}, /* those that have begun when another one fails */
	{"streams", NULL, begin_streams, NULL},
	{"last-drain", NULL, NULL, end_drain}, /* while there are sinks */
	{"names", NULL, begin_names, end_names},
	{"names-of-all", NULL, NULL, end_name_watch}, /* may take a while: nothing is sampled any more */
	{"sources", NULL, begin_sources, end_sources},
	{"java-threads", NULL, begin_java_threads, NULL}, /* they end with their names */
	{"listening", NULL, begin_listening, end_listening},
	{"ticks", NULL, begin_ticks, NULL},
	{"debug-info", NULL, begin_debug_info, end_debug_info},
	{"name-watch", NULL, begin_name_watch, NULL},
	{"calls", has_calls, begin_calls, end_trace}, /* compiled code is thrown away: after all that must be in time */
};

static const struct stage tracing[] = {
	{"neighbours", NULL, begin_neighbours, end_neighbours},
	{"trace", NULL, begin_trace, end_trace},
};

_Static_assert(ARRAY_LEN(sampling) <= STAGES_MAX, "a bit each");

struct stages session_sampling = {sampling, ARRAY_LEN(sampling), 0};
struct stages session_tracing = {tracing, ARRAY_LEN(tracing), 0};
