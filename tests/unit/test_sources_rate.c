/*
 * So many samples a second at most, of programs made up: threads that allocate steadily, in bursts, ever faster, and
 * such that live for a short time, each with distances drawn as HotSpot draws them. What counts is how many samples a
 * session of 20 s has, and what these stand for beside what was allocated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "agent/sources/alloc_weight.h"
#include "agent/sources/sample_rate.h"
#include "common/base/base.h"
#include "common/base/random.h"

#define SECONDS 20
#define STEP (NS_PER_MS / 10)
#define SIZE 64
#define THREADS_MOST 64
#define LONGEST INT32_MAX

struct program {
	const char *name;
	unsigned threads;
	double (*pace)(double second); /* bytes a second of all of them together */
	uint64_t lives;                /* ns until another thread is in its place; 0: it stays */
};

static double slow(double second) { return 2e6; }
static double one(double second) { return 1e9; }
static double three(double second) { return 3e9; }
static double seven(double second) { return 7e9; }
/* 50 ms of each 100, as between collections; on and off for some seconds; every second as much more */
static double bursts(double second) { return fmod(second, 0.1) < 0.05 ? 8e9 : 0; }
static double phases(double second) { return fmod(second, 7) < 3 ? 5e9 : 1e7; }
static double rises(double second) { return 1e8 * pow(1.25, second); }

static const struct program programs[] = {
	{"2 MB/s", 3, slow, 0}, {"1 GB/s", 1, one, 0}, {"3 GB/s", 8, three, 0}, {"7 GB/s", 2, seven, 0},
	{"7 GB/s, 64 threads", 64, seven, 0}, {"bursts", 4, bursts, 0}, {"phases", 4, phases, 0}, {"rises", 4, rises, 0},
	{"threads of 5 ms", 8, three, 5 * NS_PER_MS},
};

static double drawn(uint64_t *seed, uint64_t interval)
{
	return -log(((double)random_below(seed, 1ull << 53) + 0.5) / (double)(1ull << 53)) * (double)interval;
}

struct outcome {
	uint64_t samples;
	double told, really, variance, full; /* bytes; full: samples at the shortest interval all the time */
};

static struct outcome run(const struct program *p, uint32_t rate, uint64_t shortest, uint64_t seed)
{
	double left[THREADS_MOST], at[THREADS_MOST];
	uint64_t by[THREADS_MOST], interval = shortest, now, next;
	struct outcome o = {0};
	struct sample_rate s;
	unsigned i;

	sample_rate_begin(&s, rate, shortest, LONGEST, NS_PER_S);
	for (i = 0; i < p->threads; i++)
		left[i] = drawn(&seed, by[i] = interval);
	for (now = 0; now < SECONDS * NS_PER_S; now += STEP) {
		double bytes = p->pace((double)now / NS_PER_S) * STEP / NS_PER_S / p->threads;

		o.really += bytes * p->threads;
		for (i = 0; i < p->threads; i++) {
			at[i] = 0;
			if (p->lives && now % p->lives == i * p->lives / p->threads / STEP * STEP)
				left[i] = drawn(&seed, by[i] = interval);
		}
		/* the earliest sample of this step, of all threads, until there is none */
		for (;;) {
			unsigned first = p->threads;

			for (i = 0; i < p->threads; i++)
				if (at[i] + left[i] < bytes && (first == p->threads || at[i] + left[i] < at[first] + left[first]))
					first = i;
			if (first == p->threads)
				break;
			at[first] += left[first];
			o.samples++;
			o.told += (double)alloc_weight(SIZE, by[first]);
			o.variance += pow((double)by[first], 2);
			left[first] = drawn(&seed, by[first] = interval);
			next = sample_rate_took(&s, NS_PER_S + now + (uint64_t)(at[first] / bytes * STEP),
						alloc_weight(SIZE, interval));
			if (next)
				interval = next;
			assert_in_range(interval, shortest, LONGEST);
		}
		for (i = 0; i < p->threads; i++)
			left[i] -= bytes - at[i];
	}
	o.full = o.really / (double)shortest;
	return o;
}

static void at_most_the_rate(void **state)
{
	static const uint32_t rates[] = {5, 20, 100, 1000};
	static const uint64_t shortest[] = {16 << 10, 512 << 10};
	unsigned p, r, s;

	(void)state;
	for (p = 0; p < ARRAY_LEN(programs); p++)
		for (r = 0; r < ARRAY_LEN(rates); r++)
			for (s = 0; s < ARRAY_LEN(shortest); s++) {
				struct outcome o = run(&programs[p], rates[r], shortest[s], random_seed(p * 100 + r * 10 + s));
				double most = (double)rates[r] * SECONDS, least = fmin(most, o.full);
				bool steady = programs[p].pace != bursts && programs[p].pace != phases && programs[p].pace != rises;

				print_message("%s, %u/s, %llu KB: %.2f of the rate; bytes %+.2f%% (%.2f%%)\n", programs[p].name,
					      rates[r], (unsigned long long)shortest[s] >> 10, (double)o.samples / most,
					      100 * (o.told / o.really - 1), 100 * sqrt(o.variance) / o.really);
				/* 20 samples tell the pace first, and each thread has drawn one by then: half of the rate makes up */
				if ((double)o.samples > most + fmax(0, 20.0 + programs[p].threads - most / 2) + 3 * sqrt(most))
					fail_msg("%llu samples", (unsigned long long)o.samples);
				if ((double)o.samples < (steady ? 0.7 : 0.3) * least - 4 * sqrt(least))
					fail_msg("only %llu samples", (unsigned long long)o.samples);
				if (fabs(o.told - o.really) > 5 * sqrt(o.variance))
					fail_msg("bytes are off");
			}
}

/* Of many sessions: neither the rate nor the sums are off. */
static void on_average(void **state)
{
	double told = 0, really = 0, variance = 0, samples = 0;
	unsigned i;

	(void)state;
	for (i = 0; i < 60; i++) {
		struct outcome o = run(&programs[3], 100, 16 << 10, random_seed(1000 + i));

		told += o.told;
		really += o.really;
		variance += o.variance;
		samples += (double)o.samples;
	}
	print_message("%.4f of the rate; bytes %+.3f%% (%.3f%%)\n", samples / i / 100 / SECONDS, 100 * (told / really - 1),
		      100 * sqrt(variance) / really);
	assert_true(samples <= 100.0 * SECONDS * i);
	assert_true(fabs(told - really) < 4 * sqrt(variance));
}

static struct sample_rate shared;
static _Atomic uint64_t changes;

static void *many(void *arg)
{
	uint64_t i;

	for (i = 0; i < 300000; i++)
		if (sample_rate_took(&shared, i * 10000 + (uintptr_t)arg, 1 << 20))
			changes++;
	return NULL;
}

/* Threads that come at once: nothing but the pace comes of it, each second once or so. */
static void of_several_threads(void **state)
{
	pthread_t threads[4];
	uintptr_t i;

	(void)state;
	sample_rate_begin(&shared, 100000000, 1, LONGEST, 0);
	for (i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, many, (void *)i), 0);
	for (i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	assert_in_range(changes, 1, 20);
	assert_false(shared.busy);
	assert_true(shared.debt == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_most_the_rate),
		cmocka_unit_test(on_average),
		cmocka_unit_test(of_several_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
