/*
 * What goes on when the aggregate is made anew (agent/collect/generation.c): runs that are open, the samples of a flight
 * recorder and code that keeps numbers of nodes find the stacks they had.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/sinks/ring/ring.h"
#include "agent/sources/engine.h"
#include "agent/sources/lock/lock_waits.h"
#include "agent/threads/run_queue.h"
#include "agent/walk/decode.h"
#include "collected.h"

#define MANY 8000 /* stacks: more than an aggregate carries over */

static struct ring *ring;

static int set_up(void **state)
{
	struct collector_options o = {.drain_every = 0};

	if (collected_open(&o))
		return -1;
	ring = ring_new(3600 * NS_PER_S, 64u << 20);
	ring_begin(ring, c);
	return 0;
}

static int tear_down(void **state)
{
	ring_end(ring);
	ring_free(ring);
	return collected_close();
}

/* Stack I: alpha at a position, called by beta at another one, that by alpha again. */
static const struct stack_trace *trace_number(uint32_t i)
{
	struct stack_trace_writer w;

	assert_true(stack_trace_begin(&w, &zone.store, &chunk, 2048));
	assert_true(stack_trace_put(&w, frame_java(FRAME_INTERPRETED, a, i % 100)));
	assert_true(stack_trace_put(&w, frame_java(FRAME_C2, b, i / 100 % 50)));
	while (i >= 5000) {
		assert_true(stack_trace_put(&w, frame_java(FRAME_C2, a, 3)));
		i -= 5000;
	}
	return stack_trace_end(&w);
}

static void sample_number(uint32_t i, uint64_t weight)
{
	struct sample s = {.time = os_monotonic(), .weight = weight, .thread = record->index,
			   .trace = trace_number(i), .epoch = (uint16_t)method_epoch_now(&zone.epochs)};

	record_take(record, 0);
	assert_true(queue_push(atomic_load(&record->current), &s));
	if (i % 8 == 7) {
		pthread_mutex_lock(&c->lock);
		drain_all(c);
		pthread_mutex_unlock(&c->lock);
	}
}

static bool begin_again(void)
{
	bool begun;

	pthread_mutex_lock(&c->lock);
	begun = generation_begin(c);
	pthread_mutex_unlock(&c->lock);
	return begun;
}

/* Whether NODE is the stack of number I, with its positions. */
static bool is_number(uint32_t node, uint32_t i)
{
	const struct node *n = &c->nodes.items[node];
	const struct named_frame *leaf = &c->frames.named.items[c->frame_list.items[n->first]];

	return n->depth == 2 + i / 5000 && strcmp(strings_get(&c->frames.strings, leaf->name), "alpha") == 0 &&
	       c->bcis.items[n->first] == i % 100 && c->bcis.items[n->first + 1] == i / 100 % 50;
}

struct found {
	uint64_t count, weight, wrong;
};

static void look(const struct sink_event *e, void *arg)
{
	struct found *s = arg;

	s->wrong += !is_number(e->node, (uint32_t)(s->count % MANY)) || e->weight != s->count % 7 + 1;
	s->count++;
	s->weight += e->weight;
}

/* The flight recorder has each sample with its stack and its positions, across several aggregates. */
static void samples_in_a_ring(void **state)
{
	struct found seen = {0};
	uint32_t round, i;
	uint64_t n = 0;

	for (round = 1; round <= 3; round++) {
		for (i = 0; i < MANY; i++, n++)
			sample_number(i, n % 7 + 1);
		assert_true(begin_again());
		memset(&seen, 0, sizeof(seen));
		pthread_mutex_lock(&c->lock);
		ring_each(ring, look, &seen);
		pthread_mutex_unlock(&c->lock);
		assert_int_equal(seen.count, round * MANY);
		assert_int_equal(seen.weight, c->events[0].weight_stored);
		assert_int_equal(seen.wrong, 0);
	}
}

/* Bytes of address space: what was mapped and stays. */
static size_t addresses(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%zu", &pages), 1);
	fclose(f);
	return pages * 4096;
}

/* Nothing stays of the aggregates that were given up, nor of what it took to carry them over. */
static void nothing_stays(void **state)
{
	size_t few = 0, many = 0;
	uint32_t round, i;

	ring_end(ring); /* it keeps each sample */
	for (round = 1; round <= 12; round++) {
		for (i = 0; i < MANY; i++)
			sample_number(i, i % 7 + 1);
		assert_true(begin_again());
		many = addresses() - timeline_bytes(&c->timelines[0]); /* which grows with samples, to a limit */
		few = round == 4 ? many : few;
	}
	print_message("%zd bytes of addresses more after 8 aggregates\n", (ssize_t)(many - few));
	assert_true(many <= few + (64u << 10));
	ring_begin(ring, c);
}

/* A run that was open then is counted at its stack. */
static void open_runs(void **state)
{
	struct run_note note = {.trace = trace_number(7), .time = os_monotonic(), .thread = record->index,
				.epoch = (uint16_t)method_epoch_now(&zone.epochs), .state = THREAD_PARKED};
	struct found before = {0}, after = {0};
	const struct place *p;
	uint32_t i;

	pthread_mutex_lock(&c->lock);
	aggregate_run(c, &note);
	pthread_mutex_unlock(&c->lock);
	for (i = 0; i < MANY; i++)
		sample_number(i, i % 7 + 1);
	assert_true(begin_again());
	p = &c->runs.items[record->index];
	assert_true(is_number(p->node, 7) && is_number(p->shown, 7));
	pthread_mutex_lock(&c->lock);
	ring_each(ring, look, &before);
	note.trace = NULL;
	note.samples = 5;
	note.weight = 50;
	aggregate_run(c, &note);
	ring_each(ring, look, &after);
	pthread_mutex_unlock(&c->lock);
	assert_int_equal(c->events[0].stored, MANY + 5);
	assert_int_equal(after.weight - before.weight, 50);
}

/* Not while a thread goes by numbers beyond the lock. */
static void refused(void **state)
{
	uint32_t i;

	for (i = 0; i < MANY; i++)
		sample_number(i, 1);
	c->pinned = 1;
	assert_false(begin_again());
	c->pinned = 0;
	assert_true(begin_again());
}

/* Nearly full memory is renewed, however much of it seemed to be kept; unless that alone fills it. */
static void full_traces(void **state)
{
	size_t eighth = zone.store.size / 8;
	uint32_t i = 0;

	while (stack_store_bytes(&zone.store) <= eighth * 7)
		trace_number(5000 * 2000 + i++ % 5000); /* of 2,002 frames each */
	for (c->bytes_kept = 0; c->bytes_kept < eighth * 6; c->bytes_kept += eighth / 2)
		assert_true(generation_is_full(c));
	assert_false(generation_is_full(c));
	c->bytes_kept = 0;
}

/* ---- traces that are kept, and others that fill the memory ---- */

#define SMALL (1u << 20)
#define LATE 20 /* that threads begin to keep while the memory is renewed */

static const struct stack_trace *trace_with(struct stack_chunk *at, uint64_t first, uint32_t depth)
{
	struct stack_trace_writer w;
	uint32_t i;

	if (!stack_trace_begin(&w, &zone.store, at, 2048))
		return NULL;
	for (i = 0; i < depth; i++)
		if (!stack_trace_put(&w, first << 16 | i))
			return NULL;
	return stack_trace_end(&w);
}

static void check_kept(uint32_t count, uint32_t depth)
{
	uint32_t i, j;

	for (i = 0; i < count; i++) {
		const struct stack_trace *t = kept_stack_get(wait_answer_kept(i));

		assert_non_null(t);
		assert_true(stack_trace_is_present(&zone.store, t));
		assert_int_equal(t->length, depth);
		for (j = 0; j < depth; j++)
			assert_int_equal(t->frame[j], (uint64_t)(i + 1) << 16 | j);
	}
}

/* Threads store ever new traces, until there is no room. */
static uint32_t fill(uint64_t from)
{
	struct stack_chunk others = {.pos = NULL};
	uint32_t count = 0;

	while (trace_with(&others, from + count, 30))
		count++;
	return count;
}

/* As the collector does it; the JVM is none that changes. */
static void keep_up(void)
{
	zone.has_jvm = false;
	pthread_mutex_lock(&c->lock);
	upkeep(c);
	pthread_mutex_unlock(&c->lock);
	zone.has_jvm = true;
}

/* The memory of traces is renewed, and full again before the collector comes by. */
static void renew_under_load(uint32_t count, uint32_t depth)
{
	const struct stack_trace *late[LATE];
	uint32_t i, others;

	for (i = 0; i < LATE; i++) {
		late[i] = kept_stack_get(wait_answer_kept(count - 1 - i));
		kept_stack_set(wait_answer_kept(count - 1 - i), NULL);
	}
	c->renew_stacks = true;
	keep_up();
	assert_true(zone.store.renewed);
	others = fill(1ull << 32);
	for (i = 0; i < LATE; i++)
		kept_stack_set(wait_answer_kept(count - 1 - i), late[i]);
	assert_true(others > 100);
	for (i = 0; i < 100 && zone.store.renewed; i++)
		keep_up();
	assert_false(zone.store.renewed);
	check_kept(count, depth);
}

static void kept_traces(void **state)
{
	static const struct {
		uint32_t count, depth;
	} cases[] = {{LATE, 1}, {LATE + 1, 40}, {WAIT_ANSWERS, 2}, {WAIT_ANSWERS, 40}, {200, 150}};
	struct engine_event event = {.weight = WEIGHT_WAIT};
	struct buffer notes = BUFFER_INIT;
	struct error err;
	uint32_t n, i, round;

	stack_store_close(&zone.store);
	atomic_store(&zone.cache, calloc(1, sizeof(struct decode_cache)));
	for (n = 0; n < ARRAY_LEN(cases); n++) {
		struct stack_chunk first = {.pos = NULL};

		c->kept = (struct stack_chunk){.pos = NULL};
		assert_int_equal(stack_store_open(&zone.store, SMALL, &err), 0);
		assert_int_equal(engine_lock.start(&event, 0, &notes, &err), 0);
		for (i = 0; i < cases[n].count; i++)
			kept_stack_set(wait_answer_kept(i), trace_with(&first, i + 1, cases[n].depth));
		check_kept(cases[n].count, cases[n].depth);
		for (round = 0; round < 3; round++)
			renew_under_load(cases[n].count, cases[n].depth);
		waits_halt(WAITS_OF_JAVA);
		waits_release();
		stack_store_close(&zone.store);
	}
	buffer_free(&notes);
	free(atomic_exchange(&zone.cache, NULL));
	assert_int_equal(stack_store_open(&zone.store, SMALL, &err), 0);
}

int main(void)
{
	static char keeps[] = "keeps traces";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(samples_in_a_ring, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(open_runs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
		cmocka_unit_test_prestate_setup_teardown(refused, set_up, tear_down, keeps),
		cmocka_unit_test_setup_teardown(full_traces, set_up, tear_down),
		cmocka_unit_test_setup_teardown(kept_traces, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
