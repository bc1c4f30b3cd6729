/* Where ticks fall: whatever the rhythm of a program, each part of it is met as often as it is long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/tracing/tick_places.h"

#define TICKS 10000

static double absolute(double x)
{
	return x < 0 ? -x : x;
}

/* What is found of PART ns of each RHYTHM ns, behind PHASE, over what is true. */
static double found(uint64_t seed, uint64_t rhythm, uint64_t part, uint64_t phase)
{
	struct tick_places p;
	unsigned hits = 0;
	uint64_t i;

	tick_places_begin(&p, seed);
	for (i = 0; i < TICKS; i++)
		hits += (i * NS_PER_MS + tick_places_next(&p, NS_PER_MS) + phase) % rhythm < part;
	return (double)hits * (double)rhythm / (double)part / TICKS;
}

static void a_tick_lies_in_its_period(void **state)
{
	struct tick_places p;
	uint64_t at, least = UINT64_MAX, most = 0;
	int i;

	tick_places_begin(&p, 1);
	for (i = 0; i < TICKS; i++) {
		at = tick_places_next(&p, NS_PER_MS);
		least = MIN(least, at);
		most = MAX(most, at);
	}
	assert_true(most < NS_PER_MS && most > 99 * NS_PER_MS / 100 && least < NS_PER_MS / 100);
}

/* Rhythms of a period, a part of it, a few of it: better than chance. */
static void simple_rhythms_are_met_evenly(void **state)
{
	static const struct {
		uint64_t rhythm, part;
		double error;
	} cases[] = {
		{1000000, 300000, 0.02}, {1000000, 150000, 0.02}, {500000, 60000, 0.03}, {2000000, 300000, 0.03},
		{1100000, 300000, 0.03},
	};
	uint64_t seed;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++)
		for (seed = 1; seed <= 20; seed++)
			assert_true(absolute(found(seed, cases[i].rhythm, cases[i].part, seed * 77777) - 1) <
				    cases[i].error);
}

/* Any other: no worse than three times what chance would do, and in the mean right. Those of the numbers themselves, too. */
static void no_rhythm_is_missed(void **state)
{
	static const uint64_t rhythms[] = {618034, 1618034, 1414214, 3300000, 7770000, 10000000, 100000000, 704314, 419821};
	uint64_t seed;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rhythms); i++) {
		uint64_t part = rhythms[i] / 20;
		double chance = 0.0436, sum = 0; /* √(19 ÷ TICKS) */

		for (seed = 1; seed <= 20; seed++) {
			double f = found(seed, rhythms[i], part, seed * 77777);

			assert_true(absolute(f - 1) < 4 * 3 * chance);
			sum += f;
		}
		assert_true(absolute(sum / 20 - 1) < 4 * 3 * chance / 4.47); /* √20 */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tick_lies_in_its_period),
		cmocka_unit_test(simple_rhythms_are_met_evenly),
		cmocka_unit_test(no_rhythm_is_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
