/*
 * Intervals of changes, against draws whose truth is known: with a fixed seed, so that they are the same each time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "profile/model/compare/chance.h"

static uint64_t seed;

static double drawn(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / (double)(1ull << 53);
}

/* About normal, of variance 1. */
static double normal(void)
{
	double sum = 0;
	int i;

	for (i = 0; i < 12; i++)
		sum += drawn();
	return sum - 6;
}

static void deviations(void **state)
{
	static const struct {
		double tail, deviations;
	} known[] = {{0.3173105, 1}, {0.05, 1.959964}, {0.01, 2.575829}, {0.001, 3.290527}, {1e-5, 4.417173}, {1e-9, 6.109410}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(known); i++)
		assert_true(fabs(chance_deviations(known[i].tail) - known[i].deviations) < 1e-3);
	assert_true(fabs(chance_of_all(1) - chance_deviations(0.05)) < 1e-12);
	assert_true(fabs(chance_of_all(50) - 3.290527) < 1e-3);
	assert_true(chance_of_all(0) == chance_of_all(1));
}

/* A share of independent samples is binomial. */
static void share_variance(void **state)
{
	assert_true(fabs(chance_share_variance(200, 200, 1000, 1000) - 0.2 * 0.8 / 1000) < 1e-12);
	assert_true(fabs(chance_share_variance(200, 400, 1000, 2000) - 2 * 0.2 * 0.8 / 1000) < 1e-12);
	assert_true(chance_share_variance(0, 0, 0, 0) == 0);
	/* what is all of it is all of it each time */
	assert_true(chance_share_variance(1000, 1000, 1000, 1000) == 0);
}

#define ROWS 24
#define SAMPLES 4000
#define TRIALS 800

/* A run: samples come in CLUMP equal ones, its methods' costs are off by OFF of themselves, all of it by ALIKE. */
struct kind {
	double clump, off, alike;
};

static void run(struct chance_run *r, struct chance_row *rows, const double shares[ROWS], const struct kind *k)
{
	double costs[ROWS], sum = 0, at;
	int i, n;

	for (i = 0; i < ROWS; i++)
		sum += costs[i] = shares[i] * (1 + k->off * normal());
	memset(rows, 0, ROWS * sizeof(*rows));
	for (n = 0; n < SAMPLES / k->clump; n++) {
		at = drawn() * sum;
		for (i = 0; i < ROWS - 1 && at >= costs[i]; i++)
			at -= costs[i];
		rows[i].amount += k->clump;
	}
	*r = (struct chance_run){.whole = SAMPLES, .variance = CHANCE_JAVA * SAMPLES,
				 .per = 10 * (1 + k->alike * normal()) / sum};
	for (i = 0; i < ROWS; i++) {
		rows[i].variance = CHANCE_JAVA * (rows[i].amount + 1);
		rows[i].share_variance = chance_share_variance(rows[i].amount, rows[i].variance, r->whole, r->variance);
	}
}

/* Few large methods and many small ones; the whole is 1. */
static void make_shares(double shares[ROWS])
{
	double sum = 0;
	int i;

	for (i = 0; i < ROWS; i++)
		sum += shares[i] = 1.0 / (i + 1);
	for (i = 0; i < ROWS; i++)
		shares[i] /= sum;
}

/* In how many of TRIALS pairs each of: any row is beyond chance, row 3 is, and any interval misses the truth. */
static void play(const double before[ROWS], const double after[ROWS], const struct kind *k, bool by_share, int *any,
		 int *third, int *missed)
{
	double deviations = chance_of_all(ROWS), sum[2] = {0, 0};
	struct chance_row rows[2][ROWS];
	struct chance_run runs[2];
	int trial, i;

	*any = *third = *missed = 0;
	for (i = 0; i < ROWS; i++) {
		sum[0] += before[i];
		sum[1] += after[i];
	}
	for (trial = 0; trial < TRIALS; trial++) {
		bool beyond = false, misses = false;

		run(&runs[0], rows[0], before, k);
		run(&runs[1], rows[1], after, k);
		for (i = 0; i < ROWS; i++) {
			struct chance_row pair[2] = {rows[0][i], rows[1][i]};
			struct chance_change c = chance_row(runs, pair, deviations, by_share);
			double truth = by_share ? after[i] / sum[1] - before[i] / sum[0] :
						  SAMPLES / 10.0 * (after[i] - before[i]);

			beyond |= c.beyond;
			*third += i == 3 && c.beyond;
			misses |= truth < c.low || truth > c.high;
		}
		*any += beyond;
		*missed += misses;
	}
}

static void equal_runs(void **state)
{
	static const struct kind kinds[] = {
		{1, 0, 0}, {2, 0, 0}, {1, CHANCE_OF_ROW, CHANCE_OF_WHOLE}, {2, CHANCE_OF_ROW, CHANCE_OF_WHOLE}};
	double shares[ROWS];
	int any, third, missed, share;
	size_t k;

	make_shares(shares);
	seed = 88172645463325252ull;
	for (k = 0; k < ARRAY_LEN(kinds); k++)
		for (share = 0; share < 2; share++) {
			play(shares, shares, &kinds[k], share, &any, &third, &missed);
			assert_true(any <= TRIALS / 20);
			assert_true(missed <= TRIALS / 20);
		}
	/* a slower machine is no change of any method */
	play(shares, shares, &(struct kind){1, 0, 0.3}, false, &any, &third, &missed);
	assert_true(any <= TRIALS / 20);
}

/* Row 3 (6.6 % of the whole) costs half as much again: it is found, and the intervals hold what is true. */
static void changed_runs(void **state)
{
	const struct kind kind = {2, CHANCE_OF_ROW / 2, CHANCE_OF_WHOLE};
	double before[ROWS], after[ROWS];
	int any, third, missed;

	make_shares(before);
	memcpy(after, before, sizeof(after));
	after[3] *= 2;
	seed = 362436069362436069ull;
	play(before, after, &kind, false, &any, &third, &missed);
	assert_true(third >= TRIALS * 9 / 10);
	assert_true(missed <= TRIALS / 20);
	/* and the other way: a fall is seen as well as a rise */
	play(after, before, &kind, false, &any, &third, &missed);
	assert_true(third >= TRIALS * 9 / 10);
	play(before, after, &kind, true, &any, &third, &missed);
	assert_true(third >= TRIALS * 9 / 10);
	assert_true(missed <= TRIALS / 20);
}

/* The share moves because another row grew: the rate of this one has not changed. */
static void both_conditions(void **state)
{
	const struct chance_run runs[] = {{10000, 10000, 1, 0}, {20000, 20000, 1, 0}};
	struct chance_row same[] = {{5000, 5000, 0}, {5000, 5000, 0}}, more[] = {{5000, 5000, 0}, {15000, 15000, 0}};
	int i;

	for (i = 0; i < 2; i++) {
		same[i].share_variance = chance_share_variance(same[i].amount, same[i].variance, runs[i].whole, runs[i].variance);
		more[i].share_variance = chance_share_variance(more[i].amount, more[i].variance, runs[i].whole, runs[i].variance);
	}
	assert_false(chance_row(runs, same, 3, false).beyond);
	assert_true(chance_row(runs, same, 3, true).beyond);
	assert_true(chance_row(runs, more, 3, false).beyond);
	assert_true(chance_whole(runs, 3).beyond && chance_whole(runs, 3).low > 0);
}

#define LOCKS 6

/* Waits at LOCKS locks in one run, COUNT each, long ones seldom (Pareto, ALPHA); those at the last lock TIMES as long. */
static void wait_run(struct chance_run *r, struct chance_row rows[LOCKS], int count, double alpha, double times)
{
	int i, n;

	*r = (struct chance_run){.per = 1, .uneven = CHANCE_OF_WAITS};
	for (i = 0; i < LOCKS; i++) {
		rows[i] = (struct chance_row){.amount = 0};
		for (n = 0; n < count; n++)
			rows[i].amount += (i == LOCKS - 1 ? times : 1) * pow(1 - drawn(), -1 / alpha);
		rows[i].variance = CHANCE_JAVA * rows[i].amount * rows[i].amount / count;
		r->whole += rows[i].amount;
		r->variance += rows[i].variance;
	}
	for (i = 0; i < LOCKS; i++)
		rows[i].share_variance = chance_share_variance(rows[i].amount, rows[i].variance, r->whole, r->variance);
}

/* In how many of TRIALS pairs the whole is beyond chance, any lock is, and the last one is. */
static void wait_pairs(int count, double alpha, double times, int *whole, int *any, int *last)
{
	double deviations = chance_of_all(LOCKS);
	struct chance_row of[2][LOCKS];
	struct chance_run runs[2];
	int trial, i;

	*whole = *any = *last = 0;
	for (trial = 0; trial < TRIALS; trial++) {
		bool one = false;

		wait_run(&runs[0], of[0], count, alpha, 1);
		wait_run(&runs[1], of[1], count, alpha, times);
		for (i = 0; i < LOCKS; i++) {
			const struct chance_row pair[2] = {of[0][i], of[1][i]};
			bool beyond = chance_row(runs, pair, deviations, false).beyond;

			one |= beyond;
			*last += i == LOCKS - 1 && beyond;
		}
		*any += one;
		*whole += chance_whole(runs, chance_of_all(1)).beyond;
	}
}

/* A few long waits are most of the sum: equal runs have other ones. What is many times as long is found all the same. */
static void waits_of_unequal_length(void **state)
{
	static const struct {
		int count;
		double alpha;
	} kinds[] = {{50, 1.2}, {500, 1.2}, {2000, 1.5}, {500, 3}};
	int whole, any, last;
	size_t k;

	seed = 88172645463325252ull;
	for (k = 0; k < ARRAY_LEN(kinds); k++) {
		wait_pairs(kinds[k].count, kinds[k].alpha, 1, &whole, &any, &last);
		print_message("%d waits, %.1f: whole %d, any lock %d of %d equal pairs\n", kinds[k].count, kinds[k].alpha,
			      whole, any, TRIALS);
		assert_true(any <= TRIALS / 12 && whole <= TRIALS / 20); /* of the first two, nearly the longest alone count */
	}
	wait_pairs(2000, 3, 10, &whole, &any, &last);
	print_message("ten times as long: %d of %d\n", last, TRIALS);
	assert_true(last >= TRIALS * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deviations), cmocka_unit_test(share_variance), cmocka_unit_test(equal_runs),
		cmocka_unit_test(changed_runs), cmocka_unit_test(both_conditions),
		cmocka_unit_test(waits_of_unequal_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
