/*
 * tracing.c - the life of a tracing session.
 *
 *      trees ready ─▶ probe class defined ─▶ ticks ─▶ hook on ─▶ classes changed by the thread of trace_work.c
 *      hook off ─▶ few classes: changed back ─▶ ticks end ─▶ trees read into a result ─▶ memory given back
 *             └─▶ many: trees read at once, and given back when all have changed back
 */
#include "agent/tracing/tracing.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/jvm/jvm.h"
#include "agent/jvm/log.h"
#include "agent/tracing/probe.h"
#include "agent/tracing/tick_places.h"
#include "agent/tracing/trace_classes.h"
#include "agent/tracing/trace_events.h"
#include "agent/tracing/trace_result.h"
#include "agent/tracing/trace_running.h"
#include "agent/tracing/trace_slow.h"
#include "agent/tracing/trace_work.h"
#include "agent/tracing/tree.h"
#include "common/base/decimal.h"
#include "common/os/os.h"
#include "profile/model/calls.h"
#include "profile/writers/jfr/jfr.h"

#define AGAIN 3            /* times that probes are measured after the start; then the compiler has had its time */
#define TREE_LIMIT (256u << 20)
#define DEFAULT_PERIOD NS_PER_MS

#define SOME_TIMED 127u
#define DEFAULT_BUDGET 20 /* percent */
#define OWN_FRAMES 2      /* of the probes, above a method whose call ends */

static const char *const timing_words[TREE_TIMINGS] = {"sampled", "exact", "exact", "adaptive", "none"};

/* What trace_work.c needs until classes are as before, which may be after the session. */
struct trace_set {
	struct trace_classes classes;
	struct trace_entered entered;
};

struct result {
	struct profile profile; /* head; its calls are these */
	struct calls calls;
};

static struct {
	jvmtiEnv *ti;           /* with its capabilities, once one is needed */
	bool running, waiting;  /* waiting: for the JVM to be up */
	bool by_thread;         /* the result is to keep threads apart */
	atomic_bool vm_ends;    /* the program waits for the result: nothing more is measured */
	struct options options;
	enum tree_timing timing;
	uint64_t period;        /* ns */
	uint32_t budget;        /* percent */
	uint64_t began, ended;  /* monotonic ns */
	uint64_t started_at;    /* ns since 1970 */
	_Atomic uint32_t first_call; /* the first number of this session's methods */
	uint64_t former, after; /* when the session before has ended; the same where this one is a loop's next round */
	double cost, stamped_cost; /* as in struct calls */
	unsigned measured;      /* times that they were measured again */
	struct trace_set *set;  /* of the session that runs or waits */
	struct result result;   /* of a session that has ended */
	bool has_result;
	uint32_t methods;       /* of it: those that got probes */
} trace;

/* Apart from all that is zero at first: */
static uint32_t next_method = 1;              /* numbers are never used again */
static struct buffer matched_none = BUFFER_INIT; /* of the result: patterns that matched none */

/* ---- start ------------------------------------------------------------------------------- */

/* The timing that O means. */
static int read_timing(const struct options *o, struct error *err)
{
	unsigned i;

	trace.timing = o->latency || o->cpu_clock || o->methods[0] ? TREE_EXACT : TREE_SAMPLED;
	for (i = TREE_TIMINGS; i-- > 0;)
		if (strcmp(o->timing, timing_words[i]) == 0)
			trace.timing = (enum tree_timing)i;
	if (o->latency && trace.timing != TREE_EXACT && trace.timing != TREE_ADAPTIVE)
		return error_set(err, EINVAL, "--latency needs the length of calls: use it with --timing exact or "
				 "adaptive, not with %s", o->timing);
	if (o->cpu_clock && trace.timing != TREE_EXACT)
		return error_set(err, EINVAL, "--cpu-clock belongs to --timing exact; with %s CPU time is told by "
				 "ticks", o->timing);
	if (o->cpu_clock)
		trace.timing = TREE_EXACT_CPU;
	return 0;
}

static int read_options(const struct options *o, struct error *err)
{
	bool beside = !o->instrument[0];
	int rc = read_timing(o, err);

	trace.period = o->period ? o->period : DEFAULT_PERIOD;
	trace.budget = o->budget ? o->budget : DEFAULT_BUDGET;
	trace.set->classes.timing = trace.timing;
	trace.set->classes.deep = o->trace_depth;
	if (rc == 0)
		rc = patterns_add(&trace.set->classes.patterns, !beside ? o->instrument : o->methods[0] ? o->methods :
				  o->traced, false, err);
	if (rc == 0)
		rc = patterns_add(&trace.set->classes.roots, o->root, false, err);
	if (rc == 0 && !beside) /* there it is about samples */
		rc = patterns_add(&trace.set->classes.patterns, o->exclude, true, err);
	return rc;
}

/* What a person should know before the classes of a wide pattern change. */
static void put_wide_notes(const struct trace_progress *p, struct buffer *notes)
{
	if (p->some)
		buffer_printf(notes, "%u classes match: those that run get probes, as stacks show them from "
			      "now on, first after 2 s; --all-classes: all of them, which takes long\n", p->matched);
	else
		buffer_printf(notes, "%u classes match and get probes, some at a time; 'jstrobe status' says how far "
			      "it is\n", p->matched);
	buffer_puts(notes, "the JVM compiles what gets probes anew: the program is slower until it has\n");
}

/* What a person should know of what the patterns meant. */
static void put_notes(struct buffer *notes)
{
	const struct trace_classes *c = &trace.set->classes;
	struct trace_progress progress;
	size_t i;

	trace_work_progress(&progress);
	if (progress.phase != TRACE_CHANGED) {
		put_wide_notes(&progress, notes);
		return;
	}
	trace_classes_lock();
	buffer_printf(notes, "%zu method%s in %u class%s %s probes (%s ms; at most %s ms for the classes that are "
		      "changed at a time)\n", c->methods.count, c->methods.count == 1 ? "" : "s", c->class_count,
		      c->class_count == 1 ? "" : "es", c->methods.count == 1 ? "has" : "have",
		      decimal((double)c->batches_ns / 1e6, 0).text, decimal((double)c->worst_batch_ns / 1e6, 0).text);
	for (i = 0; i < c->patterns.list.count; i++) {
		const struct pattern *p = &c->patterns.list.items[i];

		if (!p->hits && !p->exclude)
			buffer_printf(notes, "the pattern %s%s%s matches no method so far; classes loaded later are "
				      "looked at as they come\n", p->annotation ? "@" : "", p->name,
				      p->signature ? p->signature : "");
	}
	trace_classes_unlock();
}

static const char *pattern_begin(const struct pattern *p)
{
	return p->annotation ? "@" : "";
}

/*
 * What was met of the patterns, as long as there is a set of classes to ask. Where classes match and only those that
 * run are read, a pattern without a method may yet have one: nothing is said of it.
 */
static void note_matched(void)
{
	struct buffer *out = &matched_none;
	struct trace_progress progress;
	const struct trace_classes *c;
	size_t i;

	if (!trace.set)
		return;
	out->length = 0;
	trace_work_progress(&progress);
	c = &trace.set->classes;
	trace_classes_lock();
	trace.methods = (uint32_t)c->methods.count;
	for (i = 0; i < c->patterns.list.count && !(progress.some && progress.matched); i++) {
		const struct pattern *p = &c->patterns.list.items[i];

		if (!p->hits && !p->exclude)
			buffer_printf(out, "%s%s%s%s", out->length ? ", " : "", pattern_begin(p), p->name,
				      p->signature ? p->signature : "");
	}
	trace_classes_unlock();
}

uint32_t trace_matched(struct buffer *unmatched)
{
	note_matched();
	if (matched_none.length)
		buffer_append(unmatched, matched_none.data, matched_none.length);
	return trace.methods;
}

static void free_set(struct trace_set *set)
{
	if (!set)
		return;
	trace_classes_free(&set->classes);
	trace_entered_free(&set->entered);
	free(set);
}

static void forget_set(void)
{
	free_set(trace.set);
	trace.set = NULL;
}

/* No thread takes the time, and no event comes, any more. */
static void end_all(void)
{
	trace_ticks_stop();
	trace_slow_end();
	trace_events_listen(trace.ti, false, true);
	tree_end();
}

/* The classes are as before: late probes find nothing from here on. On the thread of trace_work. */
static void over(const struct trace_job *job)
{
	end_all();
	free_set((struct trace_set *)((char *)job->classes - offsetof(struct trace_set, classes)));
}

/*
 * What a call's probes cost here. Adaptive timing: of calls that take the time, what of that is in their length,
 * of others, and so how many calls may take the time.
 */
static void calibrate(JNIEnv *env, uint32_t method)
{
	double left;
	uint64_t clock;

	trace.measured = 0;
	trace.cost = probe_cost(env, method, trace.timing);
	if (trace.timing != TREE_ADAPTIVE)
		return;
	trace.stamped_cost = trace.cost;
	/* one in a hundred, as it will be: what is called rarely is slower, also the clock */
	tree_tune(0, 0, SOME_TIMED);
	clock = probe_length(env, method);
	trace.cost = probe_cost(env, method, trace.timing);
	left = (double)trace.budget / 100 * (double)trace.period / MAX(trace.stamped_cost - trace.cost, 1.0);
	tree_tune((uint32_t)MIN(MAX(left, 1.0), 1e9), clock, TREE_RAREST);
}

static void (*_Atomic sample_call)(uint32_t own);

void trace_on_call(void (*sample)(uint32_t own))
{
	atomic_store(&sample_call, sample);
}

/* A call has ended, on its thread: slow, leaveExact, which are ours, and then its method. */
static void on_call(JNIEnv *env, const struct tree_exit *e)
{
	void (*sample)(uint32_t) = atomic_load(&sample_call);

	if (sample && e->id >= trace.first_call)
		sample(OWN_FRAMES);
}

/* AT_START: of the JVM; the program has not begun. */
static int begin(bool at_start, struct buffer *notes, struct error *err)
{
	const struct options *o = &trace.options;
	struct tree_setup setup = {.limit = TREE_LIMIT, .timing = trace.timing, .period = trace.period,
				   .latency = o->methods[0] ? 1 : o->latency ? o->latency : UINT64_MAX,
				   .rooted = o->root[0],
				   .depth = o->trace_depth ? o->trace_depth : UINT32_MAX};
	JNIEnv *env = jvm_jni();
	struct trace_job job;
	int rc = trace_work_settle(err);

	if (rc == 0)
		rc = tree_begin(&setup, err);
	if (rc)
		return rc;
	rc = env ? probe_define(env, trace.ti, err)
		 : error_set(err, EIO, "the thread of the agent is not attached to the JVM");
	if (rc == 0) {
		/* one number is for the calibration; nothing in the JVM calls it */
		calibrate(env, next_method);
		tree_forget_timed();
		trace.set->classes.first = ++next_method;
		trace.first_call = next_method;
		if (trace.timing != TREE_COUNTS)
			rc = trace_ticks_start(trace.period, err);
	}
	if (rc == 0) {
		trace_events_listen(trace.ti, true, trace.timing != TREE_COUNTS);
		if (o->methods[0])
			probe_on_slow(on_call, true);
		else if (o->latency)
			trace_slow_begin(trace.ti, trace.set->classes.first);
		trace.set->classes.jdk = (unsigned)strtoul(jvm_version(), NULL, 10);
		trace.began = os_monotonic();
		trace.started_at = os_realtime();
		job = (struct trace_job){.ti = trace.ti, .classes = &trace.set->classes,
					 .entered = &trace.set->entered, .at_start = at_start,
					 .all = trace.options.all_classes, .over = over};
		rc = trace_work_begin(&job, err);
	}
	if (rc) {
		end_all();
		return rc;
	}
	put_notes(notes);
	return 0;
}

int trace_start(const struct options *o, bool next_round, struct buffer *notes, struct error *err)
{
	int rc;

	trace_forget();
	trace.after = next_round ? trace.former : 0;
	trace.set = calloc(1, sizeof(*trace.set));
	if (!trace.set)
		return error_set(err, ENOMEM, "out of memory for the classes");
	rc = read_options(o, err);
	if (rc == 0)
		rc = trace_events_init(&trace.ti, err);
	trace.options = *o;
	trace.by_thread = o->threads;
	if (rc == 0 && jvm_is_live())
		rc = begin(false, notes, err);
	else if (rc == 0)
		trace.waiting = true;
	trace.running = rc == 0;
	if (rc)
		forget_set();
	return rc;
}

void trace_vm_init(void)
{
	struct buffer notes = BUFFER_INIT;
	struct error err;

	if (!trace.waiting)
		return;
	trace.waiting = false;
	if (begin(true, &notes, &err)) {
		trace.running = false;
		forget_set();
		log_error("%s; the program runs untraced", err.text);
	} else {
		log_notes(notes.data, notes.length);
	}
	buffer_free(&notes);
}

/* ---- results ------------------------------------------------------------------------------- */

static void fill_head(struct result *r, uint64_t until)
{
	struct calls *c = &r->calls;

	r->profile = (struct profile){
		.event = "calls", .engine = timing_words[trace.timing], .weight_kind = WEIGHT_WALL,
		.interval = trace.timing == TREE_SAMPLED ? trace.period : 0,
		.duration = until > trace.began ? until - trace.began : 0, .main_class = jvm_main_class(),
		.jdk = jvm_version(), .pid = getpid(), .started_at = trace.started_at,
		.gap = trace.after && trace.began > trace.after ? trace.began - trace.after : 0, .calls = c,
	};
	c->timed = trace.timing != TREE_COUNTS;
	c->cpu_exact = trace.timing == TREE_EXACT_CPU;
	c->latency = trace.options.latency ? trace.options.latency : UINT64_MAX;
	c->budget = trace.timing == TREE_ADAPTIVE ? trace.budget : 0;
	c->cost = trace.cost;
	c->stamped_cost = trace.timing == TREE_ADAPTIVE ? trace.stamped_cost : 0;
}

/*
 * At the start the probes may be measured in C1's code, before C2 is done with them (7.7 ns for 1.5 in one start of
 * six, docs/inside/history-truth.md): so they are again, for some ms.
 */
static void measure_again(void)
{
	JNIEnv *env = atomic_load(&trace.vm_ends) || trace.measured++ >= AGAIN ? NULL : jvm_jni();

	if (env)
		trace.cost = probe_cost_again(env, trace.set->classes.first - 1, trace.timing, trace.cost);
}

/* The trees as they are now; BY_THREAD: apart. */
static int read_trees(struct result *r, bool by_thread)
{
	struct trace_progress progress;
	struct calls *c = &r->calls;
	int rc;

	fill_head(r, trace.ended ? trace.ended : os_monotonic());
	trace_classes_lock();
	rc = trace_result_read(c, &trace.set->classes, &trace.set->entered, trace.period, by_thread);
	if (rc == 0)
		trace_result_since(c, &trace.set->classes, trace.began);
	trace_classes_unlock();
	trace_work_progress(&progress);
	c->not_run = progress.some && progress.matched > progress.done ? progress.matched - progress.done : 0;
	r->profile.taken = r->profile.stored = c->count;
	return rc;
}

void trace_by_thread(bool apart)
{
	trace.by_thread = apart;
}

void trace_stop(void)
{
	if (!trace.running)
		return;
	trace.running = false;
	if (trace.waiting) {
		trace.waiting = false;
		note_matched();
		forget_set();
		return;
	}
	measure_again();
	/* while a few classes change back calls go on being counted: the number is that of the whole time */
	trace_work_end();
	trace.former = trace.ended = os_monotonic();
	trace_ticks_stop();
	trace_slow_end();
	trace.has_result = read_trees(&trace.result, trace.by_thread) == 0;
	note_matched();
	next_method = trace.set->classes.first + (uint32_t)trace.set->classes.methods.count;
	trace.set = NULL; /* freed by over() */
	trace_work_release();
}

void trace_vm_death(void)
{
	atomic_store(&trace.vm_ends, true);
	trace_work_vm_death();
}

static void write_result(const struct result *r, const struct format *f, const struct options *o, struct buffer *out,
			 struct format_told *told)
{
	struct format_options how = {
		.total = o->total, .reverse = o->reverse, .inverted = o->inverted, .flat = o->flat,
	};
	struct profile titled = r->profile;
	const struct profile *one = &titled;

	titled.title = o->title[0] ? o->title : NULL;
	format_write(f, &one, 1, &how, out, told);
}

/* Have PUT put the result somewhere: of the session that has ended, or as it is now, threads apart or not BY_THREAD. */
static int with_result(bool by_thread, int (*put)(const struct result *r, void *how, struct error *err), void *how,
		       struct error *err)
{
	struct result now = {.calls = {.timed = false}};
	int rc;

	if (trace.has_result)
		return put(&trace.result, how, err);
	if (!trace.running || trace.waiting)
		return error_set(err, ENOENT, "no calls have been counted");
	measure_again();
	if (read_trees(&now, by_thread))
		rc = error_set(err, ENOMEM, "out of memory for the result");
	else
		rc = put(&now, how, err);
	trace_result_free(&now.calls);
	return rc;
}

struct dump {
	const struct format *format;
	const struct options *options;
	struct buffer *out;
	struct format_told *told;
};

static int dump_result(const struct result *r, void *how, struct error *err)
{
	const struct dump *d = how;

	write_result(r, d->format, d->options, d->out, d->told);
	if (d->out->failed)
		return error_set(err, d->out->failed, "cannot write the result: %s", error_text(d->out->failed));
	return 0;
}

int trace_dump(const struct format *f, const struct options *o, struct buffer *out, struct format_told *told,
	       struct error *err)
{
	struct dump d = {f, o, out, told};

	return with_result(o->threads, dump_result, &d, err);
}

struct recorded {
	uint32_t *key;
	int fd;
};

static int record_result(const struct result *r, void *how, struct error *err)
{
	const struct recorded *to = how;

	return calls_jfr_write(&r->profile, to->key, to->fd, err);
}

int trace_record(uint32_t *key, int fd, struct error *err)
{
	struct recorded to = {key, fd};

	return with_result(false, record_result, &to, err);
}

void trace_tell(struct format_told *told)
{
	struct format_told of_samples = *told;
	const struct profile *one = &trace.result.profile;

	if (!trace.has_result)
		return;
	format_tell(&one, 1, told);
	told->taken = of_samples.taken;
	told->stored = of_samples.stored;
	told->left = of_samples.left;
}

uint64_t trace_calls(void)
{
	struct result now = {.calls = {.timed = false}};
	uint64_t count = trace.result.calls.count;

	if (trace.running && !trace.waiting) {
		if (read_trees(&now, false) == 0)
			count = now.calls.count;
		trace_result_free(&now.calls);
	}
	return count;
}

void trace_forget(void)
{
	if (trace.running)
		return;
	trace_result_free(&trace.result.calls);
	trace_slow_forget();
	trace.has_result = false;
	trace.ended = 0;
}
