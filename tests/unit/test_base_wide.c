/* common/base/wide.h: the way for CPUs without 128-bit numbers gives what those numbers give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/wide.h"

static uint64_t draw(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	/* all lengths */
	return state >> (state % 61);
}

static void both_ways_agree(void **state)
{
	int i;

	for (i = 0; i < 200000; i++) {
		uint64_t a = draw(), b = draw(), d = draw() | 1;
		struct wide plain = wide_product_by_halves(a, b), good = wide_product(a, b);

		assert_true(plain.high == good.high && plain.low == good.low);
		assert_true(wide_divide_by_bits(good, d) == wide_divide(good, d));
	}
}

static void ends_of_the_range(void **state)
{
	struct wide p = wide_product_by_halves(UINT64_MAX, UINT64_MAX);

	assert_true(p.high == UINT64_MAX - 1 && p.low == 1);
	assert_true(wide_divide_by_bits(p, UINT64_MAX) == UINT64_MAX);
	assert_true(wide_scale(UINT64_MAX, 2, 0, 1) == UINT64_MAX);
	assert_true(wide_scale(7, 3, 4, 5) == 5);
	assert_true(wide_scale(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

static void times_are_converted(void **state)
{
	assert_true(wide_convert(150, 100, NS_PER_S, 1000, 7) == 50 * (int64_t)NS_PER_MS + 7);
	assert_true(wide_convert(50, 100, NS_PER_S, 1000, 7) == -50 * (int64_t)NS_PER_MS + 7);
	assert_true(wide_convert(99, 100, 1, 2, 7) == 7);
	assert_true(wide_convert(INT64_MAX, INT64_MIN, NS_PER_S, 1, 0) == INT64_MAX);
	assert_true(wide_convert(INT64_MIN, INT64_MAX, NS_PER_S, 1, 0) == INT64_MIN);
	assert_true(wide_convert(0, 1, 1, 1, INT64_MIN) == INT64_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways_agree),
		cmocka_unit_test(ends_of_the_range),
		cmocka_unit_test(times_are_converted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
