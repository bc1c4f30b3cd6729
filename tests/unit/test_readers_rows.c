/* What the JVM reports again and again: a number of parts, however much it is, and however many readers share it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/json_writer.h"
#include "profile/readers/kept_rows.h"
#include "profile/views/rows_page.h"

#define PARTS PROFILE_MARK_PARTS
#define LENGTH (PARTS * NS_PER_S)

static uint64_t seed;

static uint64_t pick(uint64_t limit)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 20) % limit;
}

static void least_most_and_last_of_each_part(void **state)
{
	enum { VALUES = 200000 };
	uint64_t least[PARTS], most[PARTS] = {0}, count[PARTS] = {0}, sum[PARTS] = {0}, last[PARTS] = {0}, at[PARTS] = {0};
	struct kept_rows one = {0}, several[3];
	uint32_t i;

	(void)state;
	memset(several, 0, sizeof(several));
	for (i = 0; i < VALUES; i++) {
		uint64_t when = pick(LENGTH), value = pick(1000000), part = when / NS_PER_S;

		least[part] = count[part] ? MIN(least[part], value) : value;
		most[part] = MAX(most[part], value);
		sum[part] += value;
		if (!count[part]++ || when >= at[part]) {
			at[part] = when;
			last[part] = value;
		}
		assert_true(kept_rows_add(&one, MARK_ROW_CPU, when, LENGTH, value));
		assert_true(kept_rows_add(&several[pick(3)], MARK_ROW_CPU, when, LENGTH, value));
	}
	assert_true(kept_rows_join(&several[1], &several[2]) && kept_rows_join(&several[1], &several[0]));
	for (i = 0; i < PARTS; i++) {
		const struct profile_mark_part *p = &one.parts[MARK_ROW_CPU][i];

		assert_int_equal(p->count, count[i]);
		assert_int_equal(p->min, least[i]);
		assert_int_equal(p->max, most[i]);
		assert_int_equal(p->sum, sum[i]);
		assert_int_equal(p->last, last[i]);
		assert_int_equal(p->last_at, at[i]);
	}
	assert_memory_equal(one.parts[MARK_ROW_CPU], several[1].parts[MARK_ROW_CPU], PARTS * sizeof(*one.parts[0]));
	assert_null(one.parts[MARK_ROW_HEAP]);
	/* what lies outside is at the end, and a time without length has one part */
	assert_true(kept_rows_add(&one, MARK_ROW_HEAP, UINT64_MAX, LENGTH, UINT64_MAX));
	assert_true(kept_rows_add(&one, MARK_ROW_HEAP, 7, 0, UINT64_MAX));
	assert_int_equal(one.parts[MARK_ROW_HEAP][PARTS - 1].count, 1);
	assert_int_equal(one.parts[MARK_ROW_HEAP][0].sum, UINT64_MAX);
	kept_rows_free(&one);
	for (i = 0; i < 3; i++)
		kept_rows_free(&several[i]);
}

/* The collections FULL, LEFT at times of the list (0 ends it) as the page has them. */
static void expect(const uint64_t (*list)[3], const char *gc, const char *text)
{
	const struct profile_mark_gc gcs[] = {{gc, ""}};
	struct kept_rows rows = {0};
	struct profile_marks m = {.gcs = gcs, .gc_count = 1, .duration = LENGTH};
	struct buffer out = BUFFER_INIT;
	struct json_writer w = JSON_WRITER(&out, JSON_LINE);
	unsigned i;

	for (i = 0; list[i][0]; i++) {
		enum mark_row row = list[i][1] ? MARK_ROW_HEAP_FULL : MARK_ROW_HEAP;

		assert_true(kept_rows_add(&rows, row, list[i][0] * NS_PER_S / 1000, LENGTH, list[i][1] + list[i][2]));
	}
	m.rows[MARK_ROW_HEAP_FULL] = rows.parts[MARK_ROW_HEAP_FULL];
	m.rows[MARK_ROW_HEAP] = rows.parts[MARK_ROW_HEAP];
	json_object(&w, NULL);
	rows_page_put(&w, &m);
	json_end(&w);
	buffer_putc(&out, '\0');
	if (*text)
		assert_non_null(strstr(out.data, text));
	else
		assert_null(strstr(out.data, "\"allocated\""));
	buffer_free(&out);
	kept_rows_free(&rows);
}

/* Points: µs since the one before, µs, bytes a second. */
static void what_is_allocated_between_collections(void **state)
{
	/* ms; before: bytes, 0; after: 0, bytes. The first says nothing; (1100 - 100) / 2 s, (2000 - 500) / 10 s */
	const uint64_t plain[][3] = {{1000, 900, 0}, {1100, 0, 100}, {3100, 1100, 0}, {3200, 0, 500}, {13200, 2000, 0},
				     {13300, 0, 700}, {0}};
	/* several in one part are summed up: from 1.1 s to 3.9 s, 1000 + 1400 */
	const uint64_t dense[][3] = {{1000, 900, 0}, {1100, 0, 100}, {3100, 1100, 0}, {3200, 0, 600}, {3900, 2000, 0},
				     {3950, 0, 700}, {0}};
	/* one that begins in a part and ends in the next */
	const uint64_t over[][3] = {{1000, 900, 0}, {1100, 0, 100}, {2999, 1100, 0}, {3200, 0, 600}, {0}};
	/* its begin, or its end, is not told: nothing is said until the next whole one has ended */
	const uint64_t cut[][3] = {{1000, 0, 100}, {5000, 900, 0}, {25000, 900, 0}, {25100, 0, 100}, {27100, 1100, 0},
				   {27200, 0, 1}, {0}};
	/* less than was left: a collector freed meanwhile */
	const uint64_t less[][3] = {{1000, 900, 0}, {1100, 0, 800}, {3100, 700, 0}, {3200, 0, 500}, {0}};

	(void)state;
	expect(plain, "G1New", "\"allocated\":{\"points\":\"4JFDgIl69AOgloABgK3iBJYB\",\"count\":2}");
	expect(dense, "G1New", "\"count\":1}");
	expect(over, "G1New", "\"count\":1}");
	expect(cut, "G1New", "\"count\":1}");
	expect(less, "G1New", "\"allocated\":{\"points\":\"\",\"count\":0}");
	expect(plain, "ZGC Major", "");
	expect(plain, "Shenandoah", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(least_most_and_last_of_each_part),
		cmocka_unit_test(what_is_allocated_between_collections),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
