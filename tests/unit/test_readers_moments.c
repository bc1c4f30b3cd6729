/* Moments: sums stay, whatever is made of the times; and there are never more of them than there may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/model/time/moments.h"

#define S NS_PER_S

struct sums {
	uint64_t samples, weight;
};

static struct sums sums_of(const struct moments *m)
{
	struct sums s = {0, 0};
	size_t i;

	for (i = 0; i < m->items.count; i++) {
		s.samples += m->items.items[i].samples;
		s.weight += m->items.items[i].weight;
	}
	return s;
}

static void times_are_steps(void **state)
{
	struct moments m = {.step = 0};

	moments_add(&m, 2500000, 1600000, 7, 3, 2, 100);
	moments_add(&m, -5, 0, 8, PROFILE_NO_THREAD, 1, 10);
	moments_sort(&m);
	assert_int_equal(m.items.count, 2);
	assert_int_equal(m.step, NS_PER_MS);
	assert_int_equal(m.items.items[0].at, 0);
	assert_int_equal(m.items.items[0].stack, 8);
	assert_int_equal(m.items.items[1].at, 2);
	assert_int_equal(m.items.items[1].span, 1);
	assert_int_equal(m.items.items[1].samples, 2);
	moments_free(&m);
}

/* N samples, at times and of counts that LONG, MANY and THREADS bound. */
static void fill(struct moments *m, uint32_t n, uint64_t length, uint32_t counts, uint32_t threads)
{
	uint64_t seed = 7;
	uint32_t i;

	for (i = 0; i < n; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		moments_add(m, (int64_t)((seed >> 20) % length), i % 5 ? 0 : (seed >> 30) % S, (uint32_t)(seed >> 33) % counts,
			    (uint32_t)(seed >> 40) % threads, 1 + i % 3, 10 + i % 7);
	}
}

static void they_are_never_too_many(void **state)
{
	const struct {
		uint32_t counts, threads;
	} of[] = {{1, 1}, {3, 2}, {200, 1}, {1, 200}, {10, 10}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(of); i++) {
		struct moments few = {.most = 2000}, all = {.step = 0};

		fill(&few, 50000, 3600 * S, of[i].counts, of[i].threads);
		fill(&all, 50000, 3600 * S, of[i].counts, of[i].threads);
		assert_false(few.failed);
		assert_in_range(all.items.count, 45000, 50000); /* some are of one step and place */
		assert_in_range(few.items.count, 1, 2000);
		assert_true(few.step > all.step);
		assert_int_equal(sums_of(&few).samples, sums_of(&all).samples);
		assert_int_equal(sums_of(&few).weight, sums_of(&all).weight);
		moments_free(&few);
		moments_free(&all);
	}
}

/* What lies apart stays apart as long as there is room; and each is where it was, but for a step. */
static void coarser_steps_move_nothing(void **state)
{
	struct moments m = {.most = 100};
	uint32_t i;

	for (i = 0; i < 1000; i++)
		moments_add(&m, (int64_t)i * NS_PER_S, 0, i / 500, 0, 1, 1);
	moments_sort(&m);
	for (i = 0; i < m.items.count; i++) {
		uint64_t from = m.items.items[i].at * m.step, to = from + m.step;

		assert_true(m.items.items[i].stack ? to > 500 * (uint64_t)S : from < 500 * (uint64_t)S);
		assert_true(i == 0 || m.items.items[i - 1].at <= m.items.items[i].at);
	}
	moments_free(&m);
}

static void several_become_one(void **state)
{
	const uint32_t counts[] = {5, 9}, threads[] = {2, 0};
	struct moments to = {.step = 0}, from = {.most = 4}, coarse = {.most = 4};
	uint32_t i;

	moments_add(&to, 3 * NS_PER_MS, 0, 1, 1, 1, 1);
	moments_add(&from, 4 * NS_PER_MS, 0, 1, 0, 2, 20);
	moments_add(&from, 9 * NS_PER_MS, 0, 0, PROFILE_NO_THREAD, 1, 5);
	moments_join(&to, &from, counts, threads);
	moments_sort(&to);
	assert_int_equal(to.items.count, 3);
	assert_int_equal(to.items.items[1].stack, 9);
	assert_int_equal(to.items.items[1].thread, 2);
	assert_int_equal(to.items.items[2].stack, 5);
	assert_int_equal(to.items.items[2].thread, PROFILE_NO_THREAD);
	for (i = 0; i < 64; i++)
		moments_add(&coarse, (int64_t)(i * NS_PER_S), 0, i % 2, i % 2, 1, 1);
	assert_true(coarse.step > to.step);
	moments_join(&to, &coarse, counts, threads);
	assert_int_equal(to.step, coarse.step);
	assert_int_equal(sums_of(&to).samples, 1 + 2 + 1 + 64);
	moments_free(&to);
	moments_free(&from);
	moments_free(&coarse);
}

/* A clock that jumps by centuries is no reason to end. */
static void any_time_fits(void **state)
{
	struct moments m = {.step = 0};

	moments_add(&m, INT64_MAX, UINT64_MAX, 0, 0, UINT64_MAX, UINT64_MAX);
	moments_add(&m, INT64_MIN, 0, 0, 0, 1, 1);
	moments_add(&m, 0, 0, 1, 0, 1, 1);
	moments_sort(&m);
	assert_int_equal(m.items.count, 3);
	assert_int_equal(m.items.items[2].samples, UINT32_MAX);
	moments_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_steps),
		cmocka_unit_test(they_are_never_too_many),
		cmocka_unit_test(coarser_steps_move_nothing),
		cmocka_unit_test(several_become_one),
		cmocka_unit_test(any_time_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
