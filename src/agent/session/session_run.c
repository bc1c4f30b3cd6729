/*
 * session_run.c - a run of a session: its stages begin, and what the last one had to leave goes before.
 */
#include <errno.h>
#include <string.h>

#include "agent/collect/collector.h"
#include "agent/hooks/faults.h"
#include "agent/jvm/fallback.h"
#include "agent/session/jvm_info.h"
#include "agent/session/recorder.h"
#include "agent/session/session_stages.h"
#include "agent/session/session_state.h"
#include "agent/sinks/ring/ring.h"
#include "agent/sources/engine.h"
#include "agent/threads/thread_names.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/base/knob.h"

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
int session_begin_recording(struct error *err)
{
	struct recording *r = session.run.recording;
	const struct session_sums none = {0};
	const struct session_sums earlier = session.run.collector == session.collector ? earlier_runs() : none;
	const struct session_sums recorded = recording_is_appended(r) ? session.recorded : none;
	const struct recording_clocks clocks = {session.cpu_at_start - recorded.cpu,
						session.own_at_start - recorded.own};

	session.unrecorded = without(&earlier, &recorded);
	if (session.round_ended)
		jvm_info_gap(r, session.resumed_at - session.round_ended);
	return recording_begin(r, session.run.collector, &clocks, err);
}

int session_settle(struct error *err)
{
	struct session_run *run = &session.run;
	bool was_left = session_sampling.begun;
	struct error ignored;

	if (stages_end(&session_sampling, NULL, &ignored))
		return error_set(err, EBUSY, "a thread of this process, or one of jstrobe's own ('jstrobe drain'), is "
				 "held inside the profiler, by a debugger or by lack of CPU time; let it go, then "
				 "try again");
	if (was_left) {
		recording_free(run->recording);
		if (run->ring != session.ring)
			ring_free(run->ring);
		if (run->collector != session.collector)
			collector_free(run->collector);
		*run = (struct session_run){0};
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

const char *session_stage_to_fail(const struct options *o)
{
	const size_t prefix = sizeof("stage:") - 1;

	return KNOB(strncmp(o->engine_fail, "stage:", prefix) == 0) ? o->engine_fail + prefix : "";
}

int session_begin_run(struct error *err)
{
	const struct options *o = &session.given;
	struct session_run *run = &session.run;
	uint32_t e;
	int rc;

	for (e = 0; o->filter[0] && e < run->count; e++)
		if (run->events[e].ops == &engine_itimer)
			return error_set(err, EINVAL, "filter: itimer samples whichever thread runs; use -e cpu or "
					 "-e ctimer");
	rc = stages_begin(&session_sampling, session_stage_to_fail(o), err);
	if (rc)
		return rc;
	if (fallback_taken())
		buffer_printf(run->notes, "%s cannot be walked: its Java frames come from AsyncGetCallTrace "
			      "(see docs/reference/jdks.md)\n", zone.layout.unwalked);
	for (e = 0; e < run->count; e++)
		session.events[e].event = run->events[e];
	session.event_count = run->count;
	recorder_take(run->recording);
	session.options = *o;
	session.has_options = true;
	session.running = true;
	return 0;
}
