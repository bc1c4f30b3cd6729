/*
 * A table of stages: begun in order, undone in the reverse one where one fails, ended in the reverse one, and gone on with
 * where one is held.
 */
#include "agent/session/stages.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char did[64];        /* "a": a has begun; "A": it has ended */
static char fails, is_held;  /* of which stage */
static bool b_is_needed;

static int does(char what, struct error *err)
{
	if (what == fails)
		return error_set(err, ENOSPC, "%c has no room", what);
	if (what == is_held)
		return error_set(err, EINPROGRESS, "%c is held", what);
	snprintf(did + strlen(did), sizeof(did) - strlen(did), "%c", what);
	return 0;
}

#define STAGE(lower, upper)                               \
	static int begin_##lower(struct error *err)       \
	{                                                 \
		return does(#lower[0], err);              \
	}                                                 \
	static int end_##lower(struct error *err)         \
	{                                                 \
		return does(#upper[0], err);              \
	}
STAGE(a, A)
STAGE(b, B)
STAGE(c, C)
STAGE(d, D)
STAGE(e, E)

static bool needs_b(void)
{
	return b_is_needed;
}

static const struct stage table[] = {
	{"a", NULL, begin_a, end_a},
	{"b", needs_b, begin_b, end_b},
	{"c", NULL, begin_c, NULL},
	{"d", NULL, NULL, end_d},
	{"e", NULL, begin_e, end_e},
};
static struct stages stages;

static int setup(void **state)
{
	(void)state;
	did[0] = 0;
	fails = is_held = 0;
	b_is_needed = true;
	(void)end_c;
	(void)begin_d;
	stages = (struct stages){table, sizeof(table) / sizeof(table[0]), 0};
	return 0;
}

static void test_in_order_and_back(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(stages_begin(&stages, "", &err), 0);
	assert_string_equal(did, "abce");
	assert_int_equal(stages_end(&stages, NULL, &err), 0);
	assert_string_equal(did, "abceEDBA");
	assert_int_equal(stages_end(&stages, NULL, &err), 0); /* each ends once */
	assert_string_equal(did, "abceEDBA");
}

static void test_what_is_not_needed(void **state)
{
	struct error err;

	(void)state;
	b_is_needed = false;
	assert_int_equal(stages_begin(&stages, "", &err), 0);
	b_is_needed = true; /* what has not begun does not end */
	assert_int_equal(stages_end(&stages, NULL, &err), 0);
	assert_string_equal(did, "aceEDA");
}

static void test_each_fails(void **state)
{
	static const char *const undone[] = {"", "aA", "abBA", "abcDBA"};
	static const char failing[] = "abce";
	struct error err;
	int i;

	for (i = 0; failing[i]; i++) {
		setup(state);
		fails = failing[i];
		assert_int_equal(stages_begin(&stages, "", &err), -ENOSPC);
		assert_int_equal(err.code, ENOSPC);
		assert_string_equal(did, undone[i]);
		assert_int_equal(stages.begun, 0);
	}
}

static void test_told_to_fail(void **state)
{
	static const char *const undone[] = {"", "aA", "abBA", "abcBA", "abcDBA"};
	struct error err;
	size_t i;

	for (i = 0; i < stages.count; i++) {
		setup(state);
		assert_int_equal(stages_begin(&stages, table[i].name, &err), -EIO);
		assert_string_equal(did, undone[i]);
	}
}

static void test_one_is_held(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(stages_begin(&stages, "", &err), 0);
	is_held = 'B';
	assert_int_equal(stages_end(&stages, NULL, &err), -EINPROGRESS);
	assert_string_equal(err.text, "B is held");
	assert_string_equal(did, "abceED");
	assert_int_equal(stages_end(&stages, NULL, &err), -EINPROGRESS);
	is_held = 0;
	assert_int_equal(stages_end(&stages, NULL, &err), 0);
	assert_string_equal(did, "abceEDBA");
}

/* A start fails, and what it began cannot be undone yet: the reason is that of the failure. */
static void test_one_is_held_when_another_fails(void **state)
{
	struct error err;

	(void)state;
	fails = 'e';
	is_held = 'D';
	assert_int_equal(stages_begin(&stages, "", &err), -ENOSPC);
	assert_string_equal(err.text, "e has no room");
	assert_string_equal(did, "abc");
	is_held = 0;
	assert_int_equal(stages_end(&stages, NULL, &err), 0);
	assert_string_equal(did, "abcDBA");
}

static void test_down_to(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(stages_begin(&stages, "", &err), 0);
	assert_int_equal(stages_end(&stages, "b", &err), 0);
	assert_string_equal(did, "abceEDB");
	assert_int_equal(stages_end(&stages, NULL, &err), 0);
	assert_string_equal(did, "abceEDBA");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_in_order_and_back, setup),
		cmocka_unit_test_setup(test_what_is_not_needed, setup),
		cmocka_unit_test_setup(test_each_fails, setup),
		cmocka_unit_test_setup(test_told_to_fail, setup),
		cmocka_unit_test_setup(test_one_is_held, setup),
		cmocka_unit_test_setup(test_one_is_held_when_another_fails, setup),
		cmocka_unit_test_setup(test_down_to, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
