/* What `jstrobe top` makes of a stream, of one that is damaged, and that a screen has its size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cli/top_view.h"

static const char *const lines[] = {
	"{\"kind\":\"header\",\"time\":1,\"schema\":1,\"realtime_offset\":2,\"pid\":7,\"cpus\":2,\"main_class\":\"demo.Main\","
	"\"jdk\":\"17\",\"jstrobe\":\"x\",\"events\":[{\"event\":\"cpu\",\"interval\":1,\"unit\":\"ns\",\"of\":\"cpu\"},"
	"{\"event\":\"wall\",\"interval\":1,\"unit\":\"ns\",\"of\":\"wall\"}]}",
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
	struct top_view v = {.rows = 24, .columns = 80, .filter = ""};
	struct buffer out = BUFFER_INIT;
	struct top_model m = {0};
	unsigned rows = 0, i;
	char *p;

	for (i = 0; i < ARRAY_LEN(lines); i++)
		assert_true(top_take(&m, lines[i], strlen(lines[i])));
	assert_int_equal(m.cpu, 400);
	top_show(&m, &v, &out);
	buffer_putc(&out, '\0');
	assert_non_null(strstr(out.data, "7 demo.Main  CPU 50/200 %, own 1.00 %, 2 samples, lost 2, dropped 5\n"));
	assert_non_null(strstr(out.data, " 75.0%  75.0%  a.Leaf\n  0.0%  75.0%  a.Root\n"));
	assert_non_null(strstr(out.data, "    12 ms       1  a.Lock, two\n"));
	assert_non_null(strstr(out.data, "PPPPPPPPPPPPPPPPPPPP  main\n"));
	assert_null(strchr(out.data, 27));
	for (p = out.data; *p; p = strchr(p, '\n') + 1, rows++)
		assert_in_range(strchr(p, '\n') - p, 0, 80);
	assert_in_range(rows, 5, 24);
	top_free(&m);
	buffer_free(&out);
}

/* Every beginning of every record, and bytes turned over, end in true or false. */
static void damage(void **state)
{
	struct top_view v = {.rows = 5, .columns = 30, .keys = "keys", .filter = "a", .by_total = true};
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
	top_show(&m, &v, &out);
	top_next(&m);
	top_show(&m, &v, &out);
	top_free(&m);
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_screen), cmocka_unit_test(damage)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
