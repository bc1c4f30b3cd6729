/* What `jstrobe top` makes of a stream, of one that is damaged, and that a screen has its size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/live/top_tables.h"

static const char *const lines[] = {
	"{\"kind\":\"header\",\"time\":1,\"schema\":1,\"realtime_offset\":2,\"pid\":7,\"cpus\":2,\"main_class\":\"demo.Main\","
	"\"jdk\":\"17\",\"jstrobe\":\"x\",\"events\":[{\"event\":\"cpu\",\"interval\":1,\"unit\":\"ns\",\"of\":\"cpu\"},"
	"{\"event\":\"wall\",\"interval\":1,\"unit\":\"ns\",\"of\":\"wall\"},"
	"{\"event\":\"lock\",\"interval\":1,\"unit\":\"ns\",\"of\":\"wait\"}]}",
	"{\"kind\":\"stats\",\"time\":1000,\"cpu_time\":0,\"own_cpu\":0,\"threads\":1,\"queue_bytes\":1,\"waiting\":0,\"events\":[]}",
	"{\"kind\":\"thread\",\"time\":2,\"tid\":11,\"java_id\":1,\"name\":\"ma\\u001b[2Jin\"}",
	"{\"kind\":\"stack\",\"time\":2,\"id\":1,\"complete\":true,\"frames\":[\"a.Root\",\"a.Leaf\",\"a.Leaf\"],\"kinds\":[\"jit\"]}",
	"{\"kind\":\"sample\",\"time\":1000000,\"event\":\"cpu\",\"tid\":11,\"thread\":\"ma\\u001b[2Jin\",\"value\":300,\"stack\":1}",
	"{\"kind\":\"sample\",\"time\":2000000,\"event\":\"cpu\",\"tid\":12,\"thread\":\"two\",\"value\":100,\"stack\":9}",
	"{\"kind\":\"sample\",\"time\":2,\"event\":\"wall\",\"tid\":11,\"thread\":\"main\",\"value\":50,\"state\":\"parked\",\"stack\":1}",
	"{\"kind\":\"lock\",\"time\":3,\"event\":\"lock\",\"tid\":11,\"thread\":\"main\",\"value\":12000000,\"stack\":1,"
	"\"lock\":\"monitor\",\"class\":\"a.Lock\",\"duration\":1,\"owner\":\"two\"}",
	"{\"kind\":\"drop\",\"time\":4,\"since\":3,\"records\":1}",
	"{\"kind\":\"stats\",\"time\":2000,\"cpu_time\":500,\"own_cpu\":10,\"threads\":1,\"queue_bytes\":1,\"waiting\":0,"
	"\"events\":[{\"event\":\"cpu\",\"engine\":\"perf\",\"taken\":9,\"stored\":7,\"value\":1,\"dropped\":5,\"lost\":{\"queue_full\":2}}]}",
};

static void a_screen(void **state)
{
	struct top_view v = {.rows = 24, .columns = 80, .view = TOP_OVERVIEW, .filter = "", .event = TOP_EVENTS};
	struct buffer out = BUFFER_INIT;
	struct top_model m = {0};
	unsigned rows = 0, i;
	char *p;

	for (i = 0; i < ARRAY_LEN(lines); i++)
		assert_true(top_take(&m, lines[i], strlen(lines[i])));
	top_next(&m, 0);
	assert_int_equal(m.shown.weight[m.main_event], 400);
	top_show(&m, &v, &out);
	buffer_putc(&out, '\0');
	assert_non_null(strstr(out.data, "7 demo.Main  CPU 50/200 %, own 1.00 %, 2 samples, lost 2, dropped 5\n"));
	assert_non_null(strstr(out.data, " 75.0%  75.0%  a.Leaf\n"));
	assert_non_null(strstr(out.data, "  0.0%  75.0%  a.Root\n"));
	assert_non_null(strstr(out.data, " 25.0%  25.0%  [no_frames]\n"));
	assert_non_null(strstr(out.data, "    12 ms       1  a.Lock, two\n"));
	assert_non_null(strstr(out.data, "PPPPPPPPPPPPPPPPPPPP  main\n"));
	assert_null(strchr(out.data, 27));
	for (p = out.data; *p; p = strchr(p, '\n') + 1, rows++)
		assert_in_range(strchr(p, '\n') - p, 0, 80);
	assert_in_range(rows, 5, 24);
	top_free(&m);
	buffer_free(&out);
}

static void take(struct top_model *m, const char *line)
{
	assert_true(top_take(m, line, strlen(line)));
}

/* Lost and dropped are of the time since the last screen, and lost of the samples that are counted there. */
static void books_of_a_window(void **state)
{
	static const char form[] = "{\"kind\":\"stats\",\"time\":%u,\"cpu_time\":500,\"own_cpu\":10,\"events\":["
		"{\"event\":\"cpu\",\"dropped\":%u,\"lost\":{\"queue_full\":%u,\"disabled\":1}},"
		"{\"event\":\"wall\",\"dropped\":0,\"lost\":{\"signal_pending\":%u}}]}";
	static const struct {
		unsigned dropped, lost, wall;
		const char *said;
	} windows[] = {{100, 5000, 70, " samples, lost 0, dropped 0\n"}, {100, 5000, 70, "lost 0, dropped 0\n"},
		       {107, 5003, 70, "lost 3, dropped 7\n"}, {107, 5003, 79, "lost 0, dropped 0, others lost 9\n"}};
	struct top_view v = {.rows = 24, .columns = 120, .view = TOP_OVERVIEW, .filter = ""};
	struct top_model m = {0};
	char line[512];
	size_t i;

	take(&m, lines[0]);
	for (i = 0; i < ARRAY_LEN(windows); i++) {
		struct buffer out = BUFFER_INIT;

		snprintf(line, sizeof(line), form, (unsigned)i + 1, windows[i].dropped, windows[i].lost,
			 windows[i].wall);
		take(&m, line);
		top_next(&m, 0);
		top_show(&m, &v, &out);
		buffer_putc(&out, '\0');
		if (!strstr(out.data, windows[i].said))
			fail_msg("window %zu: %s", i, out.data);
		buffer_free(&out);
	}
	top_free(&m);
}

/* Every beginning of every record, and bytes turned over, end in true or false. */
static void damage(void **state)
{
	struct top_view v = {.rows = 5, .columns = 30, .terminal = true, .filter = "a", .events = "cpu"};
	struct buffer out = BUFFER_INIT;
	struct top_model m = {0};
	size_t i, n, length;
	char copy[1024];

	for (i = 0; i < ARRAY_LEN(lines); i++) {
		length = strlen(lines[i]);
		for (n = 0; n < length; n++) {
			top_take(&m, lines[i], n);
			memcpy(copy, lines[i], length);
			copy[n] ^= (char)(1 << n % 8);
			top_take(&m, copy, length);
		}
	}
	for (i = 0; i < 2 * TOP_VIEWS; i++) {
		v.view = i % TOP_VIEWS;
		v.rows = (unsigned)i;
		if (i % TOP_VIEWS == 0)
			top_next(&m, 0);
		top_show(&m, &v, &out);
	}
	top_free(&m);
	buffer_free(&out);
}

static bool put(struct top_model *m, const struct buffer *line)
{
	return top_take(m, line->data, line->length);
}

/* All memory is counted, and none is kept for a frame that a stack has more than twice. */
static void bytes_are_counted(void **state)
{
	struct top_model m = {0};
	struct buffer line = BUFFER_INIT;
	size_t parts = 0, i, k;

	assert_true(top_take(&m, lines[0], strlen(lines[0])));
	for (i = 1; i <= 2000; i++) {
		line.length = 0;
		buffer_printf(&line, "{\"kind\":\"stack\",\"time\":2,\"id\":%zu,\"frames\":[\"m%zu\"", i, i);
		for (k = 0; k < 1000; k++)
			buffer_puts(&line, ",\"a\"");
		buffer_puts(&line, "]}");
		assert_true(put(&m, &line));
		line.length = 0;
		buffer_printf(&line, "{\"kind\":\"sample\",\"time\":1,\"event\":\"cpu\",\"tid\":%zu,\"thread\":\"t\","
			      "\"value\":3,\"stack\":%zu}", i, i);
		assert_true(put(&m, &line));
		parts += malloc_usable_size(m.stacks.items[i].frames);
	}
	assert_in_range(parts, 1, 2000 * 64);
	assert_int_equal(m.frames.count, 2001);
	parts += strings_bytes(&m.strings) + m.frames.capacity * sizeof(*m.frames.items) + map_bytes(&m.by_frame) +
		 top_window_bytes(&m.gathered) + m.stacks.capacity * sizeof(*m.stacks.items);
	assert_true(top_bytes(&m) >= parts);
	buffer_free(&line);
	top_free(&m);
}

/* The number of a stack alone takes no memory. */
static void high_numbers(void **state)
{
	static const char text[] = "{\"kind\":\"stack\",\"time\":2,\"id\":4000000,\"frames\":[\"a\"]}";
	struct top_model m = {0};

	top_take(&m, text, sizeof(text) - 1);
	assert_in_range(top_bytes(&m), 1, 8u << 20);
	top_free(&m);
}

/* STACKS of DEPTH methods each, all different; CPU seconds. */
static double take_stacks(unsigned stacks, unsigned depth)
{
	struct top_model m = {0};
	struct buffer line = BUFFER_INIT;
	struct timespec from, to;
	unsigned i, k;

	for (k = 0; k < depth; k++)
		buffer_printf(&line, "%s\"m%u\"", k ? "," : "{\"kind\":\"stack\",\"time\":2,\"id\":1,\"frames\":[\"m1\",", k);
	buffer_puts(&line, "]}");
	assert_true(top_take(&m, lines[0], strlen(lines[0])));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (i = 0; i < stacks; i++)
		assert_true(put(&m, &line));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	assert_int_equal(m.stacks.items[1].count, depth + 1);
	/* the root first, and what is in it twice at both places */
	assert_string_equal(strings_get(&m.strings, m.frames.items[m.stacks.items[1].frames[1]].text), "m0");
	assert_int_equal(m.stacks.items[1].frames[0], m.stacks.items[1].frames[2]);
	top_free(&m);
	buffer_free(&line);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* As many frames take as long in a few deep stacks as in many. */
static void deep_stacks(void **state)
{
	double deep = take_stacks(20, 7000), flat = take_stacks(1400, 100);

	if (deep > 5 * flat)
		fail_msg("140,000 frames: %.3f s in stacks of 7,000, %.3f s in those of 100", deep, flat);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_screen), cmocka_unit_test(damage),
					   cmocka_unit_test(bytes_are_counted), cmocka_unit_test(high_numbers),
					   cmocka_unit_test(deep_stacks), cmocka_unit_test(books_of_a_window)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
