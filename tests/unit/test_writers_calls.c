/* Traces as collapsed stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "calls_sample.h"
#include "profile/writers/format.h"

static void write_collapsed(const struct profile *p, bool time, struct buffer *out)
{
	format_write(format_by_name("collapsed"), &p, 1, &(struct format_options){.total = time}, out, NULL);
}

static void expect(const struct profile *p, bool time, const char *expected)
{
	struct buffer out = BUFFER_INIT;

	write_collapsed(p, time, &out);
	buffer_putc(&out, '\0');
	assert_int_equal(out.failed, 0);
	assert_string_equal(out.data, expected);
	buffer_free(&out);
}

/* With a limit only calls that took so long are there, each with the stack that it was made from. */
static void slow_calls(void **state)
{
	struct profile p = calls_sample(false, true);

	expect(&p, false, "java.lang.Thread.run;com.acme.Main.run 1\n");
	expect(&p, true, "java.lang.Thread.run;com.acme.Main.run 2100000\n");
	calls_sample_calls.events_lost = 7;
	expect(&p, false, "java.lang.Thread.run;com.acme.Main.run 1\n[not_kept] 7\n");
}

static void slow_calls_by_thread(void **state)
{
	struct profile p = calls_sample(true, true);

	expect(&p, false, "[main];java.lang.Thread.run;com.acme.Main.run 1\n");
}

/* Without a limit: the trees, with all of the time, waits apart. */
static void trees_in_full(void **state)
{
	struct profile p = calls_sample(true, true);
	struct buffer out = BUFFER_INIT;
	uint64_t sum = 0;
	char *line, *next;

	calls_sample_calls.latency = UINT64_MAX;
	write_collapsed(&p, true, &out);
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
