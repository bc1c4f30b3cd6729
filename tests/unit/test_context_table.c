/*
 * The table in which threads say what they work for: who gets which cell, and what a reader takes out of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "agent/context/context_table.h"
#include "agent/zone/trace_context_read.h"
#include "agent/zone/zone.h"
#include "harness.h"
#include "lib_otel.h"

static const struct trace_context some = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736, 0x00f067aa0ba902b7, 5};

static struct trace_context_cell *cell_of(uint64_t thread)
{
	return &trace_contexts_table()[trace_contexts_claim(thread)];
}

/* As SampleContext.set does. */
static void set(uint64_t thread, const struct trace_context *r)
{
	struct trace_context_cell *c = cell_of(thread);

	atomic_store(&c->trace_high, r->trace_high);
	atomic_store(&c->trace_low, r->trace_low);
	atomic_store(&c->span, r->span);
	atomic_store(&c->labels, r->labels);
	atomic_store(&c->check, trace_context_check(thread, r));
}

static void clear(uint64_t thread)
{
	atomic_store(&cell_of(thread)->check, 0);
}

static bool has(uint64_t thread, const struct trace_context *r)
{
	struct trace_context found;

	return trace_context_of(thread, &found) && trace_context_equals(&found, r);
}

static bool has_nothing(uint64_t thread)
{
	struct trace_context found, none = {0};

	return !trace_context_of(thread, &found) && trace_context_equals(&found, &none);
}

static int set_up(void **state)
{
	struct trace_context_cell *cells = trace_contexts_table();

	if (!cells)
		return -1;
	memset(cells, 0, TRACE_CONTEXT_CELLS * sizeof(*cells));
	return 0;
}

static void set_and_cleared(void **state)
{
	struct trace_context all_zero = {0};

	assert_true(has_nothing(7));
	assert_true(has_nothing(0));
	set(7, &some);
	assert_true(has(7, &some));
	assert_true(has_nothing(8));
	assert_true(has_nothing(7 + TRACE_CONTEXT_CELLS)); /* the same cell by its number */
	clear(7);
	assert_true(has_nothing(7));
	set(7, &all_zero);
	assert_true(has_nothing(7));
}

/* Whatever part of it was written already: what is read is the old or the new one, or nothing, and that is counted. */
static void torn(void **state)
{
	struct trace_context other = {some.trace_high + 1, ~some.trace_low, 3, 0};
	_Atomic uint64_t *words[5];
	uint64_t fresh[5] = {other.trace_high, other.trace_low, other.span, other.labels, trace_context_check(7, &other)};
	struct trace_context_cell *c;
	struct trace_contexts_counts before, after;
	unsigned written, i, seen = 0;

	trace_contexts_count(&before);
	for (written = 0; written < 32; written++) {
		set(7, &some);
		c = cell_of(7);
		words[0] = &c->trace_high, words[1] = &c->trace_low, words[2] = &c->span, words[3] = &c->labels;
		words[4] = &c->check;
		for (i = 0; i < 5; i++)
			if (written >> i & 1)
				atomic_store(words[i], fresh[i]);
		seen += !has_nothing(7);
		assert_true(written == 0 ? has(7, &some) : written == 31 ? has(7, &other) : has_nothing(7));
	}
	assert_int_equal(seen, 2);
	trace_contexts_count(&after);
	assert_int_equal(after.torn - before.torn, 2 * 30); /* each was looked at twice, the whole ones were not torn */
}

/* Threads whose numbers lead to one cell: each has its own, until there are too many. */
static void crowded(void **state)
{
	struct trace_contexts_counts before, after;
	struct trace_context r = some;
	uint64_t i, kept = 0;

	trace_contexts_count(&before);
	for (i = 0; i < TRACE_CONTEXT_PROBES; i++) {
		r.span = i + 1;
		set(7 + i * TRACE_CONTEXT_CELLS, &r);
	}
	for (i = 0; i < TRACE_CONTEXT_PROBES; i++) {
		r.span = i + 1;
		assert_true(has(7 + i * TRACE_CONTEXT_CELLS, &r));
	}
	trace_contexts_count(&after);
	assert_int_equal(after.evicted, before.evicted);
	/* a cell that was cleared is taken over, and its former thread finds another one when it needs it */
	clear(7 + 3 * TRACE_CONTEXT_CELLS);
	set(7 + 100 * TRACE_CONTEXT_CELLS, &some);
	assert_true(has(7 + 100 * TRACE_CONTEXT_CELLS, &some));
	assert_true(has_nothing(7 + 3 * TRACE_CONTEXT_CELLS));
	trace_contexts_count(&after);
	assert_int_equal(after.evicted, before.evicted);
	/* none is free: one of them loses what it said, and none shows what another one said */
	set(7 + 200 * TRACE_CONTEXT_CELLS, &some);
	trace_contexts_count(&after);
	assert_int_equal(after.evicted, before.evicted + 1);
	assert_true(has(7 + 200 * TRACE_CONTEXT_CELLS, &some));
	for (i = 0; i < TRACE_CONTEXT_PROBES; i++) {
		r.span = i + 1;
		kept += has(7 + i * TRACE_CONTEXT_CELLS, &r);
	}
	assert_in_range(kept, TRACE_CONTEXT_PROBES - 2, TRACE_CONTEXT_PROBES - 1);
}

static void labels(void **state)
{
	struct trace_contexts_counts before, after;
	char text[64];
	uint64_t i;

	assert_string_equal(trace_contexts_labels(0), "");
	assert_string_equal(trace_contexts_labels(77), "");
	assert_true(trace_contexts_define(77, "route\nGET /\n"));
	assert_string_equal(trace_contexts_labels(77), "route\nGET /\n");
	assert_true(trace_contexts_define(77, "route\nGET /\n"));
	trace_contexts_count(&before);
	assert_false(trace_contexts_define(77, "another\ntext\n")); /* the number is the first one's */
	trace_contexts_count(&after);
	assert_int_equal(after.refused, before.refused + 1);
	assert_string_equal(trace_contexts_labels(77), "route\nGET /\n");
	for (i = 0; i < TRACE_CONTEXT_LABEL_SETS - 1; i++) {
		snprintf(text, sizeof(text), "k\n%llu\n", (unsigned long long)i);
		assert_true(trace_contexts_define(1000 + i, text));
	}
	assert_false(trace_contexts_define(999, "one\ntoo many\n"));
	assert_string_equal(trace_contexts_labels(999), "");
	trace_contexts_refuse(5);
	trace_contexts_count(&after);
	assert_int_equal(after.refused, before.refused + 7);
}

/* ---- OpenTelemetry's record ---- */

static struct otel_test_record record = {
	{0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36},
	{0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7}, 1, 0, 0};

/* A thread of its own: the place is found there, and it publishes its record. */
struct publisher {
	void (*publish)(struct otel_test_record *);
	struct thread_record thread;
	sem_t go, done;
};

static void *publisher(void *arg)
{
	struct publisher *p = arg;

	atomic_store(&p->thread.tcb, (uintptr_t)pthread_self());
	sem_post(&p->done);
	sem_wait(&p->go);
	p->publish(&record);
	sem_post(&p->done);
	sem_wait(&p->go);
	p->publish(NULL);
	sem_post(&p->done);
	sem_wait(&p->go);
	return NULL;
}

static void *finder(void *arg)
{
	trace_contexts_otel_find();
	return NULL;
}

static void turn(struct publisher *p)
{
	sem_post(&p->go);
	sem_wait(&p->done);
}

static bool otel_has(struct publisher *p)
{
	const struct trace_context want = {some.trace_high, some.trace_low, some.span, 0};
	struct trace_context found;

	return trace_context_of_record(&p->thread, &found) && trace_context_equals(&found, &want);
}

/* Another thread's record is found by where this one's variable is, in the static block or in one of its own. */
static void otel_in(const char *name, enum otel_way way)
{
	struct publisher p = {.publish = NULL};
	struct trace_context found;
	pthread_t thread, other;
	void *library;

	library = harness_library(name);
	assert_non_null(library);
	*(void **)&p.publish = dlsym(library, "otel_test_publish");
	assert_non_null(p.publish);
	sem_init(&p.go, 0, 0);
	sem_init(&p.done, 0, 0);
	pthread_create(&thread, NULL, publisher, &p);
	sem_wait(&p.done);
	pthread_create(&other, NULL, finder, NULL);
	pthread_join(other, NULL);
	assert_int_equal(atomic_load(&zone.trace_contexts.otel.way), way);
	assert_false(trace_context_of_record(&p.thread, &found));
	turn(&p);
	assert_true(otel_has(&p));
	record.valid = 0; /* it is being written */
	assert_false(trace_context_of_record(&p.thread, &found));
	record.valid = 1;
	assert_true(otel_has(&p));
	turn(&p);
	assert_false(trace_context_of_record(&p.thread, &found));
	trace_contexts_otel_forget();
	assert_false(trace_context_of_record(&p.thread, &found));
	sem_post(&p.go);
	pthread_join(thread, NULL);
	dlclose(library);
}

static void otel_static(void **state)
{
	otel_in("lib_otel_static.so", OTEL_STATIC);
}

static void otel_dynamic(void **state)
{
	otel_in("lib_otel.so", OTEL_DYNAMIC);
}

static void otel_nowhere(void **state)
{
	pthread_t thread;

	pthread_create(&thread, NULL, finder, NULL);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&zone.trace_contexts.otel.way), OTEL_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(set_and_cleared, set_up), cmocka_unit_test_setup(torn, set_up),
		cmocka_unit_test_setup(crowded, set_up), cmocka_unit_test(labels),
		cmocka_unit_test(otel_dynamic), cmocka_unit_test(otel_static), cmocka_unit_test(otel_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
