/* The call tree on the screen: what grew since the last look, the heaviest branches, within the lines there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cli/live/trace.h"

#define METHODS                                                                                          \
	"\"methods\": [{\"class\": \"a.A\", \"name\": \"top\", \"signature\": \"()V\"}, "                \
	"{\"class\": \"a.A\", \"name\": \"same\", \"signature\": \"()V\"}, "                             \
	"{\"class\": \"a.A\", \"name\": \"same\", \"signature\": \"(I)V\", \"waits\": {\"io\": 1}}], "
#define NODE(number, parent, method, calls, total, self)                                                 \
	"{\"node\": " #number ", \"parent\": " #parent ", \"method\": " #method ", \"invocations\": " #calls \
	", \"total_wall\": " #total ", \"self_wall\": " #self "}"

/* 2 s, and 2 s more; methods and nodes have other numbers then. */
static const char first[] =
	"{\"pid\": 7, \"main\": \"app\", \"timing\": \"exact\", \"duration_ns\": 2000000000, \"invocations\": 12, " METHODS
	"\"tree\": [" NODE(1, 0, 0, 2, 1000000000, 100000000) ", " NODE(2, 1, 1, 10, 900000000, 900000000) "]}";
static const char second[] =
	"{\"pid\": 7, \"main\": \"app\", \"timing\": \"exact\", \"duration_ns\": 4000000000, \"invocations\": 36, "
	"\"methods\": [{\"class\": \"a.A\", \"name\": \"same\", \"signature\": \"()V\"}, "
	"{\"class\": \"a.A\", \"name\": \"top\", \"signature\": \"()V\"}, "
	"{\"class\": \"a.A\", \"name\": \"same\", \"signature\": \"(I)V\"}], "
	"\"tree\": [" NODE(1, 0, 2, 4, 400000000, 400000000) ", " NODE(2, 0, 1, 4, 2000000000, 200000000) ", "
	NODE(3, 2, 2, 8, 10000000, 10000000) ", " NODE(4, 2, 0, 20, 1790000000, 1790000000) "]}";

static void expect(const struct trace_model *m, const struct trace_view *v, const char *text)
{
	struct buffer out = BUFFER_INIT;

	assert_int_equal(trace_view_show(m, v, &out), 0);
	buffer_putc(&out, '\0');
	assert_string_equal(out.data, text);
	buffer_free(&out);
}

static void what_grew(void **state)
{
	struct trace_model m = {0};
	struct trace_view v = {.rows = 24, .columns = 80, .filter = ""};

	(void)state;
	assert_true(trace_model_take(&m, first, sizeof(first) - 1));
	expect(&m, &v,
	       "7 app  2.0 s, 12 calls, exact timing, last 2.0 s\n\n    CALLS/s    TOTAL    SELF  CALL TREE\n"
	       "          1    50.0%    5.0%  a.A.top\n"
	       "          5    45.0%   45.0%   a.A.same\n");
	assert_true(trace_model_take(&m, second, sizeof(second) - 1));
	expect(&m, &v,
	       "7 app  4.0 s, 24 calls, exact timing, last 2.0 s\n\n    CALLS/s    TOTAL    SELF  CALL TREE\n"
	       "          1    50.0%    5.0%  a.A.top\n"
	       "          5    44.5%   44.5%   a.A.same\n"
	       "          4     0.5%    0.5%   a.A.same\n"
	       "          2    20.0%   20.0%  a.A.same\n");
	v.whole = true;
	expect(&m, &v,
	       "7 app  4.0 s, 36 calls, exact timing, all 4.0 s\n\n    CALLS/s    TOTAL    SELF  CALL TREE\n"
	       "          1    50.0%    5.0%  a.A.top\n"
	       "          5    44.8%   44.8%   a.A.same\n"
	       "          2     0.2%    0.2%   a.A.same\n"
	       "          1    10.0%   10.0%  a.A.same\n");
	trace_model_free(&m);
}

static void lines_columns_and_filter(void **state)
{
	struct trace_model m = {0};
	struct trace_view v = {.rows = 6, .columns = 34, .filter = "", .keys = "keys"};

	(void)state;
	assert_true(trace_model_take(&m, first, sizeof(first) - 1));
	assert_true(trace_model_take(&m, second, sizeof(second) - 1));
	expect(&m, &v,
	       "7 app  4.0 s, 24 calls, exact timi\n\n    CALLS/s    TOTAL    SELF  CALL\n"
	       "          1    50.0%    5.0%  a.A.\n"
	       "          5    44.5%   44.5%   a.A\n"
	       "keys\n");
	v.columns = 80;
	v.filter = "top";
	v.paused = true;
	expect(&m, &v,
	       "7 app  4.0 s, 24 calls, exact timing, last 2.0 s  PAUSED\n\n"
	       "    CALLS/s    TOTAL    SELF  CALL TREE  with top\n"
	       "          1    50.0%    5.0%  a.A.top\n\n"
	       "keys\n");
	trace_model_free(&m);
}

static void what_is_no_result(void **state)
{
	static const char *const texts[] = {
		"", "{", "[]", "{\"tree\": [" NODE(1, 5, 0, 1, 1, 1) "]}", "{\"tree\": [{\"node\": 1}]}",
	};
	struct trace_model m = {0};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(texts); i++)
		assert_false(trace_model_take(&m, texts[i], strlen(texts[i])));
	/* methods that are not there have no name */
	assert_true(trace_model_take(&m, "{\"tree\": [" NODE(1, 0, 9, 1, 1, 1) "]}",
				     strlen("{\"tree\": [" NODE(1, 0, 9, 1, 1, 1) "]}")));
	assert_int_equal(m.nodes.count, 2);
	trace_model_free(&m);
}

/* Trees, methods, names and texts that are too large are refused before they take 32 MB. */
static void what_is_too_large(void **state)
{
	static const struct {
		const char *begin, *one, *end;
		unsigned count;
		bool good;
	} rows[] = {
		{"{\"tree\":[{\"parent\":0}", ",{\"parent\":0}", "]}", 40000, true},
		{"{\"tree\":[{\"parent\":0}", ",{\"parent\":0}", "]}", 400000, false},
		{"{\"methods\":[{\"name\":\"a\"}", ",{\"name\":\"a\"}", "]}", 400000, false},
		{"{\"main\":\"a", "bcdefghijklmnop", "\"}", 400000, false},
		{"{\"main\":\"a", "\\u0041", "\"}", 400000, false},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trace_model m = {0};
		struct buffer text = BUFFER_INIT;

		buffer_puts(&text, rows[i].begin);
		for (k = 0; k < rows[i].count; k++)
			buffer_puts(&text, rows[i].one);
		buffer_puts(&text, rows[i].end);
		if (trace_model_take(&m, text.data, text.length) != rows[i].good)
			fail_msg("row %zu", i);
		assert_in_range(m.nodes.count * sizeof(*m.nodes.items) + m.methods.count * sizeof(*m.methods.items) +
				strings_bytes(&m.strings), 1, 8u << 20);
		trace_model_free(&m);
		buffer_free(&text);
	}
}

/* Names of all looks together have a limit: they are kept from one to the next. */
static void names_without_end(void **state)
{
	struct trace_model m = {0};
	char text[100000];
	unsigned i, n;

	(void)state;
	for (i = 0; i < 200; i++) {
		n = (unsigned)snprintf(text, sizeof(text), "{\"tree\":[],\"methods\":[{\"name\":\"%06u%090000u\"}]}", i, i);
		if (!trace_model_take(&m, text, n))
			break;
	}
	assert_in_range(i, 30, 199);
	assert_true(m.too_large);
	trace_model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_grew), cmocka_unit_test(lines_columns_and_filter),
		cmocka_unit_test(what_is_no_result), cmocka_unit_test(what_is_too_large),
		cmocka_unit_test(names_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
