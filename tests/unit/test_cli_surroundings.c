/* What passed between two looks at a process: quotas group by group, and waiting for a CPU thread by thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/surroundings/surroundings_look.h"

#define GROUP(limit_, throttled_, throttles_, periods_) \
	{.limit = limit_, .throttled = throttled_, .throttles = throttles_, .periods = periods_}

/* A pod with a long history above a container that is stopped now: the container is told, with its own quota. */
static void a_history_hides_no_group(void **state)
{
	const struct look_groups before = {{GROUP(200, 0, 0, 10), GROUP(4000, 6600, 90, 100)}, 2};
	const struct look_groups after = {{GROUP(200, 3000, 40, 50), GROUP(4000, 6600, 90, 140)}, 2};
	const struct look_groups later = {{GROUP(200, 3000, 40, 90), GROUP(4000, 9600, 99, 180)}, 2};
	struct look_group g;

	(void)state;
	assert_true(look_group_between(&before, &after, &g));
	assert_int_equal(g.limit, 200);
	assert_int_equal(g.throttled, 3000);
	assert_int_equal(g.throttles, 40);
	assert_int_equal(g.periods, 40);
	/* the other way round, the outer one is it, though its quota is larger */
	assert_true(look_group_between(&after, &later, &g));
	assert_int_equal(g.limit, 4000);
	assert_int_equal(g.throttles, 9);
}

static void where_none_is_stopped_the_tightest_quota_counts(void **state)
{
	const struct look_groups is = {{GROUP(0, 0, 0, 0), GROUP(1500, 70, 7, 70), GROUP(4000, 70, 7, 70)}, 3};
	const struct look_groups none = {.count = 0}, moved = {{GROUP(100, 0, 0, 0)}, 1};
	struct look_group g;

	(void)state;
	assert_true(look_group_between(&is, &is, &g));
	assert_int_equal(g.limit, 1500);
	assert_int_equal(g.throttled + g.throttles + g.periods, 0);
	assert_false(look_group_between(&none, &none, &g));
	assert_false(look_group_between(&moved, &is, &g));
}

/* ns that a thread waited between two looks a second apart, which say so many µs. */
static uint64_t waited(bool was_there, uint32_t then, uint32_t now)
{
	struct look before = {.at = NS_PER_S, .with_threads = true}, after = {.at = 2 * NS_PER_S, .with_threads = true};
	struct surroundings s = {.known = 0};

	around_set(&after.totals, AROUND_cpu, 1);
	if (was_there)
		*map_put(&before.delays, 7, NULL) = then;
	*map_put(&after.delays, 7, NULL) = now;
	look_difference(&before, &after, &s);
	look_free(&before);
	look_free(&after);
	return around(&s, AROUND_run_delay);
}

static void waiting_for_a_cpu(void **state)
{
	(void)state;
	assert_int_equal(waited(true, 1000, 251000), 250 * NS_PER_MS);
	/* a thread that has waited for over 71 minutes in its life */
	assert_int_equal(waited(true, UINT32_MAX - 999, 249000), 250 * NS_PER_MS);
	assert_int_equal(waited(true, UINT32_MAX, UINT32_MAX), 0);
	/* a new one, and one whose number an older one had */
	assert_int_equal(waited(false, 0, 300000), 300 * NS_PER_MS);
	assert_int_equal(waited(true, 40000000, 300000), 300 * NS_PER_MS);
	/* none waits for longer than there is time */
	assert_int_equal(waited(false, 0, 4000000), NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_history_hides_no_group),
		cmocka_unit_test(where_none_is_stopped_the_tightest_quota_counts),
		cmocka_unit_test(waiting_for_a_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
