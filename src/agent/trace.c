/*
 * trace.c - the life of a tracing session.
 *
 *      trees ready ─▶ probe class defined ─▶ hook on ─▶ loaded classes changed in batches ─▶ ticks
 *      ticks end ─▶ hook off, classes changed back ─▶ trees read into a result ─▶ memory given back
 */
#include "agent/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/jvm.h"
#include "agent/log.h"
#include "agent/probe.h"
#include "agent/thread.h"
#include "agent/trace_classes.h"
#include "agent/trace_result.h"
#include "format/calls.h"
#include "instrument/tree.h"
#include "os/os.h"

#define TREE_LIMIT (256u << 20)
#define DEFAULT_PERIOD NS_PER_MS

enum timing {
	TIMING_SAMPLED,
	TIMING_EXACT,
	TIMING_NONE,
};
static const char *const timing_words[] = {"sampled", "exact", "none"};

static struct {
	jvmtiEnv *ti;           /* with its capabilities, once one is needed */
	bool running, waiting;  /* waiting: for the JVM to be up */
	bool by_thread;         /* the result is to keep threads apart */
	struct options options;
	enum timing timing;
	uint64_t period;        /* ns */
	uint64_t began, ended;  /* monotonic ns */
	uint64_t began_at;      /* ns since 1970 */
	uint32_t next_method;   /* numbers are never used again */
	double cost;
	struct trace_classes classes;
	struct calls result;    /* of a session that has ended */
	bool has_result;
} trace = {.next_method = 1};

/* ---- ticks ------------------------------------------------------------------------------- */

static struct {
	atomic_bool on, ended;
	uint64_t period;
} ticker;

static void *tick(void *data)
{
	uint64_t next = os_monotonic();

	pthread_setname_np(pthread_self(), "jstrobe tick");
	/* late ticks are fewer ticks, and the times less sure; where it is not permitted they are taken as they come */
	setpriority(PRIO_PROCESS, (id_t)os_gettid(), -10);
	while (atomic_load(&ticker.on)) {
		uint64_t now = os_monotonic();

		tree_tick();
		/* turns that were missed are not made up for: one stamp charges all of the time */
		next = MAX(next + ticker.period, now + ticker.period / 2);
		os_sleep(next > now ? next - now : 0);
	}
	atomic_store(&ticker.ended, true);
	return NULL;
}

static int start_ticks(uint64_t period, struct error *err)
{
	int rc;

	ticker.period = period;
	atomic_store(&ticker.on, true);
	atomic_store(&ticker.ended, false);
	rc = thread_start("jstrobe tick", tick, NULL, err);
	atomic_store(&ticker.on, rc == 0);
	return rc;
}

static void stop_ticks(void)
{
	if (!atomic_exchange(&ticker.on, false))
		return;
	while (!atomic_load(&ticker.ended))
		os_sleep(100 * NS_PER_US);
}

/* ---- threads ------------------------------------------------------------------------------- */

static void JNICALL on_thread_end(jvmtiEnv *ti, JNIEnv *env, jthread thread)
{
	uint64_t id = probe_thread_id(env, thread);

	if (id)
		tree_thread_end(id);
}

static int environment(struct error *err)
{
	static const jvmtiEventCallbacks callbacks = {
		.ClassFileLoadHook = trace_classes_load,
		.ThreadEnd = on_thread_end,
	};
	jvmtiEnv *ti;
	int rc;

	if (trace.ti)
		return 0;
	ti = jvm_environment();
	if (!ti)
		return error_set(err, EIO, "the JVM gives no JVMTI environment");
	rc = trace_classes_init(ti, err);
	if (rc == 0 && (*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks)))
		rc = error_set(err, EIO, "the JVM takes no callbacks");
	if (rc)
		(*ti)->DisposeEnvironment(ti);
	else
		trace.ti = ti;
	return rc;
}

/* ---- start ------------------------------------------------------------------------------- */

static int read_options(const struct options *o, struct error *err)
{
	size_t i;
	int rc;

	trace.timing = TIMING_SAMPLED;
	for (i = 0; i < ARRAY_LEN(timing_words); i++)
		if (strcmp(o->timing, timing_words[i]) == 0)
			trace.timing = (enum timing)i;
	trace.period = o->period ? o->period : DEFAULT_PERIOD;
	trace.classes.exact = trace.timing == TIMING_EXACT;
	rc = patterns_add(&trace.classes.patterns, o->instrument, false, err);
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

static int begin(struct buffer *notes, struct error *err)
{
	JNIEnv *env = jvm_jni();
	int rc = tree_begin(TREE_LIMIT, trace.classes.exact, trace.period, err);

	if (rc)
		return rc;
	rc = env ? probe_define(env, trace.ti, err)
		 : error_set(err, EIO, "the thread of the agent is not attached to the JVM");
	if (rc == 0) {
		/* one number is for the calibration; nothing in the JVM calls it */
		trace.cost = probe_cost(env, trace.next_method, trace.classes.exact);
		trace.classes.first = ++trace.next_method;
		if (trace.timing != TIMING_NONE)
			rc = start_ticks(trace.period, err);
	}
	if (rc == 0) {
		(*trace.ti)->SetEventNotificationMode(trace.ti, JVMTI_ENABLE, JVMTI_EVENT_THREAD_END, NULL);
		trace.began = os_monotonic();
		trace.began_at = os_realtime();
		rc = trace_classes_put(trace.ti, env, &trace.classes, err);
	}
	if (rc) {
		stop_ticks();
		tree_end();
		return rc;
	}
	put_notes(notes);
	return 0;
}

int trace_start(const struct options *o, struct buffer *notes, struct error *err)
{
	int rc;

	trace_forget();
	rc = read_options(o, err);
	if (rc == 0)
		rc = environment(err);
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
	c->timed = trace.timing != TIMING_NONE;
	c->latency = UINT64_MAX;
	c->period = trace.timing == TIMING_SAMPLED ? trace.period : 0;
	c->started_at = trace.began_at;
	c->duration = until > trace.began ? until - trace.began : 0;
	c->main_class = jvm_main_class();
	c->jdk = jvm_version();
	c->pid = getpid();
	c->cost = trace.cost;
}

/* The trees as they are now; BY_THREAD: apart. */
static int read_trees(struct calls *c, bool by_thread)
{
	int rc;

	fill_head(c, trace.ended ? trace.ended : os_monotonic());
	trace_classes_lock();
	rc = trace_result_read(c, &trace.classes, by_thread);
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
	stop_ticks();
	(*trace.ti)->SetEventNotificationMode(trace.ti, JVMTI_DISABLE, JVMTI_EVENT_THREAD_END, NULL);
	trace.has_result = read_trees(&trace.result, trace.by_thread) == 0;
	trace.next_method = trace.classes.first + (uint32_t)trace.classes.methods.count;
	tree_end();
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
	trace.has_result = false;
	trace.ended = 0;
}
