/*
 * What an aggregate keeps does not grow with the age of a session: threads, names, hidden classes and virtual threads
 * come and go, more than could be kept, and its bytes stay below a bound while all sums are right.
 *
 * JSTROBE_SOAK=1: a million of each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/collect/held.h"
#include "agent/collect/names/late_names.h"
#include "agent/sinks/ring/ring.h"
#include "agent/threads/records.h"
#include "collected.h"

#define BOUND (24u << 20) /* bytes; all of a million would take twenty times as many */
#define TID 90000000

static struct profile *view;
static uint32_t rounds;
static size_t most[2]; /* bytes, in each half */
static struct ring *ring;

static int set_up(void **state)
{
	struct collector_options o = {.per_thread = *state && strcmp(*state, "threads") == 0};

	if (collected_open(&o))
		return -1;
	rounds = getenv("JSTROBE_SOAK") && getenv("JSTROBE_SOAK")[0] == '1' ? 1000000 : 100000;
	most[0] = most[1] = 0;
	ring = NULL;
	if (*state && strcmp(*state, "ring") == 0) {
		ring = ring_new(3600 * NS_PER_S, 256u << 10);
		ring_begin(ring, c);
	}
	return 0;
}

static int tear_down(void **state)
{
	if (ring) {
		ring_end(ring);
		ring_free(ring);
	}
	collector_view_free(view);
	view = NULL;
	return collected_close();
}

static void sample_on(struct thread_record *r, uint64_t vthread, uint32_t position)
{
	struct sample s = {.time = os_monotonic(), .weight = 3, .vthread = vthread, .thread = r->index,
			   .epoch = (uint16_t)method_epoch_now(&zone.epochs)};
	struct stack_trace_writer w;

	assert_true(stack_trace_begin(&w, &zone.store, &chunk, 2048));
	assert_true(stack_trace_put(&w, frame_java(FRAME_C2, a, position % 100)));
	assert_true(stack_trace_put(&w, frame_java(FRAME_C2, b, 1)));
	s.trace = stack_trace_end(&w);
	record_take(r, 0);
	assert_true(queue_push(atomic_load(&r->current), &s));
}

/* A turn of the collector, in round I. */
static void turn(uint32_t i)
{
	size_t *half = &most[i >= rounds / 2];

	pthread_mutex_lock(&c->lock);
	aggregate_names(c);
	drain_all(c);
	*half = MAX(*half, held_bytes(c));
	if (generation_is_due(c))
		assert_true(generation_begin(c));
	pthread_mutex_unlock(&c->lock);
}

/* All samples are there, COUNT of them, with the weight of each. */
static const struct profile *check(uint64_t count)
{
	struct collector_counts facts = {.event = "cpu", .engine = "perf", .interval = 1000, .cpu_time = 1000000};
	struct metrics_held held[COLLECTOR_HELD];
	uint64_t samples = 0, weight = 0, of_threads = 0;
	uint32_t i;

	view = collector_view(c, 0, &facts);
	assert_non_null(view);
	for (i = 0; i < view->stack_count; i++) {
		samples += view->stacks[i].samples;
		weight += view->stacks[i].weight;
	}
	for (i = 0; i < view->thread_count; i++)
		of_threads += view->threads[i].samples;
	assert_int_equal(view->stored, count);
	assert_int_equal(view->taken, count);
	assert_int_equal(samples, count);
	assert_int_equal(weight, 3 * count);
	assert_int_equal(of_threads, count);
	collector_held(c, held);
	for (i = 0; i < COLLECTOR_HELD; i++)
		if (held[i].bytes > BOUND / 8)
			print_message("%s: %llu bytes\n", held[i].name, (unsigned long long)held[i].bytes);
	print_message("at most %zu, then %zu bytes\n", most[0], most[1]);
	assert_true(most[0] < BOUND);
	if (!ring) /* it has threads of its own, more and more until it is full */
		assert_true(most[1] <= most[0] + most[0] / 4);
	return view;
}

/* Threads with names of their own, that take a sample and end. */
static void threads(void **state)
{
	const struct profile *p;
	uint32_t i, kept = 0, last = 0;
	uint64_t ended = 0;
	char name[64];

	for (i = 0; i < rounds; i++) {
		struct thread_record *r = records_found(TID + (int)(i % 5000000), 0);

		snprintf(name, sizeof(name), "worker-%u of a pool with a long name", i);
		collector_name_thread(c, TID + (int)(i % 5000000), i + 1, name);
		sample_on(r, 0, i);
		atomic_store(&r->state, RECORD_CLOSING);
		if (i % 8 == 7 || i == rounds - 1)
			turn(i);
	}
	p = check(rounds);
	for (i = 0; i < p->thread_count; i++) {
		if (strcmp(p->threads[i].name, "worker-# of a pool with a long name (ended)") == 0)
			ended = p->threads[i].samples;
		else
			kept++;
		last += strcmp(p->threads[i].name, name) == 0;
	}
	assert_int_equal(last, 1);
	assert_true(kept >= 1000 && ended > 0);
	assert_int_equal(ended + kept, rounds);
	assert_int_equal(p->merged.threads, ended);
}

/* One thread takes ever new names; others are named, and never sampled. */
static void names(void **state)
{
	const struct profile *p;
	char name[64];
	uint32_t i;

	for (i = 0; i < rounds; i++) {
		snprintf(name, sizeof(name), "name number %u of the only thread that is sampled", i);
		collector_name_thread(c, os_gettid(), 7, name);
		snprintf(name, sizeof(name), "name number %u of a thread that is not there", i);
		collector_name_thread(c, TID + (int)i, 8 + i, name);
		sample_on(record, 0, i);
		if (i % 8 == 7 || i == rounds - 1)
			turn(i);
	}
	p = check(rounds);
	assert_int_equal(p->thread_count, 1);
	assert_int_equal(p->merged.threads, 0);
	snprintf(name, sizeof(name), "name number %u of the only thread that is sampled", rounds - 1);
	assert_string_equal(p->threads[0].name, name);
}

/* Hidden classes of one name at one place in memory, one after the other, each with a sample. */
static void classes(void **state)
{
	struct method_chain chain;
	const struct profile *p;
	uint32_t i, merged = 0;
	char *digits, text[16];
	uintptr_t symbol;

	a = fake_method(&jvm, "pkg/Hidden$$Lambda$00000000+0x0000000000000000", "run", "()V", 100);
	assert_true(method_read_chain(&zone.layout, a, &chain));
	symbol = chain.name_symbol + (uintptr_t)zone.layout.symbol_body;
	digits = (char *)symbol + strlen("pkg/Hidden$$Lambda$");
	for (i = 0; i < rounds; i++) {
		snprintf(text, sizeof(text), "%08u", i);
		memcpy(digits, text, 8);
		unloaded++;
		sample_on(record, 0, 1);
		turn(i);
	}
	p = check(rounds);
	for (i = 0; i < p->stack_count; i++) {
		const struct profile_frame *leaf = &p->frames[p->stacks[i].frames[p->stacks[i].depth - 1]];

		if (leaf->class_name && strcmp(leaf->class_name, "pkg/Hidden$$Lambda") == 0)
			merged += (uint32_t)p->stacks[i].samples;
	}
	assert_true(merged > 0);
	assert_int_equal(merged, p->merged.classes);
	assert_int_equal(p->merged.samples, 0);
}

/* Two large functions of libc, not those a sanitizer puts in their place, and so many addresses in each. */
#define ADDRESSES 1000
static uintptr_t functions[2];

static void find_functions(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	assert_non_null(libc);
	functions[0] = (uintptr_t)dlsym(libc, "getaddrinfo");
	functions[1] = (uintptr_t)dlsym(libc, "glob");
	assert_true(functions[0] && functions[1]);
	dlclose(libc);
}

static void sample_at(uint32_t i)
{
	struct sample s = {.time = os_monotonic(), .weight = 3, .thread = record->index,
			   .epoch = (uint16_t)method_epoch_now(&zone.epochs)};
	struct stack_trace_writer w;
	uint32_t f;

	assert_true(stack_trace_begin(&w, &zone.store, &chunk, 2048));
	for (f = 0; f < ARRAY_LEN(functions); f++, i /= ADDRESSES)
		assert_true(stack_trace_put(&w, frame_pc(FRAME_NATIVE, functions[f] + i % ADDRESSES)));
	s.trace = stack_trace_end(&w);
	record_take(record, 0);
	assert_true(queue_push(atomic_load(&record->current), &s));
}

/* A turn of the collector, in which a new aggregate begins when the names are there. */
static void named_tick(uint32_t i)
{
	size_t *half = &most[i >= rounds / 2];
	uint64_t until = os_monotonic() + 60 * NS_PER_S;

	pthread_mutex_lock(&c->lock);
	drain_all(c);
	*half = MAX(*half, held_bytes(c));
	while (generation_is_due(c) && namer_works(c)) {
		while (c->namer.started && !atomic_load(&c->namer.done)) {
			pthread_mutex_unlock(&c->lock);
			assert_true(os_monotonic() < until);
			os_sleep(NS_PER_MS);
			pthread_mutex_lock(&c->lock);
		}
	}
	if (generation_is_due(c))
		assert_true(generation_begin(c));
	pthread_mutex_unlock(&c->lock);
}

/* Native code, sampled at ever other addresses, called from ever other ones: the aggregate has its functions. */
static void addresses(void **state)
{
	const struct profile *p;
	uint32_t i;

	(void)state;
	find_functions();
	rounds = MIN(rounds, 100000); /* they are traces of their own, whose memory is not renewed here */
	for (i = 0; i < rounds; i++) {
		sample_at(i);
		if (i % 8 == 7 || i == rounds - 1)
			named_tick(i);
	}
	assert_true(c->generation > 3);
	assert_true(namer_end(c));
	p = check(rounds);
	assert_int_equal(p->merged.samples, 0);
	assert_int_equal(p->stack_count, 1);
	assert_true(most[1] < 8u << 20);
}

/* Virtual threads, kept apart or not. */
static void virtual_threads(void **state)
{
	const struct profile *p;
	uint32_t i;

	for (i = 0; i < rounds; i++) {
		sample_on(record, i + 1, i);
		if (i % 8 == 7 || i == rounds - 1)
			turn(i);
	}
	p = check(rounds);
	assert_int_equal(p->thread_count, *state ? 10001 : 1);
}

int main(void)
{
	static char per_thread[] = "threads", with_ring[] = "ring";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads, set_up, tear_down),
		cmocka_unit_test_prestate_setup_teardown(threads, set_up, tear_down, per_thread),
		cmocka_unit_test_prestate_setup_teardown(threads, set_up, tear_down, with_ring),
		cmocka_unit_test_setup_teardown(names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(classes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(addresses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(virtual_threads, set_up, tear_down),
		cmocka_unit_test_prestate_setup_teardown(virtual_threads, set_up, tear_down, per_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
