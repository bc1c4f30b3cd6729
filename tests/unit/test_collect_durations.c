/* Percentiles against the sorted truth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "agent/collect/durations.h"
#include "common/base/hash.h"
#include "common/base/map.h"

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* At most one bucket (a sixteenth) too high, never too low, never above the maximum. */
static void close_to(uint64_t reported, uint64_t truth, uint64_t max)
{
	if (reported < truth || reported > truth + truth / 16 || reported > max)
		fail_msg("%llu reported for %llu", (unsigned long long)reported, (unsigned long long)truth);
}

static void against_sorted(uint64_t (*draw)(uint64_t i), size_t count)
{
	uint64_t *values = malloc(count * sizeof(*values));
	struct timing *t = calloc(1, sizeof(*t));
	struct profile_timing out;
	unsigned __int128 sum = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		values[i] = draw(i);
		sum += values[i];
		timing_add(t, values[i]);
	}
	qsort(values, count, sizeof(*values), ascending);
	timing_report(t, &out);
	assert_int_equal(out.count, count);
	assert_true(out.max == values[count - 1]);
	assert_true(out.mean == (uint64_t)(sum / count));
	close_to(out.p99, values[(size_t)((double)count * 0.99)], out.max);
	close_to(out.p999, values[(size_t)((double)count * 0.999)], out.max);
	free(values);
	free(t);
}

static uint64_t small(uint64_t i) { return i % 16; }
static uint64_t even(uint64_t i) { return hash_mix(i) % 1000000; }
static uint64_t wide(uint64_t i) { return hash_mix(i) >> (hash_mix(~i) % 50 + 14); }
static uint64_t powers(uint64_t i) { return 1ull << i % 50; }
static uint64_t rare(uint64_t i) { return i % 1000 == 0 ? 1000000000 : 2000 + i % 500; }

static void percentiles(void **state)
{
	against_sorted(small, 5000);
	against_sorted(even, 50000);
	against_sorted(wide, 50000);
	against_sorted(powers, 5000);
	against_sorted(rare, 20000);
	against_sorted(even, 1);
	against_sorted(even, 2);
	against_sorted(wide, 99);
}

static void extremes(void **state)
{
	struct timing *t = calloc(1, sizeof(*t));
	struct profile_timing out;

	timing_report(t, &out);
	assert_true(out.count == 0 && out.mean == 0 && out.p99 == 0 && out.p999 == 0 && out.max == 0);
	timing_add(t, UINT64_MAX);
	timing_report(t, &out);
	assert_true(out.p99 == UINT64_MAX && out.max == UINT64_MAX);
	memset(t, 0, sizeof(*t));
	timing_add(t, 0);
	timing_report(t, &out);
	assert_true(out.count == 1 && out.p999 == 0 && out.max == 0);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(percentiles), cmocka_unit_test(extremes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
