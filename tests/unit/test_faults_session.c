/*
 * Whole sessions in which one call to the system fails: the first, the second … up to the last, and
 * then all from one on. Each ends in a clean error or in a result that adds up: what is missing in
 * it is lost under a name. Nothing stays behind, and the next session is as if nothing had been.
 *
 * Java frames come from a JVM of plain memory. A few numbers only in `make check`, all in `make soak`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/handler.h"
#include "agent/sources/engine.h"
#include "agent/threads/records.h"
#include "agent/zone/stack_store.h"
#include "common/os/os.h"
#include "fake_jvm.h"
#include "faulty.h"
#include "harness.h"
#include "lib_threads.h"
#include "profile/writers/format.h"

#define METHODS 40

static struct fake_jvm jvm;
static uintptr_t methods[METHODS];
static uint64_t unloaded; /* the JVM's count of classes */
static threads_start_fn *spawn;

static void *short_life(void *arg)
{
	harness_burn(2 * NS_PER_MS);
	return arg;
}

/* A sample with two Java frames on the running thread, as its handler would leave it. */
static void java_sample(struct thread_record *r, unsigned i)
{
	struct sample s = {.time = os_monotonic(), .weight = 1000, .handler_ns = 1, .thread = r->index,
			   .epoch = (uint16_t)method_epoch_now(&zone.epochs)};
	struct stack_trace_writer w;

	handler_enter(r); /* a signal meanwhile keeps off */
	record_take(r, 0);
	if (stack_trace_begin(&w, &zone.store, &r->chunk, 100)) {
		stack_trace_put(&w, frame_java(FRAME_C2, methods[i % METHODS], i));
		stack_trace_put(&w, frame_java(FRAME_INTERPRETED, methods[i * 7 % METHODS], 1));
		s.trace = stack_trace_end(&w);
	}
	if (!s.trace)
		record_lose(r, 0, LOSS_store_full, s.weight);
	else if (!queue_push(atomic_load(&r->current), &s))
		record_lose(r, 0, LOSS_queue_full, s.weight);
	handler_leave(r);
}

/* Threads come and go, Java and native code run, queues overflow and grow. */
static void live(void)
{
	struct thread_record *me = records_found(os_gettid(), (uintptr_t)pthread_self());
	pthread_t threads[3];
	bool running[3];
	unsigned i;

	for (i = 0; i < 3; i++)
		running[i] = spawn(&threads[i], short_life, NULL) == 0;
	for (i = 0; me && i < 60; i++)
		java_sample(me, i);
	harness_burn(2 * NS_PER_MS);
	os_sleep(12 * NS_PER_MS);
	for (i = 0; me && i < 10; i++)
		java_sample(me, 3 * i);
	for (i = 0; i < 3; i++)
		if (running[i])
			pthread_join(threads[i], NULL);
}

static bool is_true_name(const struct profile_frame *f)
{
	if (f->class_name)
		return strcmp(f->class_name, "pkg/A") == 0 && strcmp(f->name, "alpha") == 0;
	return f->name[0] && (f->kind == FRAME_OTHER || f->kind == FRAME_NATIVE || f->kind == FRAME_KERNEL);
}

static void check(const struct profile *p)
{
	uint64_t lost = 0, samples = 0, of_threads = 0;
	uint32_t i;

	for (i = 0; i < LOSS_REASONS; i++)
		lost += p->lost[i];
	for (i = 0; i < p->stack_count; i++)
		samples += p->stacks[i].samples;
	for (i = 0; i < p->thread_count; i++) {
		of_threads += p->threads[i].samples;
		assert_true(p->threads[i].name[0]);
	}
	assert_int_equal(p->taken, p->stored + lost);
	assert_int_equal(samples, p->stored);
	assert_int_equal(of_threads, p->stored);
	for (i = 0; i < p->frame_count; i++)
		assert_true(is_true_name(&p->frames[i]));
}

/* Write P in the format NAME: whole, or known to have failed. */
static void write_out(const struct profile *p, const char *name)
{
	struct format_options o = {.flat = 10, .traces = 10};
	struct buffer out = BUFFER_INIT;

	format_by_name(name)->write(p, &o, &out);
	assert_true(out.failed || out.length > 0 || !p->stored); /* stacks alone say nothing of none */
	buffer_free(&out);
}

/* One session with that fault. */
static void session(const struct engine_ops *ops, enum fault what, unsigned n, bool ever)
{
	struct error err = {0};
	struct engine_counts c;
	struct profile *p;
	int rc;

	fault_at(what, n, ever);
	rc = harness_start(ops, NS_PER_MS, 8, "", &err);
	if (rc == 0) {
		live();
		engine_count(0, &c);
		assert_true(c.perf + c.timer + c.refused <= c.threads);
		assert_true(ops == &engine_itimer || c.perf + c.timer + c.refused == c.threads);
		p = harness_try_stop();
		if (p) {
			write_out(p, "json");
			write_out(p, "collapsed");
			write_out(p, "html");
		}
		fault_stop();
		if (p)
			check(p);
		harness_end();
	} else {
		fault_stop();
		assert_true(rc < 0 && err.text[0]);
	}
}

/* Each number up to the last call; in a short run ever larger steps. */
static void each(const struct engine_ops *ops, enum fault what, bool ever)
{
	bool all = getenv("JSTROBE_SOAK") != NULL;
	unsigned n, seen, tried = 0;
	struct holdings before;

	/* How many there are in a session that none ends early. */
	session(ops, what, UINT32_MAX, false);
	seen = fault_seen();
	for (n = 1; n <= seen; n += all ? 1 : 1 + n / 3) {
		holdings_take(&before);
		session(ops, what, n, ever);
		tried++;
		holdings_compare(&before);
	}
	print_message("%s: %u of %u %ss failed%s, each in a session of its own\n", ops->name, tried, seen,
		      fault_name(what), ever ? " with all after them" : "");
	/* And then one in which nothing fails. */
	session(ops, what, 0, false);
}

static void memory(void **state)
{
	each(&engine_perf, FAULT_MEMORY, false);
	each(&engine_ctimer, FAULT_MEMORY, true);
}

static void mappings(void **state)
{
	each(&engine_perf, FAULT_MAP, false);
	each(&engine_ctimer, FAULT_MAP, true);
}

static void perf_events(void **state)
{
	each(&engine_perf, FAULT_PERF, false);
	each(&engine_perf, FAULT_PERF, true);
}

static void timers(void **state)
{
	each(&engine_ctimer, FAULT_TIMER, false);
	each(&engine_ctimer, FAULT_TIMER, true);
}

static void files(void **state)
{
	each(&engine_perf, FAULT_FILE, false);
	each(&engine_ctimer, FAULT_FILE, true);
}

static int set_up(void **state)
{
	void *library = harness_library("lib_threads.so");
	unsigned i;

	spawn = library ? (threads_start_fn *)dlsym(library, "threads_start") : NULL;
	fake_open(&jvm, FAKE_YOUNG);
	zone.layout = jvm.zone.layout;
	atomic_store(&zone.epochs.unloaded[0], &unloaded);
	for (i = 0; i < METHODS; i++)
		methods[i] = fake_method(&jvm, "pkg/A", "alpha", "()V", 100);
	/* What a process keeps after its first session. */
	session(&engine_perf, FAULT_MEMORY, 0, false);
	return spawn ? 0 : -1;
}

static int tear_down(void **state)
{
	fault_stop();
	harness_abort();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(memory, tear_down),
		cmocka_unit_test_teardown(mappings, tear_down),
		cmocka_unit_test_teardown(perf_events, tear_down),
		cmocka_unit_test_teardown(timers, tear_down),
		cmocka_unit_test_teardown(files, tear_down),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
