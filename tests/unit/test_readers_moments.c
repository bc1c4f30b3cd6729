/* Moments: sums stay, whatever is made of the times; and there are never more of them than there may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/model/time/moment_order.h"
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

/* Numbers that differ in few bits, in all, and those that stand for none. */
static uint32_t some_number(uint64_t *seed, uint32_t kind)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return kind == 0 ? 5 : kind == 1 ? (uint32_t)(*seed >> 40) % 3 : kind == 2 ? (uint32_t)(*seed >> 32) :
	       *seed >> 60 ? (uint32_t)(*seed >> 33) % 5000 : UINT32_MAX;
}

static bool comes_after(const uint32_t *x, const uint32_t *y)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		if (x[i] != y[i])
			return x[i] > y[i];
	return false;
}

/* Few and many, each field of each kind: what stands beside each other is in order, and nothing is lost. */
static void they_are_put_into_order(void **state)
{
	static const size_t numbers[] = {0, 1, 2, 64, 65, 3000};
	struct profile_moment items[3000];
	uint64_t seed = 3, sum, found;
	size_t n, i;
	uint32_t kind;

	for (n = 0; n < ARRAY_LEN(numbers); n++)
		for (kind = 0; kind < 256; kind++) {
			for (i = 0, sum = 0; i < numbers[n]; i++) {
				items[i] = (struct profile_moment){some_number(&seed, kind & 3), some_number(&seed, kind >> 2 & 3),
					some_number(&seed, kind >> 4 & 3), some_number(&seed, kind >> 6), 1, i * i};
				sum += items[i].at ^ items[i].span * 3u ^ items[i].stack * 5u ^ items[i].thread * 7u ^ i * i;
			}
			moment_order_time(items, numbers[n]);
			for (i = 1; i < numbers[n]; i++)
				assert_false(comes_after((uint32_t[]){items[i - 1].at, items[i - 1].stack, items[i - 1].thread,
								      items[i - 1].span},
							 (uint32_t[]){items[i].at, items[i].stack, items[i].thread,
								      items[i].span}));
			moment_order_place(items, numbers[n]);
			for (i = 1; i < numbers[n]; i++)
				assert_true(moment_order_compare_place(&items[i - 1], &items[i]) <= 0);
			for (i = 0, found = 0; i < numbers[n]; i++)
				found += items[i].at ^ items[i].span * 3u ^ items[i].stack * 5u ^ items[i].thread * 7u ^ items[i].weight;
			assert_int_equal(found, sum);
		}
}

/* Many at once are what they are one by one. */
static void many_are_added_at_once(void **state)
{
	enum { MANY = 1000 };
	static struct moment_seen seen[MANY];
	struct moments one = {.most = 300}, all = {.most = 300};
	uint64_t seed = 11;
	uint32_t i;

	for (i = 0; i < MANY; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		seen[i] = (struct moment_seen){(int64_t)(i * S / 10), i % 9 ? 0 : S, (uint32_t)(seed >> 40) % 7,
					       i % 50 ? 0 : PROFILE_NO_THREAD, 1, i};
		moments_add(&one, seen[i].at, seen[i].span, seen[i].count, seen[i].thread, 1, i);
	}
	moments_add_all(&all, seen, MANY);
	moments_sort(&one);
	moments_sort(&all);
	assert_int_equal(one.step, all.step);
	assert_int_equal(one.items.count, all.items.count);
	for (i = 0; i < one.items.count; i++) {
		assert_int_equal(moment_order_compare_place(&one.items.items[i], &all.items.items[i]), 0);
		assert_int_equal(one.items.items[i].weight, all.items.items[i].weight);
	}
	assert_int_equal(sums_of(&all).weight, (uint64_t)MANY * (MANY - 1) / 2);
	moments_free(&one);
	moments_free(&all);
}

/* Sample I at I × EVERY of N counts, so that they are too many for M. */
static void one_after_the_other(struct moments *m, uint32_t from, uint32_t to, uint64_t every)
{
	uint32_t i;

	for (i = from; i < to; i++)
		moments_add(m, (int64_t)(i * every), 0, i % 5, 0, 1, 1);
}

static uint64_t sum_of(const struct fine_counts *f)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < f->counts.count; i++)
		sum += f->counts.items[i];
	return sum;
}

/* Where steps have become long it is still known when there were samples; where they are short nothing is counted. */
static void fine_counts_stay(void **state)
{
	struct moments m = {.most = 1000};
	size_t i;

	one_after_the_other(&m, 0, 1000, S / 10);
	assert_int_equal(m.fine.step, 0);
	one_after_the_other(&m, 1000, 20000, S / 10);
	assert_true(m.step > FINE_STEP);
	assert_false(m.fine.given_up);
	assert_int_equal(m.fine.step, FINE_STEP);
	assert_int_equal(sum_of(&m.fine), 20000);
	for (i = 0; i < m.fine.counts.count; i++)
		assert_int_equal(m.fine.counts.items[i], i % 5 == 0);
	moments_add(&m, 0, S, 0, 0, 10, 10); /* lasts: it is no count of a step */
	assert_true(m.fine.given_up);
	assert_int_equal(m.fine.counts.count, 0);
	moments_free(&m);
}

/* Of two, either or both of which have them: each sample once. */
static void fine_counts_of_several(void **state)
{
	const uint32_t counts[] = {0, 1, 2, 3, 4}, threads[] = {0};
	uint32_t a, b;
	size_t i;

	for (a = 500; a <= 5000; a += 4500)
		for (b = 500; b <= 5000; b += 4500) {
			struct moments to = {.most = 1000}, from = {.most = 1000};

			one_after_the_other(&to, 0, a, S / 10);
			one_after_the_other(&from, a, a + b, S / 10);
			moments_join(&to, &from, counts, threads);
			assert_int_equal(sums_of(&to).samples, a + b);
			assert_int_equal(to.fine.step, a + b > 1000 ? FINE_STEP : 0);
			assert_int_equal(sum_of(&to.fine), a + b > 1000 ? a + b : 0);
			for (i = 0; i < to.fine.counts.count; i++)
				assert_int_equal(to.fine.counts.items[i], i % 5 == 0);
			moments_free(&to);
			moments_free(&from);
		}
}

/* A week, and a clock that jumps by centuries. */
static void fine_counts_are_bounded(void **state)
{
	struct fine_counts f = {.step = 0};
	uint64_t i;

	fine_counts_add(&f, 5, 1);
	assert_int_equal(f.counts.count, 0);
	fine_counts_begin(&f);
	for (i = 0; i < 7 * 24 * 3600; i++)
		fine_counts_add(&f, i * S, 2);
	assert_int_equal(f.step, 8 * FINE_STEP);
	assert_in_range(f.counts.count, FINE_MOST / 2, FINE_MOST);
	assert_int_equal(sum_of(&f), 2 * 7 * 24 * 3600);
	for (i = 0; i < 7 * 24 * 3600; i += 997)
		assert_true(f.counts.items[i * S / f.step] >= 2);
	fine_counts_add(&f, INT64_MAX, 3);
	assert_int_equal(sum_of(&f), 2 * 7 * 24 * 3600 + 3);
	assert_in_range(f.counts.count, 1, FINE_MOST);
	fine_counts_add(&f, INT64_MAX, UINT32_MAX);
	assert_true(f.given_up);
	fine_counts_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_steps),
		cmocka_unit_test(they_are_never_too_many),
		cmocka_unit_test(coarser_steps_move_nothing),
		cmocka_unit_test(several_become_one),
		cmocka_unit_test(any_time_fits),
		cmocka_unit_test(they_are_put_into_order),
		cmocka_unit_test(many_are_added_at_once),
		cmocka_unit_test(fine_counts_stay),
		cmocka_unit_test(fine_counts_of_several),
		cmocka_unit_test(fine_counts_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
