/* First samples of allocations: what their threads allocated before the recording began is not of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/readers/jfr/first_allocs.h"

#define S ((int64_t)NS_PER_S)
#define START (1790000000 * S)
#define MB 1000000ull
#define FIRST 7 /* its position */

/* A thread that allocates a MB each second, whose first sample at AT weighs FIRST as well. */
static void put_samples(struct first_allocs *f, uint64_t thread, int64_t at, uint64_t first, unsigned count)
{
	unsigned i;

	/* not in their order */
	for (i = count - 1; i > 0; i--)
		first_allocs_sample(f, thread, START + at + i * S, MB, 100 + i);
	first_allocs_sample(f, thread, START + at, first, FIRST);
}

static void expect_cut(struct first_allocs *f, uint64_t least, uint64_t most)
{
	assert_true(first_allocs_find(f, START));
	assert_in_range(first_allocs_cut(f, FIRST), least, most);
	assert_int_equal(first_allocs_cut(f, 101), 0);
	first_allocs_free(f);
}

static void by_statistics(void **state)
{
	const int64_t first_at[] = {0, S / 10, S, 5 * S};
	const unsigned counts[] = {1, 2, 20};
	unsigned i, k;

	for (i = 0; i < ARRAY_LEN(first_at); i++)
		for (k = 0; k < ARRAY_LEN(counts); k++) {
			struct first_allocs f = {.noting = true};

			/* another thread, whose samples say what is usual */
			put_samples(&f, 2, S, MB, 30);
			put_samples(&f, 1, first_at[i], 4000 * MB + MB, counts[k]);
			first_allocs_sum(&f, 1, START + 30 * S, 4000 * MB + counts[k] * MB);
			first_allocs_sum(&f, 1, START + S / 20, 4000 * MB);
			first_allocs_sum(&f, 1, START + 15 * S, 4000 * MB + MB);
			expect_cut(&f, 3999 * MB, 4000 * MB);
		}
}

/* The sample weighs what it should, however much the thread had allocated. */
static void a_jdk_that_is_right(void **state)
{
	struct first_allocs f = {.noting = true};

	put_samples(&f, 1, S, 3 * MB, 20);
	first_allocs_sum(&f, 1, START, 4000 * MB);
	first_allocs_sum(&f, 1, START + 30 * S, 4023 * MB);
	expect_cut(&f, 0, 0);
	/* a much heavier one, as a thread that allocated at once what it needed */
	put_samples(&f, 1, S, 900 * MB, 20);
	first_allocs_sum(&f, 1, START, 4000 * MB);
	first_allocs_sum(&f, 1, START + 30 * S, 4920 * MB);
	expect_cut(&f, 0, 0);
}

static void threads_that_begin_or_end(void **state)
{
	struct first_allocs f = {.noting = true};

	first_allocs_born(&f, 1);
	put_samples(&f, 1, S, 900 * MB, 20);
	first_allocs_sum(&f, 1, START + 30 * S, 919 * MB);
	expect_cut(&f, 0, 0);
	/* known for the first time in the next chunk */
	put_samples(&f, 1, S, 900 * MB, 20);
	first_allocs_sum(&f, 1, START + 30 * S, 919 * MB);
	first_allocs_sum(&f, 1, START + 60 * S, 919 * MB);
	expect_cut(&f, 0, 0);
	/* ended before it was asked again */
	put_samples(&f, 1, S, 901 * MB, 20);
	first_allocs_sum(&f, 1, START, 900 * MB);
	expect_cut(&f, 900 * MB, 900 * MB);
	put_samples(&f, 1, S, 100 * MB, 20);
	first_allocs_sum(&f, 1, START, 900 * MB);
	expect_cut(&f, 0, 0);
}

/* Without statistics only what is beyond all that the thread does is cut to what is usual. */
static void by_what_is_usual(void **state)
{
	struct first_allocs f = {.noting = true};

	put_samples(&f, 1, S, 900 * MB, 20);
	expect_cut(&f, 899 * MB, 899 * MB);
	put_samples(&f, 1, S, 9 * MB, 20);
	expect_cut(&f, 0, 0);
	put_samples(&f, 1, S, 900 * MB, 5);
	expect_cut(&f, 0, 0);
	first_allocs_born(&f, 1);
	put_samples(&f, 1, S, 900 * MB, 20);
	expect_cut(&f, 0, 0);
}

static void nothing_at_all(void **state)
{
	struct first_allocs f = {.noting = true};

	first_allocs_sum(&f, 1, START, 4000 * MB);
	first_allocs_sum(&f, 1, START + S, UINT64_MAX);
	first_allocs_sample(&f, 2, INT64_MIN, UINT64_MAX, 3);
	first_allocs_sample(&f, 2, INT64_MAX, UINT64_MAX, 4);
	assert_true(first_allocs_find(&f, START));
	first_allocs_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_statistics),
		cmocka_unit_test(a_jdk_that_is_right),
		cmocka_unit_test(threads_that_begin_or_end),
		cmocka_unit_test(by_what_is_usual),
		cmocka_unit_test(nothing_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
