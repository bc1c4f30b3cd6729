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
		cmocka_unit_test_setup_teardown(no_reference_to_be_had, begin, end),
		cmocka_unit_test_setup_teardown(many_threads, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
