/* Differences of profiles in which names are spelled alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "profile/writers/diff.h"

/* A method without a class is how a collapsed stack has "foo"; memset is libc's and the kernel's. */
static const struct profile_frame frames[] = {
	{.name = "foo", .library = "libfoo.so", .kind = FRAME_NATIVE},
	{.name = "foo", .kind = FRAME_OTHER},
	{.name = "memset", .library = "libc.so.6", .kind = FRAME_NATIVE},
	{.name = "memset", .kind = FRAME_KERNEL},
};
static const uint32_t native[] = {0}, other[] = {1}, user[] = {2}, fault[] = {2, 3};

#define STACK(list, n, ns) {list, ARRAY_LEN(list), PROFILE_NO_THREAD, n, ns, THREAD_NONE, 0, 0, 0}

static struct profile profile_of(const struct profile_stack *stacks, uint32_t count)
{
	return (struct profile){.event = "cpu", .engine = "perf", .main_class = "", .jdk = "", .frames = frames,
				.frame_count = ARRAY_LEN(frames), .stacks = stacks, .stack_count = count};
}

static void alike_are_one(void **state)
{
	static const struct profile_stack before[] = {STACK(native, 20, 200), STACK(other, 5, 50)};
	static const struct profile_stack after[] = {STACK(user, 10, 100), STACK(fault, 5, 50)};
	struct profile one = profile_of(before, ARRAY_LEN(before)), two = profile_of(after, ARRAY_LEN(after));
	struct diff d = {.before = &one, .after = &two, .before_name = "a", .after_name = "b", .by_weight = true};
	struct buffer out = BUFFER_INIT;

	diff_json(&d, &out);
	buffer_putc(&out, '\0');
	assert_int_equal(out.failed, 0);
	assert_non_null(strstr(out.data, "\"samples\": 0, \"total\": 250}"));
	assert_non_null(strstr(out.data, "{\"name\": \"foo\", \"self_before\": 250, \"self_after\": 0, "
					 "\"total_before\": 250, \"total_after\": 0, "));
	/* once a stack, though it stands in it twice */
	assert_non_null(strstr(out.data, "{\"name\": \"memset\", \"self_before\": 0, \"self_after\": 150, "
					 "\"total_before\": 0, \"total_after\": 150, "));
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(alike_are_one)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
