/*
 * session_state.h - the one process-wide state of normal code, for the files that are the session. Inner header.
 */
#ifndef JSTROBE_SESSION_SESSION_STATE_H
#define JSTROBE_SESSION_SESSION_STATE_H

#include <pthread.h>

#include "agent/collect/collector.h"
#include "agent/sources/engine.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/options/options.h"

struct session {
	pthread_mutex_t lock;       /* everything below */
	bool running;
	uint64_t silent_since;      /* monotonic, a stop has begun and goes on; 0: it samples, or has stopped */
	bool outside;               /* when its sources fell silent no handler was held inside */
	bool goes_on;               /* it is between two rounds */
	/* the running or last session counts calls (agent/tracing/tracing.c), it samples nothing */
	bool tracing;
	bool has_options;
	struct options options;     /* of the running or last session */
	struct options given;       /* of the run that begins or goes on: what engines and sinks keep points in here */
	struct options given_trace; /* the same of a session that counts calls */
	const struct options *begins; /* the one of both that the present stages are of */
	struct session_run {        /* … and what its stages set up; session_stages.c */
		struct engine_event events[RECORD_EVENTS];
		uint32_t count, with_window;  /* events of the session; with those that open and shut the window */
		struct collector *collector;
		struct recording *recording;  /* NULL: none is written */
		struct ring *ring;            /* NULL: no flight recorder */
		struct buffer *notes;         /* while it begins */
	} run;
	struct collector *collector;  /* its samples; NULL before the first */
	struct ring *ring;          /* the last of them, of a flight recorder; NULL: none */
	uint64_t started_at;        /* real time, ns */
	uint64_t resumed_at;        /* monotonic: start of the present run */
	uint64_t duration;          /* of earlier runs, ns */
	uint64_t earlier;           /* the same as the present run began */
	uint64_t round_ended;       /* the round before the one that begins, monotonic; 0: it is the first */
	uint64_t gap;               /* ns from there to its begin: they are in no result */
	uint64_t cpu_at_start;      /* process CPU clock at the present run's start */
	uint64_t cpu_time;          /* of earlier runs */
	uint64_t own_at_start, own_cpu; /* the same of jstrobe's own threads */
	uint64_t children_at_start, children_cpu; /* the same of children that have ended */
	struct session_sums {
		uint64_t duration, cpu, own, children, counted[RECORD_EVENTS];
	} unrecorded, recorded;     /* of earlier runs: not in the recording's file, and in it as the last run ended */
	bool held;                  /* the last run's memory is kept: a handler was held inside */
	uint32_t event_count;       /* of the running or last session */
	struct session_event {
		struct engine_event event;
		struct engine_counts counts; /* as it stopped */
		uint64_t counted;            /* by the kernel, in earlier runs */
		char engine[32];
	} events[RECORD_EVENTS];
	struct engine_window windows; /* of runs that have ended */
};

extern struct session session;

/* A session runs, and no stop of it has begun. Lock held. */
static inline bool session_samples(void)
{
	return session.running && !session.silent_since;
}

/*
 * What the last run, or a start that failed, had to leave behind as a thread was held is given back. -EBUSY: the thread
 * is still held. Before session.run and session.given are those of another run. Lock held.
 */
int session_settle(struct error *err);
/*
 * Begin the run that session.given and session.run describe (session_stages.c). 0, or a negative errno, with all undone
 * but what is left to session_settle. Lock held.
 */
int session_begin_run(struct error *err);
/* The stage that O's test option engine-fail names ("stage:NAME"); "" = none. */
const char *session_stage_to_fail(const struct options *o);
/* The recording of the run that begins; a stage of it. */
int session_begin_recording(struct error *err);
/* Where samples are told one by one, each shows the name that its thread had: names are watched from now on. */
void session_watch_names(const struct options *o, struct buffer *notes);
/* What the engines say now; once STOPPED only their final counts are new. Lock held. */
void session_note_counts(bool stopped);
/*
 * The calls that were traced beside samples, as a recording in memory at *FD, the caller's, to go behind the session's;
 * *KEY is its last one. -ENOENT: none were counted; else why there is none. Lock held.
 */
int session_calls_recording(uint32_t *key, int *fd, struct error *err);
/* A run that is recorded has ended, and its clocks are summed up. Lock held. */
void session_note_recorded(void);

#endif
