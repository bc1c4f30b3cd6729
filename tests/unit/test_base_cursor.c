/* The cursor over hostile bytes: values, and underflow that sticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/cursor.h"

static struct cursor over(const void *bytes, size_t size)
{
	struct span span = {bytes, size, 0};

	return cursor_at(&span, 0);
}

static void fixed_sizes(void **state)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	struct cursor c = over(bytes, sizeof(bytes));

	assert_int_equal(cursor_u8(&c), 1);
	assert_int_equal(cursor_u16(&c), 0x0302);
	assert_int_equal(cursor_u32(&c), 0x07060504);
	assert_true(cursor_u64(&c) == 0x0f0e0d0c0b0a0908ull);
	assert_false(c.failed);
	assert_int_equal(cursor_left(&c), 0);
}

static void high_byte_first(void **state)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	struct cursor c = over(bytes, sizeof(bytes));

	assert_int_equal(cursor_be16(&c), 0x0102);
	assert_int_equal(cursor_be32(&c), 0x03040506);
	assert_true(cursor_be64(&c) == 0x0708090a0b0c0d0eull);
	assert_false(c.failed);
	assert_int_equal(cursor_be32(&c), 0); /* one is left */
	assert_true(c.failed);
}

static void underflow_sticks(void **state)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 5};
	struct cursor c = over(bytes, sizeof(bytes));

	assert_int_equal(cursor_u16(&c), 0x0201);
	assert_int_equal(cursor_u32(&c), 0); /* three are left */
	assert_true(c.failed);
	assert_int_equal(cursor_u8(&c), 0); /* nor is anything shorter read afterwards */
	assert_int_equal(cursor_left(&c), 0);
	assert_string_equal(cursor_string(&c), "");
	assert_true(cursor_uleb(&c) == 0);
	assert_true(cursor_sleb(&c) == 0);
}

static void leb128(void **state)
{
	static const uint8_t bytes[] = {
		0x02, 0x7f, 0x80, 0x01, 0xe5, 0x8e, 0x26,         /* 2 127 128 624485 */
		0x7e, 0xff, 0x00, 0x81, 0x7f, 0x80, 0x7f,         /* -2 127 -127 -128 */
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* 2^64 - 1 */
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f, /* -2^63 */
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x05, /* past 64 bits */
		0x80,                                             /* cut */
	};
	struct cursor c = over(bytes, sizeof(bytes));

	assert_true(cursor_uleb(&c) == 2);
	assert_true(cursor_uleb(&c) == 127);
	assert_true(cursor_uleb(&c) == 128);
	assert_true(cursor_uleb(&c) == 624485);
	assert_true(cursor_sleb(&c) == -2);
	assert_true(cursor_sleb(&c) == 127);
	assert_true(cursor_sleb(&c) == -127);
	assert_true(cursor_sleb(&c) == -128);
	assert_true(cursor_uleb(&c) == UINT64_MAX);
	assert_true(cursor_sleb(&c) == INT64_MIN);
	assert_true(cursor_uleb(&c) == 0);
	assert_false(c.failed);
	cursor_uleb(&c);
	assert_true(c.failed);
}

static void strings(void **state)
{
	struct cursor c = over("ab\0\0cd", 6);

	assert_string_equal(cursor_string(&c), "ab");
	assert_string_equal(cursor_string(&c), "");
	assert_false(c.failed);
	assert_string_equal(cursor_string(&c), ""); /* "cd" has no end */
	assert_true(c.failed);
}

static void parts(void **state)
{
	static const uint8_t bytes[] = {1, 2, 3, 4};
	struct cursor c = over(bytes, sizeof(bytes));
	struct cursor part = cursor_cut(&c, 2);

	assert_int_equal(cursor_u8(&part), 1);
	assert_int_equal(cursor_u16(&part), 0); /* ends with its part */
	assert_true(part.failed);
	assert_int_equal(cursor_u8(&c), 3);
	part = cursor_cut(&c, UINT64_MAX);
	assert_true(part.failed);
	assert_int_equal(cursor_left(&part), 0);
	assert_true(c.failed);
}

static void offsets(void **state)
{
	struct span span = {(const uint8_t *)"abc", 3, 0};
	struct cursor c = cursor_at(&span, 2);

	assert_int_equal(cursor_u8(&c), 'c');
	c = cursor_at(&span, 3);
	assert_false(c.failed);
	c = cursor_at(&span, 4);
	assert_true(c.failed);
	c = cursor_at(&span, SIZE_MAX);
	assert_true(c.failed);
	assert_int_equal(cursor_u8(&c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_sizes),      cmocka_unit_test(high_byte_first),
		cmocka_unit_test(underflow_sticks), cmocka_unit_test(leb128),
		cmocka_unit_test(strings),          cmocka_unit_test(parts),
		cmocka_unit_test(offsets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
