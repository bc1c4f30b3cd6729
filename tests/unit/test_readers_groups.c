/* Groups of threads by an expression of the user's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "profile/readers/group_expression.h"

/* The group of NAME by EXPRESSION; NULL: it says nothing of it. */
static const char *group_of(const char *expression, const char *name)
{
	static char group[64];
	struct group_expression g;
	const struct thread_namer *namer;
	struct error err;
	size_t length = 0;
	const char *part;

	assert_int_equal(group_expression_read(&g, expression, &err), 0);
	namer = group_expression_namer(&g);
	part = namer->part(namer, name, &length);
	assert_true(length < sizeof(group));
	if (part) {
		memcpy(group, part, length);
		group[length] = '\0';
	}
	group_expression_free(&g);
	return part ? group : NULL;
}

static void the_first_group_or_all_of_it(void **state)
{
	(void)state;
	assert_string_equal(group_of("^(http|pool)-", "http-nio-8080-exec-1"), "http");
	assert_string_equal(group_of("^(http|pool)-", "pool-3-thread-1"), "pool");
	assert_null(group_of("^(http|pool)-", "main"));
	assert_string_equal(group_of("[0-9]+", "exec-8080-x"), "8080");
	assert_string_equal(group_of("(a)?b", "b"), "b");
	assert_string_equal(group_of("Größe", "die Größe"), "Größe");
	assert_string_equal(group_of("x*", "none"), ""); /* of no length: it is no group, thread_pattern.c */
}

static void what_is_none_is_refused(void **state)
{
	static const char *const costly[] = {"((a{1,50}){1,50})", "a{101}", "a{2,1000}", "(.*)(.*)\\2x", "a{1,}{200}"};
	struct group_expression g;
	struct error err = {.code = 0};
	char long_one[600];
	size_t i;

	(void)state;
	assert_int_equal(group_expression_read(&g, "(http", &err), -EINVAL);
	assert_non_null(strstr(err.text, "--group '(http' is no regular expression"));
	/* what could take for ever is none either */
	for (i = 0; i < ARRAY_LEN(costly); i++) {
		assert_int_equal(group_expression_read(&g, costly[i], &err), -EINVAL);
		assert_non_null(strstr(err.text, "puts threads together by that part of their names"));
	}
	memset(long_one, 'a', sizeof(long_one));
	long_one[sizeof(long_one) - 1] = '\0';
	assert_int_equal(group_expression_read(&g, long_one, &err), -EINVAL);
	assert_int_equal(group_expression_read(&g, "a{3}(b{7})\\{9999", &err), 0);
	group_expression_free(&g);
	assert_null(group_expression_namer(&g));
	group_expression_free(&g);
	assert_int_equal(group_expression_read(&g, "", &err), 0);
	assert_null(group_expression_namer(&g));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_group_or_all_of_it), cmocka_unit_test(what_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
