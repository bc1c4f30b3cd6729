/* Periods that vary: within bounds, and weights right for threads of any length, whatever samples make them do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "agent/zone/jitter.h"

#define INTERVAL 10000000ll
#define LIVES 200000

/* A thread that is sampled. */
struct thread {
	struct jitter jitter;
	uint64_t period;
};

static void begin(struct thread *t, uint64_t word)
{
	t->period = jitter_begin(&t->jitter, word, INTERVAL);
}

/* Its period is over: the sample's weight. */
static uint64_t sampled(struct thread *t, bool may_react)
{
	uint64_t weight = jitter_weight(&t->jitter, INTERVAL, t->period, t->period, true);

	jitter_next(&t->jitter, INTERVAL, may_react, &t->period);
	return weight;
}

static void drawn(void **state)
{
	struct jitter j = {.seed = random_seed(1)};
	uint64_t low = UINT64_MAX, high = 0, sum = 0, longer = 0, i;

	for (i = 0; i < LIVES; i++) {
		uint64_t period = jitter_draw(&j, INTERVAL);

		low = MIN(low, period);
		high = MAX(high, period);
		sum += period;
		longer += period > INTERVAL;
	}
	assert_true(low >= jitter_quiet(INTERVAL) && low < jitter_quiet(INTERVAL) + INTERVAL / 100);
	assert_true(high > 5 * INTERVAL && high < JITTER_LONGEST * INTERVAL);
	assert_in_range(sum / LIVES, INTERVAL / 100 * 99, INTERVAL / 100 * 101);
	/* 1 in e */
	assert_in_range(longer, LIVES * 0.36, LIVES * 0.376);
}

/* Periods that are kept: near the interval, another one for each thread, and after a while for the same one. */
static void kept(void **state)
{
	uint64_t low = UINT64_MAX, high = 0, i, n;

	for (i = 0; i < 2000; i++) {
		struct thread t;
		uint64_t first;

		begin(&t, i);
		assert_true(t.period >= 1 && t.period <= t.jitter.keep);
		sampled(&t, false);
		first = t.period;
		for (n = 1; n < JITTER_KEEP; n++) {
			assert_true(t.period == first);
			assert_true(sampled(&t, false) == first);
		}
		sampled(&t, false);
		assert_true(t.period != first);
		low = MIN(low, MIN(first, t.period));
		high = MAX(high, MAX(first, t.period));
	}
	assert_in_range(low, INTERVAL / 10 * 9, INTERVAL / 100 * 91);
	assert_in_range(high, INTERVAL / 100 * 109, INTERVAL / 10 * 11);
}

/* One that may have changed what the thread does: drawn ones follow, then the thread's own again. */
static void lately(void **state)
{
	struct thread t;
	uint64_t n;

	begin(&t, 7);
	sampled(&t, false);
	assert_int_equal(t.jitter.kind, JITTER_KEPT);
	sampled(&t, true);
	for (n = 0; n < JITTER_LATELY - 1; n++) {
		assert_int_equal(t.jitter.kind, JITTER_DRAWN);
		sampled(&t, false);
	}
	assert_int_equal(t.jitter.kind, JITTER_DRAWN);
	sampled(&t, false);
	assert_int_equal(t.jitter.kind, JITTER_KEPT);
	assert_true(t.period == t.jitter.keep);
}

/* What the samples of a thread weigh that uses USED in its life, a KERNEL-th (0: none) of them in the kernel. */
static double life(uint64_t word, uint64_t used, uint64_t kernel)
{
	uint64_t at, dice = random_seed(word);
	struct thread t;
	double weight = 0;

	begin(&t, word);
	for (at = t.period; at <= used; at += t.period)
		weight += (double)sampled(&t, kernel && random_below(&dice, kernel) == 0);
	return weight;
}

/* Right on average, whatever the length; and a long one's never off by much. */
static void weights_of(uint64_t kernel)
{
	static const uint64_t lengths[] = {100000, 1000000, 2000000, 4000000, 6000000, 10000000, 11000000, 15000000,
					   40000000, 10000000000};
	uint64_t i, n;

	for (i = 0; i < ARRAY_LEN(lengths); i++) {
		uint64_t lives = LIVES / (1 + lengths[i] / INTERVAL);
		double sum = 0, one, known = (double)lengths[i], off;

		for (n = 0; n < lives; n++) {
			one = life(i * LIVES + n, lengths[i], kernel);
			sum += one;
			if (fabs(one - known) > (kernel ? 25 : 1.11) * INTERVAL)
				fail_msg("a thread of %f: %f", known, one);
		}
		/* half an interval where periods are drawn at its end; and ten times what chance does to the mean */
		off = fabs(sum / (double)lives - known) - 0.04 * MIN(known, 13.0 * INTERVAL);
		if (off > 0 && off * off > 100 * MIN(known, 3.0 * INTERVAL) * INTERVAL / (double)lives)
			fail_msg("threads of %f, %llu: %f", known, (unsigned long long)kernel, sum / (double)lives);
	}
}

static void weights(void **state)
{
	weights_of(0);
	weights_of(3);
	weights_of(50);
}

/*
 * A thread that calls something which each sample ends, and then computes: shares of both against its own clock. With a
 * fixed period one of them is hardly seen.
 */
static void feedback_of(uint64_t call, uint64_t compute)
{
	double time[2] = {0}, seen[2] = {0}, known, shown;
	struct thread t;
	uint64_t left, n;

	begin(&t, call + compute);
	left = t.period;
	for (n = 0; n < LIVES;) {
		unsigned in;

		for (in = 0; in < 2; in++) {
			uint64_t rest = in ? compute : call;

			while (rest) {
				uint64_t step = MIN(rest, left);

				time[in] += (double)step;
				rest -= step;
				left -= step;
				if (left)
					continue;
				seen[in] += (double)sampled(&t, in == 0);
				left = t.period;
				rest = in ? rest : 0;
				n++;
			}
		}
	}
	known = time[0] / (time[0] + time[1]);
	shown = seen[0] / (seen[0] + seen[1]);
	print_message("calls of %llu, %llu apart: %.3f of the time, %.3f shown\n", (unsigned long long)call,
		      (unsigned long long)compute, known, shown);
	assert_true(fabs(known - shown) < 0.03);
}

static void feedback(void **state)
{
	static const uint64_t call[] = {2000000, 10000000, 7000000, 30000000, 1000000000, 1000000000, 1000000000};
	static const uint64_t compute[] = {8000000, 8000000, 33000000, 3300000, 8000000, 100000000, 600000000};
	uint64_t i;

	for (i = 0; i < ARRAY_LEN(call); i++)
		feedback_of(call[i], compute[i]);
}

/* A load whose rhythm is the interval: each of its places is met. */
static void in_step(void **state)
{
	uint64_t met[10] = {0}, at = 0, n;
	struct thread t;

	begin(&t, 11);
	for (n = 0; n < 20000; n++) {
		at += t.period;
		met[at % INTERVAL * 10 / INTERVAL]++;
		sampled(&t, false);
	}
	for (n = 0; n < ARRAY_LEN(met); n++)
		assert_in_range(met[n], 1600, 2400);
}

/* A stay in the kernel: one period over and over; a signal before its time; and what comes late. */
static void repeated(void **state)
{
	struct jitter j = {.seed = 1, .kind = JITTER_DRAWN, .keep = INTERVAL};
	uint64_t i, sum = 0;

	for (i = 0; i < 40; i++)
		sum += jitter_weight(&j, INTERVAL, INTERVAL / 8, INTERVAL / 8, i == 0);
	assert_in_range(sum, INTERVAL * 5 - INTERVAL, INTERVAL * 5 + INTERVAL);
	j.debt = 0;
	assert_int_equal(jitter_weight(&j, INTERVAL, INTERVAL / 2, INTERVAL / 4, true), INTERVAL / 4);
	assert_int_equal(jitter_weight(&j, INTERVAL, INTERVAL, 1000 * INTERVAL, true), 1000 * INTERVAL);
	assert_int_equal(j.debt, 0);
	/* a period longer than the interval owes the rest, which the next ones pay */
	assert_int_equal(jitter_weight(&j, INTERVAL, 3 * INTERVAL, 3 * INTERVAL, true), INTERVAL);
	assert_int_equal(j.debt, 2 * INTERVAL);
	for (i = sum = 0; i < 100; i++)
		sum += jitter_weight(&j, INTERVAL, INTERVAL, INTERVAL, true);
	assert_in_range(sum, 102 * INTERVAL - 100, 102 * INTERVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drawn),   cmocka_unit_test(kept),     cmocka_unit_test(lately),
		cmocka_unit_test(weights), cmocka_unit_test(feedback), cmocka_unit_test(in_step),
		cmocka_unit_test(repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
