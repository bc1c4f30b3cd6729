/*
 * trace.c - the life of a tracing session.
 *
 *      trees ready ─▶ probe class defined ─▶ hook on ─▶ loaded classes changed in batches ─▶ ticks
 *      ticks end ─▶ hook off, classes changed back ─▶ trees read into a result ─▶ memory given back
 */
#include "agent/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/jvm.h"
#include "agent/log.h"
#include "agent/probe.h"
#include "agent/trace_classes.h"
#include "agent/trace_entered.h"
#include "agent/trace_events.h"
#include "agent/trace_result.h"
#include "agent/trace_slow.h"
#include "agent/trace_ticks.h"
#include "format/calls.h"
#include "instrument/tree.h"
#include "os/os.h"

#define TREE_LIMIT (256u << 20)
#define DEFAULT_PERIOD NS_PER_MS

#define SOME_TIMED 127u
#define DEFAULT_BUDGET 20 /* percent */

static const char *const timing_words[TREE_TIMINGS] = {"sampled", "exact", "exact", "adaptive", "none"};

static struct {
	jvmtiEnv *ti;           /* with its capabilities, once one is needed */
	bool running, waiting;  /* waiting: for the JVM to be up */
	bool by_thread;         /* the result is to keep threads apart */
	struct options options;
	enum tree_timing timing;
	uint64_t period;        /* ns */
	uint32_t budget;        /* percent */
	uint64_t began, ended;  /* monotonic ns */
	uint64_t started_at;    /* ns since 1970 */
	uint32_t next_method;   /* numbers are never used again */
	double cost, stamped_cost; /* as in struct calls */
	struct trace_entered entered;
	struct trace_classes classes;
	struct calls result;    /* of a session that has ended */
	bool has_result;
} trace = {.next_method = 1};

/* ---- start ------------------------------------------------------------------------------- */

/* The timing that O means. */
static int read_timing(const struct options *o, struct error *err)
{
	unsigned i;

	trace.timing = o->latency || o->cpu_clock ? TREE_EXACT : TREE_SAMPLED;
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
	int rc = read_timing(o, err);

	trace.period = o->period ? o->period : DEFAULT_PERIOD;
	trace.budget = o->budget ? o->budget : DEFAULT_BUDGET;
	trace.classes.timing = trace.timing;
	trace.classes.deep = o->trace_depth;
	if (rc == 0)
		rc = patterns_add(&trace.classes.patterns, o->instrument, false, err);
	if (rc == 0)
		rc = patterns_add(&trace.classes.roots, o->root, false, err);
	if (rc == 0)
		rc = patterns_add(&trace.classes.patterns, o->exclude, true, err);
	return rc;
}

/* What a person should know of what the patterns meant. */
static void put_notes(struct buffer *notes)
{
	const struct trace_classes *c = &trace.classes;
	size_t i;

	trace_classes_lock();
	buffer_printf(notes, "%zu methods in %u classes have probes (%.0f ms; at most %.0f ms for the classes that are "
		      "changed at a time)\n", c->methods.count, c->class_count, (double)c->batches_ns / 1e6,
		      (double)c->worst_batch_ns / 1e6);
	for (i = 0; i < c->patterns.list.count; i++) {
		const struct pattern *p = &c->patterns.list.items[i];

		if (!p->hits && !p->exclude)
			buffer_printf(notes, "the pattern %s%s%s matches no method so far; classes loaded later are "
				      "looked at as they come\n", p->annotation ? "@" : "", p->name,
				      p->signature ? p->signature : "");
	}
	trace_classes_unlock();
}

/* Nobody takes the time, and nobody tells anything, any more. */
static void end_all(void)
{
	trace_ticks_stop();
	trace_slow_end();
	trace_events_listen(trace.ti, false, true);
	tree_end();
}

/*
 * What a call's probes cost here. Adaptive timing: of calls that take the time, what of that is in their length,
 * of others, and so how many calls may take the time.
 */
static void calibrate(JNIEnv *env, uint32_t method)
{
	double left;
	uint64_t clock;

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

static int begin(struct buffer *notes, struct error *err)
{
	const struct options *o = &trace.options;
	struct tree_setup setup = {.limit = TREE_LIMIT, .timing = trace.timing, .period = trace.period,
				   .latency = o->latency ? o->latency : UINT64_MAX, .rooted = o->root[0],
				   .depth = o->trace_depth ? o->trace_depth : UINT32_MAX};
	JNIEnv *env = jvm_jni();
	int rc = tree_begin(&setup, err);

	if (rc)
		return rc;
	rc = env ? probe_define(env, trace.ti, err)
		 : error_set(err, EIO, "the thread of the agent is not attached to the JVM");
	if (rc == 0) {
		/* one number is for the calibration; nothing in the JVM calls it */
		calibrate(env, trace.next_method);
		tree_forget_timed();
		trace.classes.first = ++trace.next_method;
		if (trace.timing != TREE_COUNTS)
			rc = trace_ticks_start(trace.period, err);
	}
	if (rc == 0) {
		trace_events_listen(trace.ti, true, trace.timing != TREE_COUNTS);
		if (o->latency)
			trace_slow_begin(trace.ti, trace.classes.first);
		trace.classes.jdk = (unsigned)strtoul(jvm_version(), NULL, 10);
		trace.began = os_monotonic();
		trace.started_at = os_realtime();
		rc = trace_classes_put(trace.ti, env, &trace.classes, err);
	}
	if (rc) {
		end_all();
		return rc;
	}
	trace_entered_look(trace.ti, env, &trace.classes, &trace.entered);
	put_notes(notes);
	return 0;
}

int trace_start(const struct options *o, struct buffer *notes, struct error *err)
{
	int rc;

	trace_forget();
	rc = read_options(o, err);
	if (rc == 0)
		rc = trace_events_init(&trace.ti, err);
	trace.options = *o;
	trace.by_thread = o->threads;
	if (rc == 0 && jvm_is_live())
		rc = begin(notes, err);
	else if (rc == 0)
		trace.waiting = true;
	trace.running = rc == 0;
	if (rc)
		trace_classes_free(&trace.classes);
	return rc;
}

void trace_vm_init(void)
{
	struct buffer notes = BUFFER_INIT;
	struct error err;

	if (!trace.waiting)
		return;
	trace.waiting = false;
	if (begin(&notes, &err)) {
		trace.running = false;
		log_error("%s; the program runs untraced", err.text);
	} else {
		log_notes(notes.data, notes.length);
	}
	buffer_free(&notes);
}

/* ---- results ------------------------------------------------------------------------------- */

static void fill_head(struct calls *c, uint64_t until)
{
	c->timing = timing_words[trace.timing];
	c->timed = trace.timing != TREE_COUNTS;
	c->cpu_exact = trace.timing == TREE_EXACT_CPU;
	c->latency = trace.options.latency ? trace.options.latency : UINT64_MAX;
	c->budget = trace.timing == TREE_ADAPTIVE ? trace.budget : 0;
	c->period = trace.timing == TREE_SAMPLED ? trace.period : 0;
	c->duration = until > trace.began ? until - trace.began : 0;
	c->main_class = jvm_main_class();
	c->jdk = jvm_version();
	c->pid = getpid();
	c->started_at = trace.started_at;
	c->cost = trace.cost;
	c->stamped_cost = trace.timing == TREE_ADAPTIVE ? trace.stamped_cost : 0;
}

/* The trees as they are now; BY_THREAD: apart. */
static int read_trees(struct calls *c, bool by_thread)
{
	int rc;

	fill_head(c, trace.ended ? trace.ended : os_monotonic());
	trace_classes_lock();
	rc = trace_result_read(c, &trace.classes, &trace.entered, trace.period, by_thread);
	trace_classes_unlock();
	return rc;
}

void trace_by_thread(bool apart)
{
	trace.by_thread = apart;
}

void trace_stop(void)
{
	JNIEnv *env = jvm_jni();

	if (!trace.running)
		return;
	trace.running = false;
	if (trace.waiting) {
		trace.waiting = false;
		return;
	}
	trace.ended = os_monotonic();
	/* while classes change back calls go on being counted: the number is that of the whole time */
	if (env)
		trace_classes_remove(trace.ti, env, &trace.classes);
	trace.ended = os_monotonic();
	trace_ticks_stop();
	trace_slow_end();
	trace.has_result = read_trees(&trace.result, trace.by_thread) == 0;
	trace.next_method = trace.classes.first + (uint32_t)trace.classes.methods.count;
	end_all();
}

static void write_result(const struct calls *c, const struct options *o, struct buffer *out)
{
	struct calls_style style = {
		.title = o->title, .total = o->total, .reverse = o->reverse, .inverted = o->inverted, .hot = o->flat,
	};

	calls_write(c, o->format, &style, out);
}

int trace_dump(const struct options *o, struct buffer *out, struct error *err)
{
	struct calls now = {.pid = 0};

	if (trace.has_result) {
		write_result(&trace.result, o, out);
	} else if (trace.running && !trace.waiting) {
		if (read_trees(&now, o->threads)) {
			trace_result_free(&now);
			return error_set(err, ENOMEM, "out of memory for the result");
		}
		write_result(&now, o, out);
		trace_result_free(&now);
	} else {
		return error_set(err, ENOENT, "no calls have been counted");
	}
	if (out->failed)
		return error_set(err, out->failed, "cannot write the result: %s", strerror(out->failed));
	return 0;
}

uint64_t trace_calls(void)
{
	struct calls now = {.pid = 0};
	uint64_t count = trace.result.count;

	if (trace.running && !trace.waiting) {
		if (read_trees(&now, false) == 0)
			count = now.count;
		trace_result_free(&now);
	}
	return count;
}

void trace_forget(void)
{
	if (trace.running)
		return;
	trace_result_free(&trace.result);
	trace_classes_free(&trace.classes);
	trace_entered_free(&trace.entered);
	trace_slow_forget();
	trace.has_result = false;
	trace.ended = 0;
}
