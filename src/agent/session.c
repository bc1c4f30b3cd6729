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

#include "agent/fallback.h"
#include "agent/jvm.h"
#include "collect/collector.h"
#include "engine/engine.h"
#include "format/format.h"
#include "os/os.h"

#define DEFAULT_INTERVAL (10 * NS_PER_MS)
#define DEFAULT_DEPTH 2048
#define DRAIN_EVERY (10 * NS_PER_MS)

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
	struct engine_counts counts; /* as it stopped */
	char engine[32];
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

static uint32_t first_queue(const struct options *o, uint64_t interval)
{
	uint64_t wanted = 4 * DRAIN_EVERY / interval;

	if (o->queue_start)
		return o->queue_start;
	return (uint32_t)MIN(MAX(wanted, (uint64_t)QUEUE_START), (uint64_t)QUEUE_LIMIT);
}

static struct collector *new_account(const struct options *o)
{
	struct collector_options c = {
		.per_thread = o->threads,
		.lines = o->lines,
		.stats = o->stats,
		.java_only = strcmp(o->cstack, "no") == 0,
		.depth_kept = o->depth_kept,
		.hold_ms = o->collector_hold_ms,
	};

	return collector_new(&c);
}

/* What was in force, and that stacks came from the JVM itself if so. */
static void name_engine(void)
{
	snprintf(session.engine, sizeof(session.engine), "%s%s", engine_in_force(),
		 fallback_taken() ? "+agct" : "");
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
	atomic_store(&zone.vm_exiting, false);
}

/* Everything from the records up to the first signal; undone on failure. */
static int arm(const struct options *o, const struct engine_ops *ops, struct collector *account,
	       struct buffer *notes, struct error *err)
{
	struct engine_options e = {
		.interval = o->interval ? o->interval : DEFAULT_INTERVAL,
		.wanted = o->filter[0] ? is_wanted : NULL,
		.signal = (int)o->signal,
		.fail = o->engine_fail,
	};
	int rc;

	e.queue_start = first_queue(o, e.interval);
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
	rc = engine_start(ops, &e, notes, err);
	if (rc)
		goto no_engine;
	jvm_session_begin(account);
	jvm_debug_non_safepoints(true);
	return 0;

no_engine:
	collector_stop(account);
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

static int begin(const struct options *o, struct collector *account, struct buffer *notes,
		 struct error *err)
{
	const struct engine_ops *ops = engine_by_event(o->event);
	int rc;

	if (!ops)
		return error_set(err, EINVAL, "event '%s' is not available; `jstrobe list` shows those that are",
				 o->event);
	if (o->filter[0] && strcmp(o->event, "itimer") == 0)
		return error_set(err, EINVAL, "filter: itimer samples whichever thread runs; use -e cpu or "
				 "-e ctimer");
	rc = read_layout(err);
	if (rc == 0)
		rc = settle(err);
	if (rc)
		return rc;
	prepare_zone(o);
	rc = arm(o, ops, account, notes, err);
	if (rc)
		return rc;
	if (fallback_taken())
		buffer_puts(notes, "the Zero VM cannot be walked: its Java frames come from AsyncGetCallTrace "
			    "(see docs/jdks.md)\n");
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

int session_start(const struct options *o, struct buffer *notes, struct error *err)
{
	struct collector *account;
	int rc;

	pthread_mutex_lock(&session.lock);
	if (session.running) {
		rc = busy(err);
		goto out;
	}
	account = new_account(o);
	rc = account ? 0 : error_set(err, ENOMEM, "out of memory for the samples");
	if (rc)
		goto out;
	rc = begin(o, account, notes, err);
	if (rc) {
		collector_free(account);
		goto out;
	}
	session.duration = session.cpu_time = session.own_cpu = 0;
	session.started_at = os_realtime();
	collector_free(session.account);
	session.account = account;
out:
	pthread_mutex_unlock(&session.lock);
	return rc;
}

int session_resume(const struct options *o, struct buffer *notes, struct error *err)
{
	bool fresh;
	int rc;

	pthread_mutex_lock(&session.lock);
	fresh = !session.account;
	if (session.running)
		rc = busy(err);
	else
		rc = fresh ? 0 : begin(o, session.account, notes, err);
	pthread_mutex_unlock(&session.lock);
	return fresh && rc == 0 ? session_start(o, notes, err) : rc;
}

/* ---- stop ---- */

int session_stop(struct error *err)
{
	bool outside;

	pthread_mutex_lock(&session.lock);
	if (!session.running) {
		pthread_mutex_unlock(&session.lock);
		return error_set(err, ENOENT, "Profiler is not active: no session runs in this process; "
				 "`jstrobe start` begins one");
	}
	engine_count(&session.counts);
	outside = engine_stop();
	session.duration += os_monotonic() - session.resumed_at;
	session.cpu_time += os_process_cpu() - session.cpu_at_start;
	session.own_cpu += records_own_cpu() - session.own_at_start;
	name_engine();
	jvm_name_threads();
	/* Before the last drain: no thread's start or end waits for it. */
	jvm_session_end();
	collector_stop(session.account);
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

static void gather_facts(struct collector_facts *f)
{
	struct engine_counts counts = session.counts;

	memset(f, 0, sizeof(*f));
	f->duration = session.duration;
	f->cpu_time = session.cpu_time;
	f->own_cpu = session.own_cpu;
	if (session.running) {
		engine_count(&counts);
		name_engine();
		f->duration += os_monotonic() - session.resumed_at;
		f->cpu_time += os_process_cpu() - session.cpu_at_start;
		f->own_cpu += records_own_cpu() - session.own_at_start;
	}
	f->event = session.options.event;
	f->engine = session.engine;
	f->main_class = jvm_main_class();
	f->jdk = jvm_version();
	f->title = session.options.title[0] ? session.options.title : NULL;
	f->started_at = session.started_at;
	f->interval = session.options.interval ? session.options.interval : DEFAULT_INTERVAL;
	f->threads_perf = counts.perf;
	f->threads_timer = counts.timer;
}

/* What of O is the writers' business; borrows its texts. */
static struct format_options format_options(const struct options *o)
{
	return (struct format_options){
		.total = o->total,
		.lines = o->lines,
		.threads = o->threads,
		.flat = o->flat,
		.traces = o->traces,
		.color = o->color,
		.simple = o->simple,
		.dot = o->dot,
		.norm = o->norm,
		.sig = o->sig,
		.ann = o->ann,
		.lib = o->lib,
		.reverse = o->reverse,
		.inverted = o->inverted,
		.minwidth = o->minwidth / 1000.0,
		.include = o->include,
		.exclude = o->exclude,
	};
}

int session_dump(const struct options *o, struct buffer *out, struct error *err)
{
	const struct format *format = format_by_name(o->format[0] ? o->format : "text");
	struct format_options how = format_options(o);
	struct collector_facts facts;
	struct profile *p;

	if (!format)
		return error_set(err, EINVAL, "unknown output format: %s", o->format);
	pthread_mutex_lock(&session.lock);
	if (!session.account) {
		pthread_mutex_unlock(&session.lock);
		return error_set(err, ENOENT, "there are no samples: profiling has not been started in this process");
	}
	if (session.running)
		jvm_name_threads();
	gather_facts(&facts);
	p = collector_view(session.account, &facts);
	if (p && o->title[0])
		p->title = o->title;
	pthread_mutex_unlock(&session.lock);
	if (!p)
		return error_set(err, ENOMEM, "out of memory for the result");
	format_write(format, p, &how, out);
	collector_view_free(p);
	if (out->failed)
		return error_set(err, out->failed, "cannot write the result: %s", strerror(out->failed));
	return 0;
}

void session_get_status(struct session_status *s)
{
	struct collector_totals totals;
	struct engine_counts counts;

	memset(s, 0, sizeof(*s));
	pthread_mutex_lock(&session.lock);
	s->running = session.running;
	s->has_data = session.account && !session.running;
	s->event = session.options.event;
	s->interval = session.options.interval ? session.options.interval : DEFAULT_INTERVAL;
	s->running_for = session.duration;
	counts = session.counts;
	if (session.running) {
		engine_count(&counts);
		name_engine();
		s->running_for += os_monotonic() - session.resumed_at;
	}
	s->engine = session.engine;
	s->threads = counts.threads;
	s->threads_perf = counts.perf;
	s->threads_timer = counts.timer;
	if (session.account) {
		collector_totals(session.account, &totals);
		s->taken = totals.taken;
		s->stored = totals.stored;
		s->lost = totals.lost;
		s->queue_bytes = totals.queue_bytes;
	}
	pthread_mutex_unlock(&session.lock);
}

void session_forget(void)
{
	pthread_mutex_lock(&session.lock);
	if (!session.running) {
		collector_free(session.account);
		session.account = NULL;
		session.has_options = false;
	}
	pthread_mutex_unlock(&session.lock);
}

void session_list_events(struct buffer *out)
{
	options_events(out);
}

const struct options *session_options(void)
{
	return session.has_options ? &session.options : NULL;
}

void session_own_thread(bool own)
{
	records_own(os_gettid(), own);
}
