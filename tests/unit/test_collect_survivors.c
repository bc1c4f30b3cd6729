/*
 * Samples of objects that count while their object is there (agent/collect/survivors.c): one for each place, the
 * newest, in whichever order queues bring them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/sink.h"
#include "agent/collect/survivors.h"
#include "collected.h"

static int set_up(void **state)
{
	struct collector_options o = {.events = 1, .fields = {event_fields_of("live")}};

	(void)state;
	return collected_open(&o);
}

static int tear_down(void **state)
{
	(void)state;
	return collected_close();
}

/* Object number SERIAL of PLACE, of WEIGHT. */
static void add(uint64_t serial, uint32_t place, uint64_t weight)
{
	struct sink_fields f = {.values = {0}};
	struct sink_event e = {.samples = 1, .weight = weight, .fields = &f};

	f.values[event_field_of_kind(&c->options.fields[0], EVENT_FIELD_ID)] = serial * SOURCE_OBJECTS + place;
	assert_true(survivors_are_of(c, 0));
	assert_true(survivors_add(c, &e));
}

static void the_newest_of_a_place_stays(void **state)
{
	(void)state;
	add(1, 3, 10);
	add(3, 3, 30);
	add(2, 3, 20); /* its thread's queue was emptied later */
	add(2, 0, 5);
	assert_int_equal(c->survivors.count, 4);
	assert_int_equal(c->survivors.items[3].id, 3ull * SOURCE_OBJECTS + 3);
	assert_int_equal(c->survivors.items[3].weight, 30);
	assert_int_equal(c->survivors.items[0].weight, 5);
	assert_int_equal(c->survivors.items[1].id, 0);
}

static uint64_t gone, young, collected;

static uint64_t stands_for(uint64_t id, uint32_t *age)
{
	*age = id != young;
	return id != gone;
}

static uint64_t heap_collected(void)
{
	return collected;
}

/* Stack and thread of an object. */
static void allocate(struct sink_event *e)
{
	struct sample s = {.thread = record->index, .epoch = (uint16_t)method_epoch_now(&zone.epochs)};
	struct stack_trace_writer w;

	assert_true(stack_trace_begin(&w, &zone.store, &chunk, 2048));
	assert_true(stack_trace_put(&w, frame_java(FRAME_INTERPRETED, a, 1)));
	s.trace = stack_trace_end(&w);
	e->node = aggregate_stack(c, &s);
	e->thread = aggregate_thread(c, &s, record) - 1;
	assert_true(e->node);
}

/* What is known to stay, in both halves. */
static uint64_t kept(void)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < c->growth.count; i++)
		sum += c->growth.items[i].halves[0] + c->growth.items[i].halves[1];
	return sum;
}

/* What became of objects is known up to the last collection, whether it has left them or not. */
static void growth_ends_with_the_last_collection(void **state)
{
	struct collect_sources sources = engine_of_collector;
	struct sink_fields f = {.values = {0}};
	struct sink_event e = {.samples = 1, .weight = 1, .fields = &f};
	unsigned id = event_field_of_kind(&c->options.fields[0], EVENT_FIELD_ID), i;

	(void)state;
	sources.stands_for = stands_for;
	sources.heap_collected = heap_collected;
	c->sources = &sources;
	c->options.survived = 1;
	c->open = true;
	collected = 0;
	allocate(&e);
	for (i = 1; i <= 3; i++) {
		f.values[id] = SOURCE_OBJECTS + i;
		e.time = c->opened + i * NS_PER_S;
		assert_true(survivors_add(c, &e));
	}
	gone = SOURCE_OBJECTS + 2;
	young = SOURCE_OBJECTS + 3; /* no collection has seen it */
	survivors_sum(c);
	assert_int_equal(c->growth_span[0], 2 * NS_PER_S);
	assert_int_equal(kept(), 1);
	c->options.survived = 0; /* the young one is shown, but whether it stays is not known either */
	survivors_sum(c);
	assert_int_equal(c->events[0].stored, 2);
	assert_int_equal(c->growth_span[0], 2 * NS_PER_S);
	assert_int_equal(kept(), 1);
	c->options.survived = 1;
	gone = SOURCE_OBJECTS + 3;
	survivors_sum(c);
	assert_int_equal(c->growth_span[0], 3 * NS_PER_S);
	collected = c->opened + 9 * NS_PER_S; /* the program has allocated nothing since */
	survivors_sum(c);
	assert_int_equal(c->growth_span[0], 9 * NS_PER_S);
	c->open = false;
	c->sources = &engine_of_collector;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_newest_of_a_place_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(growth_ends_with_the_last_collection, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
