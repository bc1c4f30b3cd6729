/*
 * Waits that are told of from outside (agent/collect/aggregate_open_waits.c) when their stack had to go: lost, with
 * their weight, and the books balance. What tells of them here is the test itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "collected.h"

static bool has_stack;

static struct sample told(uint64_t weight)
{
	struct sample s = {.time = os_monotonic(), .weight = weight, .thread = record->index,
			   .state = THREAD_BLOCKED, .epoch = (uint16_t)method_epoch_now(&zone.epochs)};
	struct stack_trace_writer w;

	if (has_stack) {
		assert_true(stack_trace_begin(&w, &zone.store, &chunk, 64));
		assert_true(stack_trace_put(&w, frame_java(FRAME_INTERPRETED, a, 1)));
		s.trace = stack_trace_end(&w);
	}
	return s;
}

static void tell_wait(waits_told_fn *fn, void *arg, uint64_t weight, bool open)
{
	struct wait_note n = {.duration = weight, .open = open};
	struct sample s = told(weight);

	fn(&s, &n, NULL, arg);
}

static void over(waits_told_fn *fn, void *arg)
{
	record_take(record, 0);
	tell_wait(fn, arg, 7, false);
}

static void go_on(bool lately, waits_told_fn *fn, void *arg)
{
	tell_wait(fn, arg, 5, !lately);
	tell_wait(fn, arg, 0, !lately); /* all of it has been told */
}

static void parked(parked_told_fn *fn, void *arg)
{
	struct sample s = told(3);

	fn(&s, NULL, arg);
}

static void parked_on(bool lately, parked_told_fn *fn, void *arg)
{
	(void)lately;
	parked(fn, arg);
}

static struct collect_sources sources;

static int set_up(void **state)
{
	struct collector_options o = {.events = 1, .waits = {true}};
	int rc;

	has_stack = *state != NULL;
	zone.events[0].waits = true;
	zone.events[0].ticks = false;
	rc = collected_open(&o);
	if (rc)
		return rc;
	sources = engine_of_collector;
	sources.waits_done = over;
	sources.waits_open = go_on;
	sources.parked_done = parked;
	sources.vthreads_parked_open = parked_on;
	c->sources = &sources;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	zone.events[0].waits = false;
	return collected_close();
}

static void books(void **state)
{
	struct loss_totals t;

	(void)state;
	pthread_mutex_lock(&c->lock);
	aggregate_done_waits(c);
	aggregate_open_waits(c, false);
	pthread_mutex_unlock(&c->lock);
	aggregate_all_losses(c, 0, &t);
	assert_int_equal(t.taken, 4);
	assert_int_equal(t.count[LOSS_store_full], has_stack ? 0 : 4);
	assert_int_equal(t.weight[LOSS_store_full], has_stack ? 0 : 7 + 3 + 3 + 5);
	assert_int_equal(c->events[0].stored, has_stack ? 4 : 0);
	assert_int_equal(c->events[0].weight_stored, has_stack ? 7 + 3 + 3 + 5 : 0);
}

int main(void)
{
	static char stack[] = "with their stacks";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(books, set_up, tear_down),
		cmocka_unit_test_prestate_setup_teardown(books, set_up, tear_down, stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
