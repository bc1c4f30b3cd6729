/* Traces as collapsed stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "calls_sample.h"
#include "common/base/base.h"

static void expect(const struct calls *c, bool time, const char *expected)
{
	struct buffer out = BUFFER_INIT;

	calls_write(c, "collapsed", &(struct calls_style){.total = time}, &out);
	buffer_putc(&out, '\0');
	assert_int_equal(out.failed, 0);
	assert_string_equal(out.data, expected);
	buffer_free(&out);
}

/* With a limit only calls that took so long are there, each with the stack that it was made from. */
static void slow_calls(void **state)
{
	struct calls c = calls_sample(false, true);

	expect(&c, false, "java.lang.Thread.run;com.acme.Main.run 1\n");
	expect(&c, true, "java.lang.Thread.run;com.acme.Main.run 2100000\n");
	c.events_lost = 7;
	expect(&c, false, "java.lang.Thread.run;com.acme.Main.run 1\n[not_kept] 7\n");
}

static void slow_calls_by_thread(void **state)
{
	struct calls c = calls_sample(true, true);

	expect(&c, false, "[main];java.lang.Thread.run;com.acme.Main.run 1\n");
}

/* Without a limit: the trees, with all of the time, waits apart. */
static void trees_in_full(void **state)
{
	struct calls c = calls_sample(true, true);
	struct buffer out = BUFFER_INIT;
	uint64_t sum = 0;
	char *line, *next;

	c.latency = UINT64_MAX;
	calls_write(&c, "collapsed", &(struct calls_style){.total = true}, &out);
	buffer_putc(&out, '\0');
	assert_non_null(strstr(out.data, "[several threads];NoPackage.rest;[monitor] 60000\n"));
	for (line = strtok_r(out.data, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
		assert_int_equal(line[0], '[');
		sum += strtoull(strrchr(line, ' '), NULL, 10);
	}
	assert_true(sum == 4495000);
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_calls), cmocka_unit_test(slow_calls_by_thread), cmocka_unit_test(trees_in_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
