/*
 * What a sampled object stands for, against libm's expm1 and against samples drawn as HotSpot draws them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "agent/sources/alloc_weight.h"
#include "common/base/base.h"
#include "common/base/random.h"

static void chance(void **state)
{
	double x;

	(void)state;
	for (x = 1e-9; x < 100; x *= 1.01)
		if (fabs(alloc_chance(x) / -expm1(-x) - 1) > 1e-11)
			fail_msg("at %g: %.17g, not %.17g", x, alloc_chance(x), -expm1(-x));
	assert_int_equal(alloc_weight(0, 512), 0);
	assert_int_equal(alloc_weight(24, 0), 24);
	assert_int_equal(alloc_weight(24, 1), 24);
	assert_int_equal(alloc_weight(100u << 20, 512u << 10), 100u << 20);
	assert_in_range(alloc_weight(16, 512u << 10), (512u << 10) + 7, (512u << 10) + 9); /* I + S/2 */
}

#define INTERVAL (512.0 * 1024)
#define OBJECTS 4000000u

static double uniform(uint64_t *seed)
{
	return ((double)random_below(seed, 1ull << 53) + 0.5) / (double)(1ull << 53);
}

/* Objects of one size until so many; what passes the drawn point begins a new distance, the rest of it is not used. */
static double drawn(uint64_t size, uint64_t *samples)
{
	double left = 0, sum = 0;
	uint64_t seed = random_seed(size), i;

	*samples = 0;
	left = -log(uniform(&seed)) * INTERVAL;
	for (i = 0; i < OBJECTS; i++) {
		left -= (double)size;
		if (left > 0)
			continue;
		sum += (double)alloc_weight(size, (uint64_t)INTERVAL);
		++*samples;
		left = -log(uniform(&seed)) * INTERVAL;
	}
	return sum / ((double)OBJECTS * (double)size);
}

/* From a thousandth of the interval to three of them: the bias of each is within four standard errors of 0. */
static void no_bias(void **state)
{
	static const double of_interval[] = {0.001, 0.01, 0.1, 0.5, 1, 2, 3};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(of_interval); i++) {
		uint64_t samples, size = (uint64_t)(of_interval[i] * INTERVAL);
		double off = drawn(size, &samples) - 1;
		double error = sqrt(exp(-(double)size / INTERVAL) / (double)samples);

		print_message("%.3f of the interval: %+.3f %%, %llu samples\n", of_interval[i], 100 * off,
			      (unsigned long long)samples);
		assert_true(fabs(off) < 4 * error);
		assert_true(i < 2 || fabs(off) < 0.01);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(chance), cmocka_unit_test(no_bias)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
