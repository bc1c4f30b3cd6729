/*
 * test_base_own_memory.c - the table of our mappings: what comes is there, what goes is not, also with threads that do
 * both at once; what has no room is left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "common/base/base.h"
#include "common/base/own_memory.h"
#include "common/base/pages.h"

#define PAGE 4096ul

static size_t bytes_at(const void *start, unsigned *times)
{
	size_t found = 0;
	unsigned i;

	*times = 0;
	for (i = 0; i < OWN_MEMORY_SLOTS; i++)
		if (atomic_load(&jstrobe_memory.items[i].start) == (uintptr_t)start) {
			found = atomic_load(&jstrobe_memory.items[i].bytes);
			++*times;
		}
	return found;
}

static unsigned there(void)
{
	unsigned i, count = 0;

	for (i = 0; i < OWN_MEMORY_SLOTS; i++)
		count += atomic_load(&jstrobe_memory.items[i].start) != 0;
	return count;
}

static void pages(void **state)
{
	void *p = pages_alloc(5000), *bigger;
	unsigned times, before = there();

	(void)state;
	assert_int_equal(bytes_at(p, &times), 2 * PAGE);
	assert_int_equal(times, 1);
	bigger = pages_grow(p, 5000, 100 * PAGE);
	assert_int_equal(bytes_at(bigger, &times), 100 * PAGE);
	assert_int_equal(times, 1);
	assert_int_equal(there(), before);
	pages_free(bigger, 100 * PAGE);
	bytes_at(bigger, &times);
	assert_int_equal(times, 0);
	assert_int_equal(there(), before - 1);
}

static void *come_and_go(void *arg)
{
	uintptr_t base = ((uintptr_t)arg + 1) << 32;
	unsigned round, i;

	for (round = 0; round < 200; round++) {
		for (i = 0; i < 500; i++)
			own_memory_add((void *)(base + i * PAGE), PAGE);
		for (i = 0; i < 500; i++)
			own_memory_remove((void *)(base + i * PAGE));
	}
	return NULL;
}

static void threads(void **state)
{
	unsigned before = there();
	pthread_t t[4];
	uintptr_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, come_and_go, (void *)i), 0);
	for (i = 0; i < ARRAY_LEN(t); i++)
		pthread_join(t[i], NULL);
	assert_int_equal(there(), before);
}

static void full(void **state)
{
	unsigned before = there(), most;
	uintptr_t i;

	(void)state;
	for (i = 1; i <= 2 * OWN_MEMORY_SLOTS; i++)
		own_memory_add((void *)(i * 16 * PAGE), PAGE);
	most = there();
	assert_true(most > OWN_MEMORY_SLOTS * 9 / 10 && most <= OWN_MEMORY_SLOTS);
	for (i = 1; i <= 2 * OWN_MEMORY_SLOTS; i++)
		own_memory_remove((void *)(i * 16 * PAGE));
	assert_int_equal(there(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(pages), cmocka_unit_test(threads), cmocka_unit_test(full)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
