/*
 * When samples were taken: the agent keeps it in bounded memory (agent/collect/timeline.c), and what the command reads of
 * it (profile/model/time/read_times.c) has the same samples, stacks and times.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/sources/engine.h"
#include "collected.h"
#include "profile/model/time/times.h"
#include "profile/model/time/read_times.h"
#include "profile/views/views.h"
#include "profile/writers/format.h"

#define USUAL 10000000ull /* ns that a sample weighs */
#define STEP (1ull << TIMELINE_STEP_BITS)

static int set_up(void **state)
{
	struct collector_options o = {.drain_every = 0, .events = 1};

	(void)state;
	return collected_open(&o);
}

static int tear_down(void **state)
{
	(void)state;
	return collected_close();
}

/* A sample of stack number I, alpha at that position, STEPS after the session's start. */
static void sample_at(uint32_t i, uint64_t steps, uint64_t weight)
{
	struct sample s = {.time = c->began + steps * STEP, .weight = weight, .thread = record->index,
			   .epoch = (uint16_t)method_epoch_now(&zone.epochs)};
	struct stack_trace_writer w;

	assert_true(stack_trace_begin(&w, &zone.store, &chunk, 2048));
	for (; i >= 100; i -= 100)
		assert_true(stack_trace_put(&w, frame_java(FRAME_C2, b, 3)));
	assert_true(stack_trace_put(&w, frame_java(FRAME_INTERPRETED, a, i)));
	s.trace = stack_trace_end(&w);
	record_take(record, 0);
	assert_true(queue_push(atomic_load(&record->current), &s));
	pthread_mutex_lock(&c->lock);
	drain_all(c);
	pthread_mutex_unlock(&c->lock);
}

struct seen {
	struct profile *view;
	struct profile_moment *moments;
};

/* What the command would read. */
static struct seen read_back(void)
{
	struct collector_counts counts = {.event = "cpu", .engine = "perf", .main_class = "", .jdk = ""};
	struct seen s;

	assert_true(collector_views(c, &(struct collector_cut){0, 1, &counts, true}, &s.view));
	assert_int_equal(read_times(s.view, 0, &s.moments), 0);
	return s;
}

static void forget(struct seen *s)
{
	free(s->moments);
	collector_view_free(s->view);
}

static void sums(const struct profile *p, uint64_t *samples, uint64_t *weight)
{
	uint64_t i;

	*samples = *weight = 0;
	for (i = 0; i < p->moment_count; i++) {
		*samples += p->moments[i].samples;
		*weight += p->moments[i].weight;
	}
}

/* So many more frames than one does the stack of moment M have. */
static uint32_t deeper(const struct profile *p, const struct profile_moment *m)
{
	return p->stacks[m->stack].depth - 1;
}

static void each_sample_has_its_time(void **state)
{
	uint64_t samples, weight;
	struct seen s;
	uint32_t i;

	(void)state;
	for (i = 0; i < 500; i++)
		sample_at(i % 5 * 100, 10 * (uint64_t)i, USUAL + i % 3 * 400000);
	s = read_back();
	assert_int_equal(s.view->moment_count, 500);
	assert_int_equal(s.view->moment_step, STEP);
	for (i = 0; i < 500; i++) {
		const struct profile_moment *m = &s.view->moments[i];

		assert_int_equal(m->at, 10 * i);
		assert_int_equal(deeper(s.view, m), i % 5);
		assert_int_equal(m->samples, 1);
		assert_int_equal(m->thread, 0);
		assert_in_range(m->weight, (USUAL + i % 3 * 400000) - USUAL / 128, (USUAL + i % 3 * 400000) + USUAL / 128);
	}
	sums(s.view, &samples, &weight);
	assert_int_equal(samples, s.view->stored);
	forget(&s);
}

/* Threads are drained one after the other: what comes later may be of an earlier time. Two of one moment are one. */
static void times_come_in_any_order(void **state)
{
	static const uint64_t at[] = {900, 100, 5000, 4999, 0, 5000};
	static const uint32_t sorted[] = {0, 100, 900, 4999, 5000}, samples[] = {1, 1, 1, 1, 2};
	struct seen s;
	uint32_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(at); i++)
		sample_at(0, at[i], USUAL);
	s = read_back();
	assert_int_equal(s.view->moment_count, ARRAY_LEN(sorted));
	for (i = 0; i < ARRAY_LEN(sorted); i++) {
		assert_int_equal(s.view->moments[i].at, sorted[i]);
		assert_int_equal(s.view->moments[i].samples, samples[i]);
	}
	forget(&s);
}

static void stacks_get_new_numbers(void **state)
{
	struct seen s;
	uint32_t i, round;
	bool begun;

	(void)state;
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 6000; i++)
			sample_at(i % 40 * 100 + i % 100, 6000 * (uint64_t)round + i, USUAL);
		c->renew_at = 1;
		pthread_mutex_lock(&c->lock);
		begun = generation_begin(c);
		pthread_mutex_unlock(&c->lock);
		assert_true(begun);
	}
	s = read_back();
	assert_int_equal(s.view->moment_count, 18000);
	for (i = 0; i < 18000; i++) {
		assert_int_equal(s.view->moments[i].at, i);
		assert_int_equal(deeper(s.view, &s.view->moments[i]), i % 6000 % 40);
	}
	forget(&s);
}

/* Four bytes a sample do not fit: steps are longer, and nothing is lost. */
static void memory_is_bounded(void **state)
{
	uint64_t samples, weight, of_stacks = 0, i;
	struct seen s;

	(void)state;
	c->timeline_most = 65536;
	for (i = 0; i < 100000; i++)
		sample_at((uint32_t)(i % 7) * 100, i, USUAL);
	assert_in_range(timeline_bytes(&c->timelines[0]), 1000, 65536 * 5 / 2);
	s = read_back();
	assert_true(s.view->moment_step > STEP);
	sums(s.view, &samples, &weight);
	assert_int_equal(samples, 100000);
	assert_in_range(weight, 100000 * (USUAL - USUAL / 128), 100000 * (USUAL + USUAL / 128));
	for (i = 0; i < s.view->moment_count; i++) {
		const struct profile_moment *m = &s.view->moments[i];

		assert_true(i == 0 || m->at >= s.view->moments[i - 1].at);
		assert_in_range((m->at + m->span) * s.view->moment_step, 0, 100000 * STEP);
		of_stacks += deeper(s.view, m) * m->samples;
	}
	assert_int_equal(of_stacks, 100000 / 7 * 21 + 0 + 1 + 2 + 3 + 4);
	forget(&s);
}

/* Each of many stacks is known, however little room there is; a page has what is of none at its root. */
static void many_stacks(void **state)
{
	const struct format_options options = {.views = &views};
	uint64_t samples, weight, i;
	struct buffer out = BUFFER_INIT;
	const struct profile *page;
	struct seen s;

	(void)state;
	c->timeline_most = 65536;
	for (i = 0; i < 3000; i++)
		sample_at((uint32_t)(i % 20) * 100 + (uint32_t)(i / 20 % 100), i, USUAL);
	s = read_back();
	page = s.view;
	sums(s.view, &samples, &weight);
	assert_int_equal(samples, 3000);
	for (i = 0; i < s.view->moment_count; i++)
		assert_int_equal(deeper(s.view, &s.view->moments[i]), i % 20);
	for (i = 0; i < s.view->moment_count; i += 3) {
		s.moments[i].stack = PROFILE_NO_STACK;
		s.moments[i].thread = PROFILE_NO_THREAD;
	}
	format_write(format_by_name("html"), &page, 1, &options, &out, NULL);
	assert_int_equal(out.failed, 0);
	assert_non_null(memmem(out.data, out.length, "\"time\":{", 8));
	buffer_free(&out);
	forget(&s);
}

/* Where there may be fewer moments, steps are longer; sums, and what is of which stack, are the same. */
static void fewer_moments(void **state)
{
	static const size_t most[] = {2, 10, 200, 1000};
	uint64_t samples[2], weight[2], of[2];
	struct profile_moment *moments;
	struct profile few;
	struct seen s;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < 800; i++)
		sample_at(i % 4 * 100, 7 * (uint64_t)i, USUAL);
	s = read_back();
	sums(s.view, &samples[0], &weight[0]);
	for (k = 0; k < ARRAY_LEN(most); k++) {
		few = *s.view;
		few.moments = NULL;
		assert_int_equal(read_times(&few, most[k], &moments), 0);
		assert_true(few.moment_count <= MAX(most[k], 8) && few.moment_count >= MIN(4, most[k]));
		assert_int_equal(few.moment_step > STEP, most[k] < 800);
		sums(&few, &samples[1], &weight[1]);
		assert_true(samples[0] == samples[1] && weight[0] == weight[1]);
		for (i = of[0] = of[1] = 0; i < s.view->moment_count; i++)
			of[0] += deeper(s.view, &s.view->moments[i]) == 2 ? s.view->moments[i].samples : 0;
		for (i = 0; i < few.moment_count; i++)
			of[1] += deeper(&few, &few.moments[i]) == 2 ? few.moments[i].samples : 0;
		assert_true(of[0] == of[1] && of[0] == 200);
		for (i = 1; i < few.moment_count; i++)
			assert_true(few.moments[i].at >= few.moments[i - 1].at);
		assert_true(few.moments[few.moment_count - 1].at * few.moment_step <= 7 * 800 * STEP);
		free(moments);
	}
	forget(&s);
}

static void a_stream_is_read_as_it_was_written(void **state)
{
	static const struct times_moment all[] = {
		{.at = 0, .span = 0, .samples = 1, .beside = 0, .stack = 0},
		{.at = 1, .span = 0, .samples = 1, .beside = -1, .stack = 5, .thread = 1},
		{.at = UINT32_MAX, .span = UINT32_MAX, .samples = UINT32_MAX, .beside = INT64_MAX, 
		 .stack = UINT32_MAX, .thread = UINT32_MAX},
		{.at = 3, .span = 7, .samples = 0, .beside = INT64_MIN, .stack = 1, .thread = UINT32_MAX},
		{.at = 3, .span = 0, .samples = 2, .beside = 0, .stack = 2, .thread = 7},
	};
	uint8_t bytes[ARRAY_LEN(all) * TIMES_LONGEST];
	struct times_moment m = {.at = 0}, before = {.at = 0};
	const uint8_t *at = bytes;
	size_t i, n = 0;

	(void)state;
	for (i = 0; i < ARRAY_LEN(all); i++) {
		size_t one = times_put(bytes + n, &all[i], &before);

		assert_in_range(one, 2, TIMES_LONGEST);
		n += one;
		before = all[i];
	}
	for (i = 0; i < ARRAY_LEN(all); i++) {
		assert_true(times_next(&at, bytes + n, &m));
		assert_true(m.at == all[i].at && m.span == all[i].span && m.samples == all[i].samples &&
			    m.beside == all[i].beside && m.stack == all[i].stack && m.thread == all[i].thread);
	}
	assert_false(times_next(&at, bytes + n, &m));
}

/* What a hostile program sends is refused, or is moments that lead to stacks and threads that are there. */
static void hostile_streams(void **state)
{
	static const struct profile_stack stacks[2];
	static const struct profile_thread threads[2] = {{.name = ""}, {.name = ""}};
	static const uint32_t known[] = {1, 2, 0}, wrong[] = {3};
	struct profile p = {.stacks = stacks, .stack_count = 2, .threads = threads, .thread_count = 2,
			    .time_stacks = known, .time_stack_count = 3, .time_threads = known, .time_thread_count = 3,
			    .time_step = 1, .time_quantum = UINT64_MAX, .time_usual = UINT64_MAX};
	struct profile_moment *moments;
	unsigned round, i, good = 0;
	uint8_t bytes[40];

	(void)state;
	srandom(20);
	for (round = 0; round < 20000; round++) {
		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(random() % (round % 2 ? 16 : 256));
		p.times = bytes;
		p.time_bytes = round % sizeof(bytes);
		p.moments = NULL;
		p.moment_count = 0;
		if (read_times(&p, round % 3 ? 0 : 2, &moments) == 0) {
			good++;
			for (i = 0; i < p.moment_count; i++)
				assert_true((moments[i].stack < 2 || moments[i].stack == PROFILE_NO_STACK) &&
					    (moments[i].thread < 2 || moments[i].thread == PROFILE_NO_THREAD));
		} else {
			assert_null(p.moments);
		}
		free(moments);
	}
	assert_true(good > 500);
	p.time_bytes = times_put(bytes, &(struct times_moment){.samples = 1, .stack = 1, .thread = 1},
				 &(struct times_moment){.at = 0});
	p.time_stacks = wrong;
	assert_int_equal(read_times(&p, 0, &moments), -EPROTO);
	p.time_stacks = known;
	p.time_threads = wrong;
	assert_int_equal(read_times(&p, 0, &moments), -EPROTO);
	p.time_threads = known;
	p.time_stack_count = 0;
	assert_int_equal(read_times(&p, 0, &moments), -EPROTO);
	p.time_stack_count = 3;
	assert_int_equal(read_times(&p, 0, &moments), 0);
	free(moments);
	p.time_step = 0;
	assert_int_equal(read_times(&p, 0, &moments), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fewer_moments, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_sample_has_its_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(times_come_in_any_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stacks_get_new_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_is_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_stacks, set_up, tear_down),
		cmocka_unit_test(a_stream_is_read_as_it_was_written),
		cmocka_unit_test(hostile_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
