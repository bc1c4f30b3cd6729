/* Each view of `jstrobe top`, of one window of samples; keys, the line that is typed, and the history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/live/keyboard.h"
#include "cli/live/top_tables.h"

#define SECOND 1000000000ull
#define STACK(id, frames, kinds) "{\"kind\":\"stack\",\"time\":2,\"id\":" #id ",\"frames\":[" frames "],\"kinds\":[" kinds "]}"
#define SAMPLE(event, thread, state, value, stack) "{\"kind\":\"sample\",\"time\":1000000000,\"event\":\"" event "\",\"tid\":" \
	#thread ",\"thread\":\"order-" #thread "\",\"value\":" #value ",\"state\":\"" state "\",\"stack\":" #stack "}"
#define WAIT(thread, value, more) "{\"kind\":\"lock\",\"time\":1500000000,\"event\":\"lock\",\"tid\":" #thread \
	",\"thread\":\"order-" #thread "\",\"value\":" #value ",\"state\":\"blocked\",\"stack\":2,\"lock\":\"monitor\"," \
	"\"class\":\"shop.Stock\",\"id\":26,\"duration\":" #value more "}"

static const char header[] =
	"{\"kind\":\"header\",\"time\":1,\"schema\":1,\"pid\":7,\"cpus\":2,\"main_class\":\"shop.Orders\",\"jdk\":\"17\","
	"\"events\":[{\"event\":\"cpu\",\"interval\":1,\"unit\":\"ns\",\"of\":\"cpu\"},"
	"{\"event\":\"wall\",\"interval\":1,\"unit\":\"ns\",\"of\":\"wall\"},"
	"{\"event\":\"lock\",\"interval\":1,\"unit\":\"ns\",\"of\":\"wait\"},"
	"{\"event\":\"alloc\",\"interval\":1,\"unit\":\"bytes\",\"of\":\"bytes\"}]}";

static const char *const lines[] = {
	STACK(1, "\"java.lang.Thread.run\",\"shop.Orders.work\",\"shop.Orders.handle\",\"shop.Stock.reserve\","
		 "\"shop.Stock.recount\"", "\"jit\",\"jit\",\"jit\",\"jit\",\"jit\""),
	STACK(2, "\"java.lang.Thread.run\",\"shop.Orders.work\",\"shop.Orders.handle\",\"shop.Stock.reserve\"",
	      "\"jit\",\"jit\",\"jit\",\"jit\""),
	STACK(3, "\"java.util.concurrent.ThreadPoolExecutor.runWorker\",\"java.util.concurrent.ThreadPoolExecutor.getTask\","
		 "\"jdk.internal.misc.Unsafe.park\"", "\"jit\",\"jit\",\"jit\""),
	SAMPLE("cpu", 1, "running", 600000000, 1), SAMPLE("cpu", 2, "running", 200000000, 2),
	SAMPLE("wall", 1, "running", 1000000000, 1), SAMPLE("wall", 2, "blocked", 750000000, 2),
	SAMPLE("wall", 2, "running", 250000000, 1),
	"{\"kind\":\"sample\",\"time\":2000000000,\"event\":\"wall\",\"tid\":3,\"thread\":\"http-nio-8080-exec-1\","
	"\"value\":1000000000,\"state\":\"parked\",\"stack\":3}",
	"{\"kind\":\"sample\",\"time\":2000000000,\"event\":\"wall\",\"tid\":4,\"thread\":\"http-nio-8080-exec-2\","
	"\"value\":1000000000,\"state\":\"parked\",\"stack\":3}",
	WAIT(2, 500000000, ",\"owner_tid\":1,\"owner\":\"order-1\",\"owner_stack\":1"), WAIT(1, 250000000, ""),
	"{\"kind\":\"sample\",\"time\":1,\"event\":\"alloc\",\"tid\":1,\"thread\":\"order-1\",\"value\":3145728,\"stack\":1,"
	"\"class\":\"byte[]\",\"size\":16}",
	"{\"kind\":\"sample\",\"time\":1,\"event\":\"alloc\",\"tid\":1,\"thread\":\"order-1\",\"value\":1048576,\"stack\":2,"
	"\"class\":\"byte[]\",\"size\":16}",
};

static void take(struct top_model *m, const char *line)
{
	assert_true(top_take(m, line, strlen(line)));
}

static void fill(struct top_model *m)
{
	size_t i;

	take(m, header);
	for (i = 0; i < ARRAY_LEN(lines); i++)
		take(m, lines[i]);
	top_next(m, SECOND);
}

static struct top_view view_of(enum top_view_id view)
{
	return (struct top_view){.rows = 24, .columns = 120, .view = view, .terminal = true, .filter = "", .events = "cpu",
				 .event = TOP_EVENTS};
}

/* The screen of V holds WANTED, and has at most its rows and columns. */
static void shows(const struct top_model *m, struct top_view *v, const char *wanted)
{
	struct buffer out = BUFFER_INIT;
	unsigned rows = 0, columns;
	const char *p;

	top_show(m, v, &out);
	buffer_putc(&out, '\0');
	if (!strstr(out.data, wanted))
		fail_msg("'%s' is not in:\n%s", wanted, out.data);
	assert_null(strchr(out.data, 27));
	for (p = out.data; *p; p++) {
		for (columns = 0; *p != '\n'; p++)
			columns += ((unsigned char)*p & 0xc0) != 0x80;
		assert_in_range(columns, 0, v->columns);
		rows++;
	}
	assert_int_equal(rows, v->rows);
	buffer_free(&out);
}

static void each_view(void **state)
{
	static const struct {
		enum top_view_id view;
		const char *said;
	} screens[] = {
		{TOP_OVERVIEW, " 75.0%  75.0%  shop.Stock.recount\n"},
		{TOP_OVERVIEW, "   750 ms       2  shop.Stock, order-1\n"},
		{TOP_OVERVIEW, " 60.0%  RRRRRRRRRRRRRRRRRRRR  order-1\n"},
		{TOP_METHODS, "methods by SELF, cpu, last 1.0 s\n"},
		{TOP_METHODS, " 25.0% 100.0%  shop.Stock.reserve\n"},
		{TOP_THREADS, " 20.0%  RRRRRBBBBBBBBBBBBBBB  order-2\n"},
		{TOP_GROUPS, "  80.0%        2       2 s  order-*  running 62.50 %\n"},
		{TOP_GROUPS, "2 threads in 1 group were idle all the time"},
		{TOP_WALL, "  NOT IDLE  THREADS  running    lock  THREADS CALLED\n       2 s        2    62.5%   37.5%  order-*\n"},
		{TOP_LOCKS, "    750 ms        2  shop.Stock@1a  in shop.Stock.reserve; order-* had it in shop.Stock.recount; "
			    "waited for by order-*\n"},
		{TOP_ALLOC, "    3.0 MB/s   75.0%        1  byte[]  in shop.Stock.recount\n"},
	};
	struct top_model m = {0};
	size_t i;

	fill(&m);
	for (i = 0; i < ARRAY_LEN(screens); i++) {
		struct top_view v = view_of(screens[i].view);

		shows(&m, &v, screens[i].said);
		shows(&m, &v, screens[i].said); /* what is shown stays */
	}
	top_free(&m);
}

/* Order, filter, idle threads and what is on top of a long table. */
static void changed_views(void **state)
{
	struct top_view v = view_of(TOP_METHODS);
	struct top_model m = {0};
	regex_t wanted;

	fill(&m);
	v.sort[TOP_METHODS] = 1;
	shows(&m, &v, "methods by TOTAL, cpu");
	shows(&m, &v, "METHOD\n  0.0% 100.0%  java.lang.Thread.run\n");
	v.sort[TOP_METHODS] = TOP_BY_NAME;
	shows(&m, &v, "METHOD\n  0.0% 100.0%  java.lang.Thread.run\n  0.0% 100.0%  shop.Orders.handle\n");
	v.sort[TOP_METHODS] = 0;
	assert_int_equal(regcomp(&wanted, "(work|handle)$", REG_EXTENDED | REG_NOSUB), 0);
	v.wanted = &wanted;
	v.filter = "(work|handle)$";
	shows(&m, &v, "/(work|handle)$/\n  SELF  TOTAL  METHOD\n  0.0% 100.0%  shop.Orders.handle\n"
		      "  0.0% 100.0%  shop.Orders.work\n\n");
	regfree(&wanted);
	v = view_of(TOP_WALL);
	v.idle = true;
	shows(&m, &v, "  idle  THREADS CALLED\n");
	shows(&m, &v, " 100.0%  http-nio-8080-exec-*\n");
	v = view_of(TOP_METHODS);
	v.event = 1;
	shows(&m, &v, "waits for work are left out: 50.00 % of the time");
	v.idle = true;
	shows(&m, &v, " 50.0%  50.0%  jdk.internal.misc.Unsafe.park\n");
	v = view_of(TOP_THREADS);
	v.rows = 7;
	v.first = 99;
	shows(&m, &v, "THREAD\n  0.0%  PPPPPPPPPPPPPPPPPPPP  http-nio-8080-exec-1\n"
		      "  0.0%  PPPPPPPPPPPPPPPPPPPP  http-nio-8080-exec-2\n");
	assert_int_equal(v.first, 2);
	top_free(&m);
}

/* What is not sampled is told of, with what would. */
static void needs(void **state)
{
	static const char only_cpu[] = "{\"kind\":\"header\",\"time\":1,\"pid\":7,\"cpus\":2,\"events\":[{\"event\":\"cpu\","
				       "\"interval\":1,\"unit\":\"ns\",\"of\":\"cpu\"}]}";
	struct top_view v = view_of(TOP_LOCKS);
	struct top_model m = {0};

	take(&m, only_cpu);
	take(&m, lines[3]);
	top_next(&m, SECOND);
	shows(&m, &v, "locks: not sampled; what is: cpu\n+ begins the session anew with it, as does\n"
		      "  jstrobe top -e cpu,lock 7\n");
	v.joined = true;
	shows(&m, &v, "the session ran before");
	assert_string_equal(top_view_event(&m, TOP_ALLOC), "alloc");
	assert_string_equal(top_view_event(&m, TOP_WALL), "wall@100ms");
	assert_null(top_view_event(&m, TOP_METHODS));
	v = view_of(TOP_GROUPS);
	shows(&m, &v, "    CPU  THREADS  THREADS CALLED\n  60.0%        1  order-1\n");
	top_free(&m);
	fill(&m);
	assert_null(top_view_event(&m, TOP_LOCKS));
	top_free(&m);
}

/* Windows follow each other without a hole: what comes in a pause is in the first one behind it. */
static void pauses(void **state)
{
	struct top_view v = view_of(TOP_THREADS);
	struct top_model m = {0};
	unsigned i;

	fill(&m);
	assert_int_equal(m.samples, 2);
	v.paused = true;
	for (i = 0; i < 5; i++)
		take(&m, lines[3]);
	shows(&m, &v, "PAUSED, 5 samples since; threads by CPU, last 1.0 s\n");
	shows(&m, &v, " 2 samples, lost 0, dropped 0, 2 in all\n");
	top_next(&m, 10 * SECOND);
	v.paused = false;
	shows(&m, &v, " 5 samples, lost 0, dropped 0, 7 in all\n");
	shows(&m, &v, "threads by CPU, last 10.0 s\n   CPU  STATES                THREAD\n 30.0%  ....................  order-1\n");
	top_free(&m);
}

/* No size is too small, and names can do nothing to the terminal. */
static void sizes_and_names(void **state)
{
	static const char hostile[] = "{\"kind\":\"sample\",\"time\":5,\"event\":\"cpu\",\"tid\":9,\"thread\":\"\\u001b[2J\\u009b"
				      "\\r\\n\\u202eevil\",\"value\":99,\"stack\":1}";
	struct top_model m = {0};
	unsigned columns, rows, view;

	take(&m, header);
	take(&m, "{\"kind\":\"stack\",\"time\":2,\"id\":1,\"frames\":[\"a.\\u001b]0;x\\u0007b\",\"\\u001b[31m\\n\\u0000z.y\"],"
		 "\"kinds\":[\"jit\",\"native\"]}");
	take(&m, hostile);
	top_next(&m, SECOND);
	for (view = 0; view < TOP_VIEWS; view++) {
		for (columns = 1; columns < 130; columns += 3) {
			for (rows = 1; rows < 30; rows += 4) {
				struct top_view v = view_of((enum top_view_id)view);

				v.columns = columns;
				v.rows = rows;
				v.help = columns & 1;
				shows(&m, &v, "");
			}
		}
	}
	top_free(&m);
}

/* A window does not grow without end, and what is in it still adds up. */
static void many_threads(void **state)
{
	struct top_model m = {0};
	uint64_t sum = 0;
	char line[256];
	unsigned i;

	take(&m, header);
	for (i = 0; i < TOP_MOST + 1000; i++) {
		snprintf(line, sizeof(line), "{\"kind\":\"sample\",\"time\":%u,\"event\":\"cpu\",\"tid\":0,\"java_id\":%u,"
			 "\"thread\":\"v\",\"value\":7,\"stack\":0}", i + 1, i + 1);
		take(&m, line);
	}
	top_next(&m, SECOND);
	assert_int_equal(m.shown.threads.count, TOP_MOST);
	assert_in_range(m.shown.cells.count, TOP_MOST - TOP_EVENTS, TOP_MOST);
	for (i = 0; i < m.shown.cells.count; i++)
		sum += m.shown.cells.items[i].weight;
	assert_int_equal(sum, 7ull * (TOP_MOST + 1000));
	assert_int_equal(m.shown.samples[0], TOP_MOST + 1000);
	assert_in_range(top_bytes(&m), 1, 24u << 20);
	top_free(&m);
}

/* Nor do locks and who had them; a screen of them is soon made. */
static void many_locks(void **state)
{
	struct top_view v = view_of(TOP_LOCKS);
	struct buffer out = BUFFER_INIT;
	struct top_model m = {0};
	char line[512];
	clock_t begun;
	unsigned i;

	take(&m, header);
	take(&m, lines[0]);
	take(&m, lines[1]);
	for (i = 0; i < 20000; i++) {
		snprintf(line, sizeof(line), "{\"kind\":\"lock\",\"time\":%u,\"event\":\"lock\",\"tid\":%u,\"thread\":\"t%u\","
			 "\"value\":7,\"state\":\"blocked\",\"stack\":2,\"lock\":\"monitor\",\"class\":\"C%u\",\"id\":%u,"
			 "\"duration\":7,\"owner\":\"o%u\",\"owner_stack\":1}", i + 1, i + 1, i, i % 5000, i, i);
		take(&m, line);
	}
	top_next(&m, SECOND);
	assert_int_equal(m.shown.locks.count, TOP_MOST_LOCKS);
	assert_int_equal(m.shown.holders.count, TOP_MOST_LOCKS);
	assert_int_equal(m.shown.weight[2], 7 * 20000);
	begun = clock();
	top_show(&m, &v, &out);
	assert_in_range((clock() - begun) * 1000 / CLOCKS_PER_SEC, 0, 3000);
	buffer_free(&out);
	top_free(&m);
}

/* ---- keys ---- */

static void keys(void **state)
{
	static const struct {
		const char *bytes;
		int keys[5];
	} typed[] = {
		{"qs", {'q', 's'}}, {"\033", {KEY_ESCAPE}}, {"\033q", {KEY_ESCAPE, 'q'}}, {"\033[A\033[B", {KEY_UP, KEY_DOWN}},
		{"\033[5~\033[6~x", {KEY_PAGE_UP, KEY_PAGE_DOWN, 'x'}}, {"\033OH", {KEY_HOME}}, {"\033[1;5Cq", {KEY_RIGHT, 'q'}},
		{"\033[200~a", {KEY_OTHER, 'a'}}, {"\033[", {KEY_OTHER}}, {"\033[12", {KEY_OTHER}}, {"\033\033", {KEY_ESCAPE,
														   KEY_ESCAPE}},
	};
	struct keyboard k;
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(typed); i++) {
		k.count = strlen(typed[i].bytes);
		memcpy(k.bytes, typed[i].bytes, k.count);
		for (n = 0; typed[i].keys[n]; n++)
			assert_int_equal(keyboard_next(&k, true), typed[i].keys[n]);
		assert_int_equal(keyboard_next(&k, true), KEY_NONE);
	}
	/* the rest is on its way */
	memcpy(k.bytes, "\033[", k.count = 2);
	assert_int_equal(keyboard_next(&k, false), KEY_NONE);
	k.bytes[k.count++] = 'D';
	assert_int_equal(keyboard_next(&k, false), KEY_LEFT);
	/* a sequence without an end */
	memset(k.bytes, '1', sizeof(k.bytes));
	memcpy(k.bytes, "\033[", 2);
	k.count = sizeof(k.bytes);
	assert_int_equal(keyboard_next(&k, false), KEY_OTHER);
	assert_int_equal(k.count, 0);
}

static void a_typed_line(void **state)
{
	static const char typed[] = "ab\303\244\177\177c\025xyz\010";
	char text[4] = "";
	size_t i;

	for (i = 0; typed[i]; i++)
		assert_false(keyboard_type(text, sizeof(text), (unsigned char)typed[i]));
	assert_string_equal(text, "xy");
	assert_false(keyboard_type(text, sizeof(text), KEY_UP));
	assert_true(keyboard_type(text, sizeof(text), '\n'));
	assert_string_equal(text, "xy");
	assert_true(keyboard_type(text, sizeof(text), KEY_ESCAPE));
	assert_string_equal(text, "");
}

/* The line at the bottom, help and documentation have every key, at any width. */
static void the_table_of_keys(void **state)
{
	struct buffer out = BUFFER_INIT;
	unsigned columns, lines_of_help, i;

	assert_int_equal(top_key_action('q'), TOP_DO_QUIT);
	assert_int_equal(top_key_action(' '), top_key_action('p'));
	assert_int_equal(top_key_action('L'), TOP_SHOW_LOCKS);
	assert_int_equal(top_key_action('Q'), TOP_ACTIONS);
	assert_int_equal(top_key_action(KEY_UP), TOP_DO_UP);
	assert_string_equal(top_view_word(TOP_ALLOC), "alloc");
	top_keys_line(&out, TOP_LOCKS, 80);
	buffer_putc(&out, '\0');
	assert_string_equal(out.data, "q quit  p pause  s sort  / filter  Methods Threads Groups Wall [Locks] Alloc  ?");
	for (columns = 1; columns < 140; columns++) {
		out.length = 0;
		top_keys_line(&out, TOP_OVERVIEW, columns);
		assert_in_range(out.length, 1, columns);
		assert_int_equal(out.data[out.length - 1], '?');
		for (i = 0, lines_of_help = 0; out.length = 0, top_keys_help(&out, i, columns); i++)
			lines_of_help++;
		assert_in_range(lines_of_help, TOP_ACTIONS, 400);
	}
	out.length = 0;
	top_keys_markdown(&out);
	buffer_putc(&out, '\0');
	assert_non_null(strstr(out.data, "\n| `p`, `space` | "));
	assert_non_null(strstr(out.data, "\n| `w` | **wall**: "));
	buffer_free(&out);
}

/* ---- history ---- */

static void is_drawn(const struct top_history *h, uint64_t now, const char *wanted)
{
	struct buffer out = BUFFER_INIT;

	top_history_put(h, now, 100, &out);
	buffer_putc(&out, '\0');
	assert_string_equal(out.data, wanted);
	buffer_free(&out);
}

static void add(struct top_history *h, uint64_t at, uint64_t cpu)
{
	top_history_add(h, at, cpu, at);
}

static void history(void **state)
{
	struct top_history h = {.time = 0};
	uint64_t at = 100 * SECOND, cpu = 5 * SECOND;

	is_drawn(&h, 1, "CPU   from the second second on");
	add(&h, at, cpu);
	is_drawn(&h, at, "CPU   from the second second on");
	add(&h, at += SECOND, cpu += SECOND / 2);
	add(&h, at += SECOND, cpu += SECOND);
	add(&h, at += SECOND, cpu);
	is_drawn(&h, at, "CPU ▄█▁  3 s, most 100 %");
	/* three seconds with one figure: two of them have none */
	add(&h, at += 3 * SECOND, cpu += 3 * SECOND);
	is_drawn(&h, at, "CPU ▄█▁··█  6 s, most 100 %  · no data");
	/* nothing comes any more */
	is_drawn(&h, at + 4 * SECOND, "CPU ▄█▁··█···  9 s, most 100 %  · no data");
	/* another session, whose counters begin anew */
	top_history_part(&h);
	add(&h, at += 4 * SECOND, 0);
	add(&h, at += SECOND, SECOND);
	is_drawn(&h, at, "CPU ▄█▁··█···█  10 s, most 100 %  · no data");
	/* the last counters come at once */
	add(&h, at + SECOND / 100, SECOND);
	is_drawn(&h, at, "CPU ▄█▁··█···█  10 s, most 100 %  · no data");
}

static void a_long_history(void **state)
{
	struct top_history h = {.time = 0};
	struct buffer out = BUFFER_INIT;
	unsigned columns, i;

	for (i = 1; i < 500; i++)
		top_history_add(&h, i * SECOND, i * SECOND * 2, i * SECOND);
	for (columns = 1; columns < 150; columns++) {
		unsigned width = 0;
		size_t n;

		out.length = 0;
		top_history_put(&h, 499 * SECOND, columns, &out);
		for (n = 0; n < out.length; n++)
			width += ((unsigned char)out.data[n] & 0xc0) != 0x80;
		assert_in_range(width, 1, MAX(columns, 4u));
	}
	top_history_put(&h, 9999 * SECOND, 150, &out);
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_view), cmocka_unit_test(changed_views), cmocka_unit_test(needs),
		cmocka_unit_test(pauses), cmocka_unit_test(sizes_and_names), cmocka_unit_test(many_threads), cmocka_unit_test(many_locks),
		cmocka_unit_test(keys), cmocka_unit_test(a_typed_line), cmocka_unit_test(the_table_of_keys),
		cmocka_unit_test(history), cmocka_unit_test(a_long_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
