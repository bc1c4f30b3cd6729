/* Traces as collapsed stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include "calls_sample.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(slow_calls), cmocka_unit_test(slow_calls_by_thread)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
