/*
 * What goes on when the account is made anew (collect/generation.c): runs that are open, the samples of a flight
 * recorder and whoever keeps numbers of nodes find the stacks they had.
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

#include "collect/ring.h"
#include "collected.h"
#include "engine/runs.h"

#define MANY 8000 /* stacks: more than an account carries over */

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
static const struct trace *trace_number(uint32_t i)
{
	struct trace_writer w;

	assert_true(trace_begin(&w, &zone.store, &chunk, 2048));
	assert_true(trace_put(&w, frame_java(FRAME_INTERPRETED, a, i % 100)));
	assert_true(trace_put(&w, frame_java(FRAME_C2, b, i / 100 % 50)));
	while (i >= 5000) {
		assert_true(trace_put(&w, frame_java(FRAME_C2, a, 3)));
		i -= 5000;
	}
	return trace_end(&w);
}

static void sample_number(uint32_t i, uint64_t weight)
{
	struct sample s = {.time = os_monotonic(), .weight = weight, .thread = record->index,
			   .trace = trace_number(i), .era = (uint16_t)era_now(&zone.eras)};

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

/* The flight recorder has each sample with its stack and its positions, across several accounts. */
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

/* Nothing stays of the accounts that were given up, nor of what it took to carry them over. */
static void nothing_stays(void **state)
{
	size_t few = 0, many = 0;
	uint32_t round, i;

	ring_end(ring); /* it keeps each sample */
	for (round = 1; round <= 12; round++) {
		for (i = 0; i < MANY; i++)
			sample_number(i, i % 7 + 1);
		assert_true(begin_again());
		many = addresses();
		few = round == 4 ? many : few;
	}
	print_message("%zd bytes of addresses more after 8 accounts\n", (ssize_t)(many - few));
	assert_true(many <= few + (64u << 10));
	ring_begin(ring, c);
}

/* A run that was open then is counted at its stack. */
static void open_runs(void **state)
{
	struct run_note note = {.trace = trace_number(7), .time = os_monotonic(), .thread = record->index,
				.era = (uint16_t)era_now(&zone.eras), .state = THREAD_PARKED};
	struct found before = {0}, after = {0};
	const struct place *p;
	uint32_t i;

	pthread_mutex_lock(&c->lock);
	account_run(c, &note);
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
	account_run(c, &note);
	ring_each(ring, look, &after);
	pthread_mutex_unlock(&c->lock);
	assert_int_equal(c->events[0].stored, MANY + 5);
	assert_int_equal(after.weight - before.weight, 50);
}

/* Not while somebody goes by numbers beyond the lock. */
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

	while (trace_store_bytes(&zone.store) <= eighth * 7)
		trace_number(5000 * 2000 + i++ % 5000); /* of 2,002 frames each */
	for (c->bytes_kept = 0; c->bytes_kept < eighth * 6; c->bytes_kept += eighth / 2)
		assert_true(generation_is_full(c));
	assert_false(generation_is_full(c));
	c->bytes_kept = 0;
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
