/*
 * Samples of objects that count while their object is there (agent/collect/survivors.c): one for each place, the
 * newest, in whichever order queues bring them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_newest_of_a_place_stays, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
