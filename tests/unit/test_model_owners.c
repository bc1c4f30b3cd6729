/* Waits by who held the lock: all of them, once, whether a stack was taken or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format_sample.h"

#define MS 1000000ull

/* Two threads are called "worker"; of one of them, and of "gone", no stack was taken. */
static const struct profile_waits owners[] = {
	{.name = "worker", .waits = 6, .time = 60 * MS}, {.name = "worker", .waits = 4, .time = 50 * MS},
	{.name = "gone", .waits = 3, .time = 30 * MS}, {.name = "", .waits = 2, .time = 20 * MS},
};
static const struct profile_waits holders[] = {
	{.name = "worker", .waits = 3, .time = 30 * MS, .frames = sample_put, .depth = ARRAY_LEN(sample_put)},
	{.name = "worker", .waits = 1, .time = 10 * MS, .frames = sample_gc, .depth = ARRAY_LEN(sample_gc)},
	{.name = "beyond", .waits = 1, .time = 5 * MS, .frames = sample_gc, .depth = ARRAY_LEN(sample_gc)},
};

static void by_owner(const char *format, const struct format_options *options, struct buffer *out)
{
	static const struct profile_stack stack = {sample_put, ARRAY_LEN(sample_put), PROFILE_NO_THREAD, 20, 200 * MS,
						   THREAD_BLOCKED, 0, 0, 0};
	struct profile p = {
		.event = "lock", .engine = "lock", .main_class = "", .jdk = "", .weight_kind = WEIGHT_WAIT, .taken = 20, .stored = 20,
		.weight_stored = 200 * MS, .frames = sample_frames, .frame_count = ARRAY_LEN(sample_frames),
		.stacks = &stack, .stack_count = 1, .owners = owners, .owner_count = ARRAY_LEN(owners),
		.holders = holders, .holder_count = ARRAY_LEN(holders),
	};
	const struct profile *profiles[] = {&p};

	format_write(format_by_name(format), profiles, 1, options, out, NULL);
	buffer_putc(out, '\0');
	assert_int_equal(out->failed, 0);
}

static void all_of_them_once(void **state)
{
	const struct format_options options = {.owners = true, .total = true};
	struct buffer out = BUFFER_INIT;

	(void)state;
	by_owner("collapsed", &options, &out);
	assert_string_equal(out.data,
			    "[gone] 30000000\n"
			    "[no_owner] 40000000\n"
			    "[others] 20000000\n"
			    "[worker] 70000000\n"
			    "[worker];start_thread;G1ParScanThreadState::copy_to_survivor_space(G1HeapRegionAttr, oopDesc*) "
			    "10000000\n"
			    "[worker];start_thread;demo/OrderService.run;java/util/HashMap.put 30000000\n");
	buffer_free(&out);
}

static void filters_hold(void **state)
{
	const struct format_options options = {.owners = true, .include = "[gone]\n*HashMap*"};
	struct buffer out = BUFFER_INIT;

	(void)state;
	by_owner("collapsed", &options, &out);
	assert_string_equal(out.data, "[gone] 3\n[worker];start_thread;demo/OrderService.run;java/util/HashMap.put 3\n");
	buffer_free(&out);
}

static void not_asked_for(void **state)
{
	const struct format_options options = {.total = true};
	struct buffer out = BUFFER_INIT;

	(void)state;
	by_owner("collapsed", &options, &out);
	assert_string_equal(out.data, "start_thread;demo/OrderService.run;java/util/HashMap.put 200000000\n");
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_them_once), cmocka_unit_test(filters_hold), cmocka_unit_test(not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
