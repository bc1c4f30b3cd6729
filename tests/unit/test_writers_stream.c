/* The records of a live stream, letter by letter, and names that try to break out of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "format_sample.h"
#include "profile/writers/stream/stream_records.h"

#define EVIL_NAME "a\"b\\\n!\xff\xc3\xb6"

static struct buffer out;

static int set_up(void **state)
{
	buffer_init(&out, -1);
	return 0;
}

static int tear_down(void **state)
{
	buffer_free(&out);
	return 0;
}

static void expect(const char *text)
{
	buffer_putc(&out, '\0');
	assert_int_equal(out.failed, 0);
	assert_string_equal(out.data, text);
	out.length = 0;
}

/* Leaf first. */
static struct profile_frame frames[3];

static struct stream_stack stack_of(enum sample_frame leaf, enum sample_frame middle, enum sample_frame root)
{
	frames[0] = sample_frames[leaf];
	frames[1] = sample_frames[middle];
	frames[2] = sample_frames[root];
	return (struct stream_stack){.time = 5, .id = 7, .frames = frames, .depth = 3, .complete = true};
}

static void header_and_stats(void **state)
{
	struct stream_event e = {.name = "cpu", .engine = "perf", .interval = 1000000, .taken = 12, .stored = 10,
				 .value = 10000000, .dropped = 3};
	struct stream_header h = {.time = 1, .real_offset = 2, .pid = 3, .cpus = 4, .main_class = "demo.Main",
				  .jdk = "17", .events = &e, .event_count = 1};
	struct stream_stats s = {.time = 9, .cpu_time = 8, .own_cpu = 7, .queue_bytes = 6, .waiting = 5,
				 .threads = 4, .events = &e, .event_count = 1};

	e.lost[LOSS_queue_full] = 2;
	stream_ndjson.header(&out, &h);
	expect("{\"kind\":\"header\",\"time\":1,\"schema\":1,\"realtime_offset\":2,\"pid\":3,\"cpus\":4,"
	       "\"main_class\":\"demo.Main\",\"jdk\":\"17\",\"jstrobe\":\"" JSTROBE_VERSION "\",\"events\":"
	       "[{\"event\":\"cpu\",\"interval\":1000000,\"unit\":\"ns\",\"of\":\"cpu\"}]}\n");
	stream_ndjson.stats(&out, &s);
	expect("{\"kind\":\"stats\",\"time\":9,\"cpu_time\":8,\"own_cpu\":7,\"threads\":4,\"queue_bytes\":6,"
	       "\"waiting\":5,\"events\":[{\"event\":\"cpu\",\"engine\":\"perf\",\"taken\":12,\"stored\":10,"
	       "\"value\":10000000,\"dropped\":3,\"lost\":{\"queue_full\":2}}]}\n");
}

static void samples(void **state)
{
	struct stream_stack stack = stack_of(S_WRITE, S_NATIVE_METHOD, S_RUN);
	struct stream_sample s = {.time = 5, .samples = 1, .value = 1000, .event = "cpu", .state = THREAD_RUNNING,
				  .thread = {.tid = 101, .java_id = 1, .name = EVIL_NAME}, .stack = &stack};

	stream_ndjson.stack(&out, &stack);
	expect("{\"kind\":\"stack\",\"time\":5,\"id\":7,\"complete\":true,\"frames\":[\"demo.OrderService.run\","
	       "\"java.io.FileOutputStream.writeBytes\",\"write\"],\"kinds\":[\"interpreted\",\"java_native\","
	       "\"native\"],\"lines\":[12,0,0]}\n");
	stream_ndjson.sample(&out, &s, 0);
	expect("{\"kind\":\"sample\",\"time\":5,\"event\":\"cpu\",\"tid\":101,\"java_id\":1,\"thread\":"
	       "\"a\\\"b\\\\\\u000a!\\ufffd\xc3\xb6\",\"value\":1000,\"state\":\"running\",\"stack\":7}\n");
	s.samples = 20;
	s.span = 19000;
	s.state = THREAD_PARKED;
	s.thread = (struct stream_thread){.java_id = 30, .name = "virtual thread #30"};
	stream_ndjson.sample(&out, &s, 0);
	expect("{\"kind\":\"sample\",\"time\":5,\"event\":\"cpu\",\"tid\":0,\"java_id\":30,\"thread\":"
	       "\"virtual thread #30\",\"value\":1000,\"samples\":20,\"span\":19000,\"state\":\"parked\",\"stack\":7}\n");
}

static void waits(void **state)
{
	struct stream_stack stack = stack_of(S_PUT, S_LAMBDA, S_RUN), holder = {.id = 8};
	struct stream_lock l = {.kind = LOCK_MONITOR, .class_name = "java/lang/Object", .identity = 255,
				.duration = 12000000, .owner_tid = 102, .owner = "worker", .owner_stack = &holder};
	struct stream_sample s = {.time = 5, .samples = 1, .value = 12000000, .event = "lock", .state = THREAD_BLOCKED,
				  .thread = {.tid = 101, .java_id = 1, .name = "ma!in"}, .stack = &stack, .lock = &l};

	stream_ndjson.sample(&out, &s, 0);
	expect("{\"kind\":\"lock\",\"time\":5,\"event\":\"lock\",\"tid\":101,\"java_id\":1,\"thread\":\"ma!in\","
	       "\"value\":12000000,\"state\":\"blocked\",\"stack\":7,\"lock\":\"monitor\",\"class\":"
	       "\"java.lang.Object\",\"id\":255,\"duration\":12000000,\"owner_tid\":102,\"owner\":\"worker\","
	       "\"owner_stack\":8}\n");
	stream_kindling.sample(&out, &s, 1000000000000000000);
	expect("kd-jf@1000000000000000005!1000000000012000005!101!ff!MonitorEnter!ma|in!12000000!102!"
	       "put.Ljava/util/HashMap;apply.Ldemo/OrderService$$Lambda$14+0x0000000800c03000;"
	       "run.Ldemo/OrderService;!\n");
	l.owner_tid = 0;
	l.kind = LOCK_PARK;
	stream_kindling.sample(&out, &s, 0);
	assert_non_null(memmem(out.data, out.length, "!UnsafePark!ma|in!12000000!-1!", 30));
}

/* What the thread worked for stands at the end, each part only if it is known. */
static void trace_contexts(void **state)
{
	struct stream_stack stack = stack_of(S_PUT, S_LAMBDA, S_RUN);
	struct profile_trace_context r = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736, 0xf067aa0ba902b7, "route\nGET \"/\"\nk\n\n",
				    false};
	struct stream_sample s = {.time = 5, .samples = 1, .value = 7, .event = "cpu", .thread = {.tid = 101, .name = "m"},
				  .stack = &stack, .trace_context = &r};

	stream_ndjson.sample(&out, &s, 0);
	expect("{\"kind\":\"sample\",\"time\":5,\"event\":\"cpu\",\"tid\":101,\"thread\":\"m\",\"value\":7,\"stack\":7,"
	       "\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\",\"span_id\":\"00f067aa0ba902b7\","
	       "\"labels\":{\"route\":\"GET \\\"/\\\"\",\"k\":\"\"}}\n");
	r = (struct profile_trace_context){.labels = "k\nv\n"};
	stream_ndjson.sample(&out, &s, 0);
	expect("{\"kind\":\"sample\",\"time\":5,\"event\":\"cpu\",\"tid\":101,\"thread\":\"m\",\"value\":7,\"stack\":7,"
	       "\"labels\":{\"k\":\"v\"}}\n");
	r = (struct profile_trace_context){.trace_low = 1, .span = 2, .labels = ""};
	stack.depth = 0;
	stream_kindling.sample(&out, &s, 100);
	expect("js-span@105!101!00000000000000000000000000000001!0000000000000002!\nkd-stack@105!101!0!1!\n");
}

static void drops(void **state)
{
	struct stream_drop d = {.time = 9, .since = 5, .records = 4, .event = "cpu", .samples = 40, .value = 400};

	stream_ndjson.drop(&out, &d);
	d.event = NULL;
	stream_ndjson.drop(&out, &d);
	expect("{\"kind\":\"drop\",\"time\":9,\"since\":5,\"records\":4,\"event\":\"cpu\",\"samples\":40,\"value\":400}\n"
	       "{\"kind\":\"drop\",\"time\":9,\"since\":5,\"records\":4}\n");
}

static void kindling_threads(void **state)
{
	struct stream_thread t = {.tid = 101, .name = EVIL_NAME};
	char name[1000];

	stream_kindling.thread(&out, &t);
	expect("kd-tm@101!a\"b\\ |\xff\xc3\xb6!\n");
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	t.name = name;
	stream_kindling.thread(&out, &t);
	assert_int_equal(out.length, strlen("kd-tm@101!") + 255 + strlen("!\n"));
	out.length = 0;
	t.ended = true;
	stream_kindling.thread(&out, &t);
	assert_int_equal(out.length, 0);
}

/* A stack of 200 frames, some longer than a record: pieces of at most 1,000 bytes that give all frames in order. */
static void kindling_pieces(void **state)
{
	static struct profile_frame many[200];
	static char names[200][40], giant[3000];
	struct stream_stack stack = {.frames = many, .depth = 200};
	struct stream_sample s = {.time = 5, .samples = 1, .event = "cpu", .thread = {.tid = 101}, .stack = &stack};
	size_t at = 0, n, seen = 0, first;
	bool finished = false;
	unsigned i;

	memset(giant, 'g', sizeof(giant) - 1);
	for (i = 0; i < 200; i++) {
		snprintf(names[i], sizeof(names[i]), "method!%u", i);
		many[i] = (struct profile_frame){.class_name = "pkg/Class", .name = i == 150 ? giant : names[i],
						 .kind = FRAME_C2};
	}
	stream_kindling.sample(&out, &s, 0);
	for (; at < out.length; at += n) {
		char *line = out.data + at, *frame, *rest;
		int tid, last;

		n = stream_record_length(line, out.length - at);
		assert_in_range(n, 1, 1000);
		line[n - 1] = '\0';
		assert_int_equal(sscanf(line, "kd-stack@5!%d!%zu!%d!", &tid, &first, &last), 3);
		assert_true(tid == 101 && first == seen && !finished);
		finished = last;
		strtok_r(line, "!", &rest);
		for (i = 0; i < 3; i++)
			strtok_r(NULL, "!", &rest);
		for (frame = strtok_r(NULL, "!", &rest); frame; frame = strtok_r(NULL, "!", &rest), seen++) {
			char wanted[64];

			snprintf(wanted, sizeof(wanted), "pkg/Class.method|%zu", seen);
			if (seen != 150)
				assert_string_equal(frame, wanted);
		}
	}
	assert_true(finished);
	assert_int_equal(seen, 200);
}

static void writers_by_name(void **state)
{
	assert_ptr_equal(stream_writer_by_name(""), &stream_ndjson);
	assert_ptr_equal(stream_writer_by_name("kindling"), &stream_kindling);
	assert_null(stream_writer_by_name("xml"));
	assert_int_equal(stream_record_length("ab\ncd\n", 6), 3);
	assert_int_equal(stream_record_length("ab", 2), 0);
	assert_int_equal(stream_record_length("", 0), 0);
}

/* What samples of an event say besides; what is not known, and a flag that is not set, are left out. */
static void fields(void **state)
{
	struct stream_stack stack = stack_of(S_WRITE, S_NATIVE_METHOD, S_RUN);
	static const struct event_field items[] = {
		{"x", "class", "c", "", EVENT_FIELD_CLASS}, {"x", "late", "l", "", EVENT_FIELD_FLAG},
		{"x", "size", "s", "", EVENT_FIELD_BYTES}, {"x", "value", "w", "", EVENT_FIELD_WEIGHT},
	};
	static const uint64_t full[EVENT_FIELDS_MAX] = {0, 1, 4096}, none[EVENT_FIELDS_MAX];
	struct stream_fields f = {{items, ARRAY_LEN(items)}, full, "demo/Order$1"};
	struct stream_sample s = {.time = 5, .samples = 1, .value = 3, .event = "x", .thread = {.tid = 1, .name = "t"},
				  .stack = &stack, .fields = &f};

	stream_ndjson.sample(&out, &s, 0);
	expect("{\"kind\":\"sample\",\"time\":5,\"event\":\"x\",\"tid\":1,\"thread\":\"t\",\"value\":3,\"stack\":7,"
	       "\"class\":\"demo.Order$1\",\"late\":true,\"size\":4096}\n");
	f.values = none;
	f.class_name = "";
	stream_ndjson.sample(&out, &s, 0);
	expect("{\"kind\":\"sample\",\"time\":5,\"event\":\"x\",\"tid\":1,\"thread\":\"t\",\"value\":3,\"stack\":7,"
	       "\"size\":0}\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(header_and_stats), TEST(samples), TEST(fields), TEST(waits), TEST(trace_contexts), TEST(drops), TEST(kindling_threads),
		TEST(kindling_pieces), TEST(writers_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
