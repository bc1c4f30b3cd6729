/* The table of places by number: which pages it uses, and that no key is lost when the first few places are full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/sources/slot_table.h"

#define LIMIT (64u * 1024)
#define FEW (LIMIT / 16)
#define BYTES 128

static struct slot_table table = {.bytes = BYTES, .limit = LIMIT, .few = FEW};

static int map(void **state)
{
	(void)state;
	table.places = mmap(NULL, (size_t)LIMIT * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(table.places, (size_t)LIMIT * BYTES, MADV_NOHUGEPAGE);
	return table.places == MAP_FAILED ? -1 : 0;
}

static int unmap(void **state)
{
	(void)state;
	slot_table_clear(&table);
	return munmap(table.places, (size_t)LIMIT * BYTES);
}

/* Bytes of the table that are in memory. */
static size_t resident(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size_t)LIMIT * BYTES / page, i, count = 0;
	unsigned char *in = malloc(pages);

	assert_int_equal(mincore(table.places, pages * page, in), 0);
	for (i = 0; i < pages; i++)
		count += in[i] & 1;
	free(in);
	return count * page;
}

static void keep(uint64_t key)
{
	void *place = slot_table_take_or_claim(&table, key);

	assert_non_null(place);
	slot_table_let_go(place, key);
}

static void give_back(uint64_t key)
{
	void *place = slot_table_take(&table, key);

	assert_non_null(place);
	slot_table_let_go(place, 0);
}

/* A million threads, 100 at a time: what was ever touched are the first few places. */
static void new_keys_touch_no_new_pages(void **state)
{
	uint64_t key;

	(void)state;
	for (key = 1; key <= 1000000; key++) {
		keep(key * 5);
		if (key > 100)
			give_back((key - 100) * 5);
	}
	assert_int_equal(slot_table_reach(&table), FEW);
	assert_in_range(resident(), 1, (size_t)FEW * BYTES);
}

/* More than the few places at once: all are found, whichever part they are in, and all come free. */
static void many_at_once_are_found(void **state)
{
	uint64_t key, in_use = 0;
	uint32_t i;

	(void)state;
	for (key = 1; key <= LIMIT / 2; key++)
		keep(key);
	assert_int_equal(slot_table_reach(&table), LIMIT);
	for (i = 0; i < LIMIT; i++)
		in_use += *slot_table_at(&table, i) != 0;
	assert_int_equal(in_use, LIMIT / 2);
	for (key = 1; key <= LIMIT / 2; key++)
		keep(key);
	for (key = LIMIT / 2; key; key--)
		give_back(key);
	for (key = 1; key <= LIMIT / 2; key++)
		assert_null(slot_table_take(&table, key));
}

/* Full: a key finds no place, and nothing else is touched. */
static void a_full_table_says_so(void **state)
{
	uint64_t key, kept = 0, found = 0;

	(void)state;
	for (key = 1; key <= 2 * LIMIT; key++) {
		void *place = slot_table_take_or_claim(&table, key);

		if (place)
			slot_table_let_go(place, key);
		kept += place != NULL;
	}
	assert_in_range(kept, LIMIT / 2, LIMIT);
	for (key = 1; key <= 2 * LIMIT; key++) {
		void *place = slot_table_take(&table, key);

		found += place != NULL;
		if (place)
			slot_table_let_go(place, 0);
	}
	assert_int_equal(found, kept);
}

/* A cleared table is as new, its pages given back. */
static void cleared_is_as_new(void **state)
{
	uint64_t key;

	(void)state;
	for (key = 1; key <= LIMIT / 2; key++)
		keep(key);
	slot_table_clear(&table);
	assert_int_equal(slot_table_reach(&table), FEW);
	assert_int_equal(resident(), 0);
	assert_null(slot_table_take(&table, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(new_keys_touch_no_new_pages, map, unmap),
		cmocka_unit_test_setup_teardown(many_at_once_are_found, map, unmap),
		cmocka_unit_test_setup_teardown(a_full_table_says_so, map, unmap),
		cmocka_unit_test_setup_teardown(cleared_is_as_new, map, unmap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
