/*
 * session_run.c - a run of a session from the records up to the first signal; undone in the reverse order where a part
 * of it fails. The end of a run is session_stop's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/collect/collector.h"
#include "agent/hooks/faults.h"
#include "agent/jvm/fallback.h"
#include "agent/jvm/frozen_fields.h"
#include "agent/jvm/jvm.h"
#include "agent/session/jvm_info.h"
#include "agent/session/neighbours.h"
#include "agent/session/recorder.h"
#include "agent/session/session_state.h"
#include "agent/session/session_window.h"
#include "agent/session/source_options.h"
#include "agent/session/streams.h"
#include "agent/session/told.h"
#include "agent/sinks/ring/ring.h"
#include "agent/sources/cpu/perf_transfer.h"
#include "agent/sources/engine.h"
#include "agent/threads/java_threads.h"
#include "agent/threads/records.h"
#include "agent/threads/thread_names.h"
#include "agent/threads/wanted.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/os/os.h"

#define DEFAULT_DEPTH 2048

static void prepare_zone(const struct options *o)
{
	wanted_set(o);
	zone.depth = o->depth ? o->depth : DEFAULT_DEPTH;
	zone.stats = o->stats;
	zone.record_cpu = o->record_cpu;
	atomic_store(&zone.vm_exiting, false);
	engine_clocks_go();
}

static struct session_sums without(const struct session_sums *all, const struct session_sums *some)
{
	struct session_sums rest = {all->duration - some->duration, all->cpu - some->cpu, all->own - some->own,
				    all->children - some->children, {0}};
	uint32_t e;

	for (e = 0; e < RECORD_EVENTS; e++)
		rest.counted[e] = all->counted[e] - some->counted[e];
	return rest;
}

static struct session_sums earlier_runs(void)
{
	struct session_sums sums = {session.duration, session.cpu_time, session.own_cpu, session.children_cpu, {0}};
	uint32_t e;

	for (e = 0; e < RECORD_EVENTS; e++)
		sums.counted[e] = session.events[e].counted;
	return sums;
}

void session_note_recorded(void)
{
	const struct session_sums earlier = earlier_runs();

	session.recorded = without(&earlier, &session.unrecorded);
}

/* Its CPU times are those of the runs that are in its file: this one, and earlier ones where it goes on in theirs. */
static int begin_recording(struct recording *r, struct collector *collector, struct error *err)
{
	const struct session_sums none = {0}, earlier = collector == session.collector ? earlier_runs() : none;
	const struct session_sums recorded = recording_is_appended(r) ? session.recorded : none;
	const struct recording_clocks clocks = {session.cpu_at_start - recorded.cpu,
						session.own_at_start - recorded.own};

	session.unrecorded = without(&earlier, &recorded);
	if (session.round_ended)
		jvm_info_gap(r, session.resumed_at - session.round_ended);
	return recording_begin(r, collector, &clocks, err);
}

/* Of a start that failed, and could not be undone: a thread of its own is held, as by a debugger. NULL: none. */
static struct collector *left;

/* Everything from the records up to the first signal; undone on failure. EVENTS has room for more than COUNT. */
static int arm(const struct options *o, struct engine_event *events, uint32_t count,
	       struct collector *collector, struct recording *recording, struct buffer *notes,
	       struct error *err)
{
	struct stream_totals ignored_totals;
	struct error ignored;
	struct engine_options e = {
		.wanted = o->filter[0] ? wanted_tid : NULL,
		.user_only = o->alluser,
		.only_cpu = o->target_cpu + 1, /* OPTIONS_ANY_CPU + 1 = 0 */
		.window_watched = o->nostop,
		.signal = (int)o->signal,
		.events = events,
		.queue_start = source_options_queue(o, events, count),
		.nobatch = o->nobatch,
		.parked = o->vthreads,
		.no_parks = o->nopark,
		.sleeps = o->sleep,
	};
	int rc = agent_window_add(o, events, count, err);

	if (rc < 0)
		return rc;
	strcpy(e.wall_mode, o->wall_mode);
	strcpy(e.fail, o->engine_fail);
	e.count = (uint32_t)rc;
	jvm_generated_code();
	rc = records_open(&engine_records, err);
	if (rc == 0)
		rc = faults_install(err);
	if (rc)
		goto no_faults;
	if (jvm_is_live())
		agent_frozen_learn(jvm_jni());
	rc = collector_start(collector, err);
	if (rc)
		goto no_collector;
	session.cpu_at_start = os_process_cpu();
	session.own_at_start = records_own_cpu();
	session.children_at_start = os_children_cpu();
	session.resumed_at = os_monotonic();
	if (recording)
		rc = begin_recording(recording, collector, err);
	if (session.ring)
		ring_begin(session.ring, collector);
	if (rc == 0)
		rc = streams_begin(o, events, count, collector, err);
	/* their samples are told one by one: the names of threads first */
	if (rc == 0 && (recording || streams_count(&ignored_totals))) {
		told_begin(collector);
		java_threads_name();
	}
	if (rc == 0)
		rc = engine_start(&e, notes, err);
	if (rc)
		goto no_engine;
	told_begin(collector);
	java_threads_begin_session();
	rc = engine_listen(notes, err);
	if (rc)
		goto no_listening;
	engine_threads_known();
	if (recording)
		recording_threads_known(recording);
	jvm_debug_non_safepoints(true);
	return 0;

no_listening:
	engine_stop();
no_engine:
	java_threads_end_session();
	told_end();
	if (engine_is_held() || !collector_stop(collector)) {
		left = collector;
		return rc;
	}
	if (recording)
		recording_end(recording, &ignored);
	if (session.ring)
		ring_end(session.ring);
	streams_end();
	collector_release(collector);
no_collector:
	faults_remove();
no_faults:
	java_threads_end_session(); /* what jvm_generated_code() has switched on; once more is harmless */
	return rc;
}

/* What the last run had to leave behind goes now. */
static int settle(struct error *err)
{
	if (left) {
		if (!engine_settle() || !collector_stop(left))
			return error_set(err, EBUSY, "a thread of this process, or 'jstrobe drain', is held inside the "
					 "profiler, by a debugger or by lack of CPU time; let it go, then try again");
		collector_release(left);
		faults_remove();
		left = NULL; /* it stays: what wrote or streamed its samples may look at it yet */
	}
	if (!session.held)
		return 0;
	if (!engine_settle())
		return error_set(err, EBUSY, "a thread of this process is still held inside the profiler, by a "
				 "debugger or by lack of CPU time; let it run, then try again");
	collector_release(session.collector);
	faults_remove();
	session.held = false;
	return 0;
}

void session_watch_names(const struct options *o, struct buffer *notes)
{
	struct error err;

	if (thread_names_begin(o->names_every ? o->names_every : THREAD_NAMES_EVERY, &err))
		buffer_printf(notes, "new names of threads are not noticed: %s\n", err.text);
}

int session_begin_run(const struct options *o, struct engine_event *events, uint32_t count,
		 struct collector *collector, struct recording *recording, struct buffer *notes,
		 struct error *err)
{
	int rc = settle(err);
	struct stream_totals ignored;
	uint32_t e;

	if (rc == 0 && o->filter[0] && events[0].ops == &engine_itimer)
		rc = error_set(err, EINVAL, "filter: itimer samples whichever thread runs; use -e cpu or "
			       "-e ctimer");
	if (rc)
		return rc;
	rc = streams_open(o, err);
	if (rc)
		return rc;
	prepare_zone(o);
	rc = neighbours_claim(o, notes, err);
	if (rc == 0)
		rc = transfer_begin(o->fdtransfer, err);
	if (rc == 0)
		rc = arm(o, events, count, collector, recording, notes, err);
	if (rc) {
		neighbours_leave();
		transfer_end();
		streams_end();
		return rc;
	}
	if (fallback_taken())
		buffer_printf(notes, "%s cannot be walked: its Java frames come from AsyncGetCallTrace "
			      "(see docs/reference/jdks.md)\n", zone.layout.unwalked);
	for (e = 0; e < count; e++)
		session.events[e].event = events[e];
	session.event_count = count;
	recorder_take(recording);
	if (recording || streams_count(&ignored))
		session_watch_names(o, notes);
	session.options = *o;
	session.has_options = true;
	session.running = true;
	return 0;
}
