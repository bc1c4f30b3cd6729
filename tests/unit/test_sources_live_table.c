/*
 * The table of objects that may be there, with a JVM that is made up here: weak references to numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jni.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "agent/sources/live/live_table.h"
#include "common/base/base.h"
#include "common/base/random.h"

#define OBJECTS 1000000u

static atomic_bool there[OBJECTS + 1]; /* object N is */
static atomic_int references;
static bool no_memory;
static int cleared;

/* An object is its number; so is a weak reference to it. */
static jweak new_weak(JNIEnv *env, jobject object)
{
	(void)env;
	if (no_memory)
		return NULL;
	atomic_fetch_add(&references, 1);
	return object;
}

static void delete_weak(JNIEnv *env, jweak reference)
{
	(void)env;
	assert_non_null(reference);
	atomic_fetch_sub(&references, 1);
}

static jboolean is_same(JNIEnv *env, jobject reference, jobject other)
{
	(void)env;
	assert_null(other);
	return !atomic_load(&there[(uintptr_t)reference]);
}

static void clear_exception(JNIEnv *env)
{
	(void)env;
	cleared++;
}

static const struct JNINativeInterface_ functions = {
	.NewWeakGlobalRef = new_weak, .DeleteWeakGlobalRef = delete_weak, .IsSameObject = is_same,
	.ExceptionClear = clear_exception,
};
static JNIEnv jni = &functions;

static uint64_t add(uint32_t number, uint64_t *stands_for)
{
	atomic_store(&there[number], true);
	return live_table_add(&jni, (jobject)(uintptr_t)number, stands_for);
}

static int begin(void **state)
{
	(void)state;
	return live_table_open();
}

static int end(void **state)
{
	(void)state;
	live_table_let_go(&jni);
	live_table_release();
	return atomic_load(&references);
}

static void those_that_are_there(void **state)
{
	uint64_t ids[1000], stands_for;
	uint32_t i, age;

	(void)state;
	for (i = 0; i < ARRAY_LEN(ids); i++) {
		ids[i] = add(i + 1, &stands_for);
		assert_true(ids[i] != LIVE_PASSED && ids[i] != LIVE_REFUSED);
		assert_int_equal(stands_for, 1);
		assert_int_equal(live_table_stands_for(ids[i], &age), 0); /* not looked at yet */
	}
	for (i = 0; i < ARRAY_LEN(ids); i += 3)
		atomic_store(&there[i + 1], false);
	live_table_look(&jni);
	for (i = 0; i < ARRAY_LEN(ids); i++)
		assert_int_equal(live_table_stands_for(ids[i], &age), i % 3 ? 1 : 0);
	assert_int_equal(age, 0);
	assert_int_equal(atomic_load(&references), ARRAY_LEN(ids) - (ARRAY_LEN(ids) + 2) / 3);
	live_table_let_go(&jni);
	assert_int_equal(atomic_load(&references), 0);
	assert_int_equal(live_table_stands_for(ids[1], &age), 1); /* as the last look saw it */
}

/* A million at once: no more than the table's size is kept, and what is kept stands for all. */
static void more_than_there_is_room_for(void **state)
{
	uint64_t *ids = calloc(OBJECTS, sizeof(*ids)), *firsts = calloc(OBJECTS, sizeof(*firsts)), sum = 0, most = 0;
	uint32_t i, age, kept = 0, refused = 0;
	double error;

	(void)state;
	assert_non_null(ids);
	assert_non_null(firsts);
	for (i = 0; i < OBJECTS; i++) {
		ids[i] = add(i + 1, &firsts[i]);
		refused += ids[i] == LIVE_REFUSED;
	}
	live_table_look(&jni);
	for (i = 0; i < OBJECTS; i++) {
		uint64_t by = ids[i] == LIVE_PASSED || ids[i] == LIVE_REFUSED ? 0 : live_table_stands_for(ids[i], &age);

		sum += by * firsts[i];
		most = MAX(most, by * firsts[i]);
		kept += by > 0;
	}
	error = sqrt((double)OBJECTS * (double)(most - 1));
	print_message("%u kept, each for %llu: %+.2f %% (standard error %.2f %%), %u refused\n", kept,
		      (unsigned long long)most, 100.0 * ((double)sum / OBJECTS - 1), 100 * error / OBJECTS, refused);
	assert_in_range(kept, LIVE_SLOTS / 4, LIVE_SLOTS);
	assert_true(atomic_load(&references) <= (int)LIVE_SLOTS);
	assert_true(fabs((double)sum - OBJECTS) < 5 * error);
	assert_int_equal(refused, 0);
	free(ids);
	free(firsts);
}

/*
 * The table fills, all but a few objects go, and with looks it takes more of the new ones again, until they fill it
 * once more: at each moment what is kept stands for all that are there, of each time by itself.
 */
static void finer_again(void **state)
{
	enum { PHASES = 4 };
	static const uint32_t counts[PHASES] = {600000, 20000, 20000, 300000};
	uint64_t *ids = calloc(OBJECTS, sizeof(*ids)), *firsts = calloc(OBJECTS, sizeof(*firsts));
	uint32_t i, age, phase, first = 0, level[PHASES], looks;

	(void)state;
	assert_non_null(ids);
	assert_non_null(firsts);
	for (phase = 0; phase < PHASES; first += counts[phase++]) {
		uint32_t from, p;

		for (i = first; i < first + counts[phase]; i++)
			ids[i] = add(i + 1, &firsts[i]);
		level[phase] = (uint32_t)__builtin_ctzll(firsts[i - 1]);
		for (i = 0; phase == 0 && i < counts[0]; i++)
			if (i % 10)
				atomic_store(&there[i + 1], false);
		for (looks = 0; looks < (phase == 1 ? 3 : 1); looks++)
			live_table_look(&jni);
		for (p = 0, from = 0; p <= phase; from += counts[p++]) {
			double sum = 0, variance = 0, truth = p ? counts[p] : counts[p] / 10;

			for (i = from; i < from + counts[p]; i++) {
				uint64_t by = ids[i] == LIVE_PASSED || ids[i] == LIVE_REFUSED ? 0 :
					      live_table_stands_for(ids[i], &age) * firsts[i];

				sum += (double)by;
				variance += (double)by * ((double)by - 1);
			}
			print_message("after phase %u (level %u), of phase %u: %.0f of %.0f (%.0f)\n", phase, level[phase],
				      p, sum, truth, sqrt(variance));
			assert_true(fabs(sum - truth) < 5 * sqrt(variance) + 1);
		}
	}
	assert_true(level[0] >= 4);
	assert_true(level[1] < level[0]); /* a look has found few */
	assert_true(level[2] < level[1]);
	assert_true(atomic_load(&references) <= (int)LIVE_SLOTS);
	free(ids);
	free(firsts);
}

/* Many tables of few objects each: the mean is the truth. */
static void finer_on_average(void **state)
{
	double sum = 0, variance = 0, truth = 0;
	uint64_t firsts[2000], ids[2000];
	uint32_t round, i, age;

	(void)state;
	for (round = 0; round < 60; round++) {
		/* a wave that fills the table goes at once, then some come, at a level that sinks */
		assert_int_equal(live_table_open(), 0);
		for (i = 0; i < 150000; i++)
			add(i + 1, &firsts[0]);
		for (i = 0; i < 150000; i++)
			atomic_store(&there[i + 1], false);
		for (i = 0; i < ARRAY_LEN(ids); i++) {
			ids[i] = add(200000 + i, &firsts[i]);
			if (i % 700 == 699)
				live_table_look(&jni);
		}
		live_table_look(&jni);
		for (i = 0; i < ARRAY_LEN(ids); i++) {
			uint64_t by = ids[i] == LIVE_PASSED || ids[i] == LIVE_REFUSED ? 0 :
				      live_table_stands_for(ids[i], &age) * firsts[i];

			sum += (double)by;
			variance += (double)by * ((double)by - 1);
		}
		truth += ARRAY_LEN(ids);
		live_table_let_go(&jni);
		live_table_release();
	}
	print_message("%+.2f %% (standard error %.2f %%)\n", 100 * (sum / truth - 1), 100 * sqrt(variance) / truth);
	assert_true(fabs(sum - truth) < 4 * sqrt(variance));
}

static void no_reference_to_be_had(void **state)
{
	uint64_t stands_for;

	(void)state;
	no_memory = true;
	assert_true(add(1, &stands_for) == LIVE_REFUSED);
	assert_int_equal(cleared, 1); /* the program's thread goes on without the exception */
	no_memory = false;
	assert_true(add(1, &stands_for) != LIVE_REFUSED);
	assert_int_equal(atomic_load(&references), 1);
}

static void *come_and_go(void *arg)
{
	uint32_t first = (uint32_t)(uintptr_t)arg, i;
	uint64_t seed = random_seed(first), stands_for;

	for (i = 0; i < OBJECTS / 8; i++) {
		add(first + i, &stands_for);
		atomic_store(&there[first + random_below(&seed, i + 1)], false);
	}
	return NULL;
}

/* Threads that add, one that looks, and one that gives all back: no reference is lost or given back twice. */
static void many_threads(void **state)
{
	pthread_t threads[8];
	uint32_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go,
						(void *)(uintptr_t)(1 + i * (OBJECTS / 8))), 0);
	for (i = 0; i < 20; i++)
		live_table_look(&jni);
	for (i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	live_table_look(&jni);
	assert_in_range(atomic_load(&references), 1, LIVE_SLOTS);
	live_table_let_go(&jni);
	assert_int_equal(atomic_load(&references), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(those_that_are_there, begin, end),
		cmocka_unit_test_setup_teardown(more_than_there_is_room_for, begin, end),
		cmocka_unit_test_setup_teardown(finer_again, begin, end),
		cmocka_unit_test_setup_teardown(finer_on_average, begin, end),
		cmocka_unit_test_setup_teardown(no_reference_to_be_had, begin, end),
		cmocka_unit_test_setup_teardown(many_threads, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
