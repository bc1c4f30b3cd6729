/* Regular expressions of Java, as jfrconv's callers write them; and spans that overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/expressions.h"
#include "profile/readers/jfr/spans.h"

static bool matches(const char *list, const char *text)
{
	struct expressions e = {.items = {NULL, 0, 0}};
	struct error err;
	bool found;

	if (expressions_read(&e, list, "-I", &err))
		fail_msg("%s", err.text);
	found = expressions_match(&e, text);
	expressions_free(&e);
	return found;
}

static void whole_names(void **state)
{
	(void)state;
	assert_true(matches("java/util/.*", "java/util/Map.get"));
	assert_true(matches("java.util.*", "java/util/Map.get"));
	assert_false(matches("util", "java/util/Map.get"));
	assert_true(matches("a|b", "b"));
	assert_false(matches("a|b", "ab"));
	assert_true(matches("nothing\n.*get", "java/util/Map.get"));
	assert_true(matches("\n", "") == false);
}

static void as_java_spells(void **state)
{
	(void)state;
	assert_true(matches("Foo\\$\\$Lambda\\$\\d+\\.0x\\w+", "Foo$$Lambda$12.0x00ff"));
	assert_true(matches("\\QFoo$(1)\\E.*", "Foo$(1).run"));
	assert_true(matches("\\Qa.b", "a.b"));
	assert_false(matches("\\Qa.b", "axb"));
	assert_true(matches("(?:a|b)+?c", "ababc"));
	assert_true(matches("[\\w.$]+", "a.B$c_9"));
	assert_true(matches("[^\\s]*", "abc"));
	assert_false(matches("[^\\s]*", "a c"));
	assert_true(matches("[\\]\\-]x[a\\-z]", "]x-"));
	assert_false(matches("[a\\-z]", "m"));
	assert_true(matches("\\D\\W\\S", "a-b"));
	assert_true(matches("a{2,3}", "aaa"));
	assert_true(matches("\\[main tid=\\d+]", "[main tid=17]"));
}

static void what_is_not_understood(void **state)
{
	static const char *const wrong[] = {
		"a(?=b)", "(?i)a", "\\p{Lu}", "(a)\\1", "a++", "[a", "[a&&b]", "[[a]b]", "a{2000}", "a{1,9999}", "a{x}",
		"(", "\\", "[\\", "[\\p]", "[\\W]", "a{", "\\x41",
	};
	struct expressions e;
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		memset(&e, 0, sizeof(e));
		if (expressions_read(&e, wrong[i], "-I", &err) != -EINVAL)
			fail_msg("%s is taken", wrong[i]);
		assert_non_null(strstr(err.text, wrong[i]));
		expressions_free(&e);
	}
}

static void spans(void **state)
{
	static const struct thread_span noted[] = {
		{7, 10, 20}, {9, 5, 6}, {7, 15, 30}, {7, 40, 50}, {7, 42, 43}, {7, 60, 60}};
	struct spans s = {.tag = ""};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(noted); i++)
		spans_note(&s, &noted[i], "any");
	spans_sort(&s);
	assert_int_equal(s.items.count, 3);
	assert_true(spans_hold(&s, 7, 10) && spans_hold(&s, 7, 29) && spans_hold(&s, 7, 40) && spans_hold(&s, 7, 49));
	assert_false(spans_hold(&s, 7, 9) || spans_hold(&s, 7, 30) || spans_hold(&s, 7, 50) || spans_hold(&s, 7, 60));
	assert_true(spans_hold(&s, 9, 5));
	assert_false(spans_hold(&s, 9, 6) || spans_hold(&s, 8, 15));
	spans_free(&s);
}

static void spans_that_are_wanted(void **state)
{
	static const struct {
		const char *tag;
		uint64_t least;
		size_t left;
	} wanted[] = {
		{"", 0, 6}, {"", 7, 3}, {"GET /a", 0, 2}, {"GET*", 0, 4}, {"*a", 0, 3}, {"*T /*", 0, 6}, {"GET", 0, 0},
		{"get*", 0, 0}, {"GET*", 7, 2}, {"GET*", 100, 0},
	};
	static const char *const tags[] = {"GET /a", "POST /a", "GET /a", "GET /b", "POST /b", "GET /c"};
	struct buffer out;
	struct spans s;
	int64_t i, k;

	(void)state;
	for (i = 0; i < (int64_t)ARRAY_LEN(wanted); i++) {
		s = (struct spans){.tag = wanted[i].tag, .least = wanted[i].least};
		for (k = 0; k < (int64_t)ARRAY_LEN(tags); k++)
			spans_note(&s, &(struct thread_span){(uint64_t)k, 100, 104 + k}, tags[k]);
		assert_int_equal(s.items.count, wanted[i].left);
		assert_int_equal(s.all, 6);
		assert_int_equal(s.longest, 9);
		buffer_init(&out, -1);
		spans_put_names(&s, &out);
		if (!wanted[i].left)
			assert_string_equal(out.data, "GET /a (2), GET /b (1), GET /c (1), POST /a (1), POST /b (1)");
		buffer_free(&out);
		spans_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_names), cmocka_unit_test(as_java_spells), cmocka_unit_test(what_is_not_understood),
		cmocka_unit_test(spans), cmocka_unit_test(spans_that_are_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
