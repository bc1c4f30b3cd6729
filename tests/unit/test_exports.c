/*
 * Files for other viewers: that they are whole whatever is in a profile. What they hold is read by another program in
 * tests/jvm/test_exports.py.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "common/base/utf8.h"
#include "format_sample.h"
#include "profile/exports/exports.h"
#include "profile/exports/sample_times.h"
#include "profile/exports/value_types.h"
#include "profile/views/gzip.h"
#include "profile/model/calls.h"

static const struct format_options by_thread = {.threads = true, .exports = exports_write};

/* What OUT holds, unpacked by zlib; its checksum is right. */
static struct buffer unpacked(const struct buffer *out)
{
	struct buffer all = BUFFER_INIT;
	z_stream z = {.next_in = (unsigned char *)out->data, .avail_in = (unsigned)out->length};
	static unsigned char piece[1 << 16];
	int rc;

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	do {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		rc = inflate(&z, Z_NO_FLUSH);
		buffer_append(&all, piece, sizeof(piece) - z.avail_out);
	} while (rc == Z_OK);
	assert_int_equal(rc, Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	return all;
}

static void packed_bytes_come_back(void **state)
{
	static const size_t sizes[] = {0, 1, 65534, 65535, 65536, 3 * 65535, 262143, 262144, 2000000};
	size_t i, at, piece;
	unsigned way;

	(void)state;
	for (i = 0; i < 2 * ARRAY_LEN(sizes); i++) {
		struct buffer out = BUFFER_INIT, part = BUFFER_INIT, all, given = BUFFER_INIT;
		struct gzip *z;

		way = (unsigned)(i % 2);
		z = way ? gzip_begin_stored(&out) : gzip_begin(&out);
		assert_non_null(z);
		for (at = 0; at < sizes[i / 2]; at += piece) {
			piece = MIN(sizes[i / 2] - at, (size_t)7001);
			for (size_t k = 0; k < piece; k++) {
				buffer_putc(&part, (char)((at + k) * (at + k) >> 7));
				buffer_putc(&given, (char)((at + k) * (at + k) >> 7));
			}
			gzip_take(z, &part, false);
		}
		gzip_take(z, &part, true);
		gzip_end(z);
		all = unpacked(&out);
		assert_int_equal(all.length, sizes[i / 2]);
		assert_int_equal(given.length, all.length);
		if (all.length)
			assert_memory_equal(all.data, given.data, all.length);
		buffer_free(&all);
		buffer_free(&given);
		buffer_free(&part);
		buffer_free(&out);
	}
}

static struct buffer exported(const char *name, const struct profile *const *profiles, uint32_t count)
{
	struct buffer out = BUFFER_INIT;

	format_write(format_by_name(name), profiles, count, &by_thread, &out, NULL);
	assert_int_equal(out.failed, 0);
	return out;
}

/* A sample has a value for each of its moments, whose sum is its own; or, where these are not all of it, none. */
static void samples_have_their_times(void **state)
{
	static const struct profile_stack stacks[] = {
		{.samples = 3, .weight = 3000}, {.samples = 1, .weight = 900}, {.samples = 2, .weight = 2000},
	};
	static const struct profile_moment moments[] = {
		{.at = 1, .stack = 0, .samples = 1, .weight = 1000}, {.at = 1, .stack = 1, .samples = 1, .weight = 906},
		{.at = 4, .stack = 0, .samples = 2, .weight = 1990}, {.at = 5, .stack = 2, .samples = 1, .weight = 1000},
		{.at = 9, .stack = PROFILE_NO_STACK, .samples = 1, .weight = 1000},
	};
	static const uint32_t apart[] = {0, 1, 2}, together[] = {1, 0, 1};
	static const struct value_type weight = {.of = VALUE_WEIGHT}, samples = {.of = VALUE_SAMPLES},
				       objects = {.of = VALUE_OBJECTS};
	struct profile p = {.stacks = stacks, .stack_count = 3, .moments = moments, .moments_of = stacks,
			    .moment_count = ARRAY_LEN(moments), .moment_step = 10, .started_at = 7000, .stored = 6,
			    .weight_stored = 5900};
	uint64_t values[ARRAY_LEN(moments)], times[ARRAY_LEN(moments)], *weights = sample_times_weights(&p);
	struct sample_times t;

	(void)state;
	assert_true(weights && weights[0] == 1000 && weights[1] == 900 && weights[2] == 2000);
	assert_true(weights[3] == 1000 && weights[4] == 1000);
	free(weights);
	assert_true(sample_times_build(&t, &p, apart, 3));
	assert_int_equal(sample_times_of(&t, 0, &weight, 3000, values, times), 2);
	assert_true(values[0] == 1000 && values[1] == 2000 && times[0] == 7010 && times[1] == 7040);
	assert_int_equal(sample_times_of(&t, 0, &samples, 3, values, times), 2);
	assert_true(values[0] == 1 && values[1] == 2);
	assert_int_equal(sample_times_of(&t, 1, &weight, 900, values, times), 1);
	assert_true(values[0] == 900 && times[0] == 7010);
	/* half of it was taken at times that are not known */
	assert_int_equal(sample_times_of(&t, 2, &weight, 2000, values, times), 0);
	assert_int_equal(sample_times_of(&t, 0, &objects, 3000, values, times), 0);
	sample_times_free(&t);
	/* two stacks are one sample */
	assert_true(sample_times_build(&t, &p, together, 2));
	assert_int_equal(sample_times_count(&t, 1), 3);
	assert_int_equal(sample_times_of(&t, 0, &samples, 1, values, times), 1);
	assert_int_equal(sample_times_of(&t, 1, &samples, 4, values, times), 3);
	assert_true(values[0] == 1 && values[1] == 2 && values[2] == 1 && times[2] == 7050);
	sample_times_free(&t);
	/* other stacks than the moments are of */
	p.moments_of = NULL;
	assert_true(sample_times_build(&t, &p, apart, 3));
	assert_int_equal(sample_times_of(&t, 0, &weight, 3000, values, times), 0);
	sample_times_free(&t);
}

/* Of the sample profile, which has all kinds of frames and names that try to break out. */
static void all_is_valid_utf8(void **state)
{
	const struct profile p = sample_profile(true), *profiles[] = {&p};
	struct buffer out = exported("speedscope", profiles, 1);
	size_t i, n;

	(void)state;
	buffer_putc(&out, '\0');
	for (i = 0; i + 1 < out.length; i += n) {
		n = utf8_length((const unsigned char *)out.data + i);
		assert_true(n > 0);
		assert_true(out.data[i] == '\n' || (unsigned char)out.data[i] >= ' ');
	}
	assert_non_null(strstr(out.data, "\"name\":\"[worker;1 tid=102]\""));
	assert_null(strstr(out.data, "</script>"));
	buffer_free(&out);
}

/* Recursion counts once, names that try to break out stay on their line, and numbers are those of all 64 bits. */
static void callgrind_file(void **state)
{
	static const struct profile_frame frames[] = {
		{"a/Loop", "even", "()V", NULL, 5, FRAME_C2, 0}, {"a/Loop", "odd", "()V", NULL, 9, FRAME_C2, 0},
		{NULL, "fn=(1) x\ncalls=1 0", NULL, "libc.so.6", 0, FRAME_NATIVE, 0}, {NULL, "", NULL, NULL, 0, FRAME_OTHER, 0},
	};
	static const uint32_t recursion[] = {0, 1, 0, 0}, leaf[] = {1, 2, 3};
	const struct profile_stack stacks[] = {
		{.frames = recursion, .depth = 4, .thread = PROFILE_NO_THREAD, .samples = 3, .weight = UINT64_MAX - 9},
		{.frames = leaf, .depth = 3, .thread = PROFILE_NO_THREAD, .samples = 1, .weight = 7},
	};
	const struct format_options lines = {.lines = true, .exports = exports_write};
	struct profile p = sample_empty();
	char *text;

	(void)state;
	p.main_class = "demo.Main\nevents: none";
	p.frames = frames;
	p.frame_count = ARRAY_LEN(frames);
	p.stacks = stacks;
	p.stack_count = ARRAY_LEN(stacks);
	text = sample_write_text(&p, "callgrind", &lines);
	assert_string_equal(strstr(text, "pid:"),
		"pid: 4711\ncmd: demo.Main events: none\npositions: line\nevents: samples cpu\n"
		"summary: 4 18446744073709551613\n\nfl=(1) ???\n"
		"fn=(1) [root]\n"
		"cfn=(2) a.Loop.even\ncalls=3 0\n0 3 18446744073709551606\n"
		"cfn=(3) a.Loop.odd\ncalls=1 0\n0 1 7\n"
		"fn=(2)\n5 3 18446744073709551606\n"
		"cfn=(2)\ncalls=3 0\n5 0 0\n"
		"cfn=(3)\ncalls=3 0\n5 3 18446744073709551606\n"
		"fn=(3)\n"
		"cfn=(2)\ncalls=3 0\n9 0 0\n"
		"cfn=(4) fn=(1) x calls=1 0\ncalls=1 0\n9 1 7\n"
		"fn=(4)\n"
		"cfn=(5) [no name]\ncalls=1 0\n0 1 7\n"
		"fn=(5)\n0 1 7\n");
	free(text);
}

/* A name of 64 KB is whole, and one from right to left stays as it is. */
static void callgrind_names(void **state)
{
	static char large[1 << 16];
	const struct profile_frame frames[] = {
		{"a/B", "m", large, NULL, 0, FRAME_C2, 0}, {"a/\u202e\u05d0;\"", "x,y", "()V", NULL, 0, FRAME_C2, 0},
	};
	static const uint32_t both[] = {0, 1};
	const struct profile_stack stack = {.frames = both, .depth = 2, .thread = PROFILE_NO_THREAD, .samples = 1, .weight = 1};
	const struct format_options signatures = {.sig = true, .exports = exports_write};
	struct profile p = sample_empty();
	char *text, *end;

	(void)state;
	memset(large, 'L', sizeof(large) - 1);
	p.frames = frames;
	p.frame_count = 2;
	p.stacks = &stack;
	p.stack_count = 1;
	text = sample_write_text(&p, "callgrind", &signatures);
	end = strchr(strstr(text, "a.B.mLL"), '\n');
	assert_int_equal(end - strstr(text, "a.B.mLL"), strlen("a.B.m") + sizeof(large) - 1);
	assert_non_null(strstr(text, " a.\\u202e\u05d0;\".x,y()V\n"));
	free(text);
}

/* A session whose names, thread and numbers try to leave their row, as FORMAT with FRAMES' names in STYLE. */
static char *hostile_rows(const char *format)
{
	static const struct profile_frame frames[] = {
		{"a/B", "x,y", "()V", NULL, 7, FRAME_C2, 0}, {"a/\u202e\u05d0;\"", "m\n", "()V", NULL, 0, FRAME_INLINED, 0},
		{NULL, "", NULL, "lib\"\n.so", 0, FRAME_NATIVE, 0}, {NULL, "\xff", NULL, NULL, 0, FRAME_KERNEL, 0},
	};
	static const uint32_t all[] = {0, 1, 2, 3};
	static const struct profile_thread thread = {0, "a\"b\r\n,c", 1, 1};
	static const struct profile_trace_context context = {.trace_high = 1, .trace_low = 2, .span = 3, .labels = "k\"\nv,\n"};
	static const struct profile_stack stacks[] = {
		{.frames = all, .depth = 4, .samples = 1, .weight = UINT64_MAX, .state = THREAD_RUNNING, .trace_context = 1},
		{.frames = all, .depth = 0, .thread = PROFILE_NO_THREAD, .samples = (1ull << 53) + 1},
	};
	struct profile p = sample_empty();

	p.frames = frames;
	p.frame_count = ARRAY_LEN(frames);
	p.stacks = stacks;
	p.stack_count = ARRAY_LEN(stacks);
	p.threads = &thread;
	p.thread_count = 1;
	p.per_thread = p.per_trace_context = true;
	p.trace_contexts = &context;
	p.trace_context_count = 1;
	return sample_write_text(&p, format, &by_thread);
}

static void rows_of_csv(void **state)
{
	char *text = hostile_rows("csv");

	(void)state;
	assert_string_equal(text,
		"event,thread,thread_id,state,trace_id,span_id,labels,samples,weight,unit,stack\r\n"
		"cpu,\"a\"\"b\r\n,c\",,running,00000000000000010000000000000002,0000000000000003,\"k\"\"=v,\",1,"
		"18446744073709551615,ns,\"a.B.x,y;a.\u202e\u05d0,\"\".m ;;\ufffd_[k]\"\r\n"
		"cpu,,,,,,,9007199254740993,0,ns,[no_frames]\r\n");
	free(text);
}

static void rows_of_ndjson(void **state)
{
	char *text = hostile_rows("ndjson");

	(void)state;
	assert_string_equal(text,
		"{\"event\":\"cpu\",\"thread\":\"a\\\"b\\u000d\\u000a,c\",\"state\":\"running\","
		"\"trace_id\":\"00000000000000010000000000000002\",\"span_id\":\"0000000000000003\","
		"\"labels\":{\"k\\\"\":\"v,\"},\"samples\":1,\"weight\":18446744073709551615,\"unit\":\"ns\",\"stack\":["
		"{\"name\":\"a.B.x,y\",\"type\":\"java\",\"line\":7,\"kind\":\"jit\"},"
		"{\"name\":\"a.\\u202e\u05d0;\\\".m \",\"type\":\"java\",\"kind\":\"inlined\"},"
		"{\"name\":\"\",\"type\":\"native\",\"library\":\"lib\\\"\\u000a.so\",\"kind\":\"native\"},"
		"{\"name\":\"\\ufffd_[k]\",\"type\":\"kernel\",\"kind\":\"kernel\"}]}\n"
		"{\"event\":\"cpu\",\"samples\":9007199254740993,\"weight\":0,\"unit\":\"ns\",\"stack\":["
		"{\"name\":\"[no_frames]\"}]}\n");
	free(text);
}

/* Texts stay texts, and a list is one array; tests/jvm holds all of it against the file of messages. */
static void otlp_as_json(void **state)
{
	char *text = hostile_rows("otlpjson");

	(void)state;
	assert_memory_equal(text, "{\"resourceProfiles\":[{\"resource\":", strlen("{\"resourceProfiles\":[{\"resource\":"));
	assert_non_null(strstr(text, "\"linkTable\":[{},{\"traceId\":\"00000000000000010000000000000002\","
				     "\"spanId\":\"0000000000000003\"}]"));
	assert_non_null(strstr(text, "\"values\":[\"9007199254740993\"]"));
	assert_non_null(strstr(text, "\"stringTable\":[\"\",\""));
	assert_string_equal(strchr(text, '\n'), "\n");
	free(text);
}

static void pictures(void **state)
{
	const struct profile p = sample_profile(true), none = sample_empty();
	char *text = sample_write_text(&p, "svg", &by_thread);

	(void)state;
	assert_non_null(strstr(text, "<title>start_thread (900 ms, 97.83 %)</title><rect x=\"36.0\" width=\"1174.0\""));
	assert_non_null(strstr(text, "&#60;.script&#62;"));
	assert_null(strstr(text, "</script>"));
	free(text);
	text = hostile_rows("svg");
	assert_null(strpbrk(text, "\r\t"));
	assert_non_null(strstr(text, "a.\u202e\u05d0;&#34;.m "));
	free(text);
	text = sample_write_text(&none, "svg", &by_thread);
	assert_non_null(strstr(text, "cpu: no samples</text>\n</svg>\n"));
	free(text);
}

static void rows_without_a_sample(void **state)
{
	const struct profile p = sample_empty();
	char *csv = sample_write_text(&p, "csv", &by_thread), *ndjson = sample_write_text(&p, "ndjson", &by_thread);

	(void)state;
	assert_string_equal(strchr(csv, '\r'), "\r\n");
	assert_string_equal(ndjson, "");
	free(csv);
	free(ndjson);
}

static void without_samples_and_without_frames(void **state)
{
	static const uint32_t none[1];
	const struct profile_stack stack = {.frames = none, .thread = PROFILE_NO_THREAD, .samples = 3, .weight = 30};
	const struct profile empty = sample_empty(), *first = &empty;
	struct profile p = sample_empty();
	const struct profile *both[] = {&empty, &p};
	const struct format *f;

	(void)state;
	p.event = "wall";
	p.stacks = &stack;
	p.stack_count = 1;
	p.stored = p.taken = 3;
	for (f = formats; f->name; f++) {
		struct buffer out;

		if (!format_is_export(f))
			continue;
		assert_non_null(exports_lack(f->name));
		out = exported(f->name, &first, 1);
		assert_true(out.length > 0 || strcmp(f->name, "ndjson") == 0);
		buffer_free(&out);
		out = exported(f->name, both, 2);
		assert_true(out.length > 0);
		buffer_free(&out);
	}
	assert_null(exports_lack("collapsed"));
}

static void write_errors_arrive(void **state)
{
	const struct profile p = sample_profile(true), *profiles[] = {&p};
	const struct format *f;
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	assert_true(fd >= 0);
	for (f = formats; f->name; f++) {
		struct buffer out;

		if (!format_is_export(f))
			continue;
		buffer_init(&out, fd);
		format_write(f, profiles, 1, &by_thread, &out, NULL);
		assert_int_equal(buffer_flush(&out), -ENOSPC);
		buffer_free(&out);
	}
	close(fd);
}

/* Who has no exports, the agent, says so; and calls have no place in them. */
static void refused(void **state)
{
	const struct format_options none = {.threads = true};
	const struct calls calls = {0};
	struct profile p = sample_profile(true);
	const struct profile *profiles[] = {&p};
	struct buffer out = BUFFER_INIT;

	(void)state;
	format_write(format_by_name("pprof"), profiles, 1, &none, &out, NULL);
	assert_int_equal(out.failed, ENOTSUP);
	buffer_free(&out);
	out = (struct buffer)BUFFER_INIT;
	p.calls = &calls;
	exports_write(format_by_name("pprof"), profiles, 1, &by_thread, &out);
	assert_int_equal(out.failed, ENOTSUP);
	buffer_free(&out);
}

/* P has the numbers EXPECTED, "name unit" each, NULL-ended. */
static void has_values(const struct profile *p, const char *const *expected)
{
	struct value_type types[VALUE_TYPES_MOST];
	unsigned i, count = value_types_of(p, types);
	char text[512];

	for (i = 0; expected[i]; i++) {
		assert_true(i < count);
		snprintf(text, sizeof(text), "%s %s", types[i].name, types[i].unit);
		assert_string_equal(text, expected[i]);
	}
	assert_int_equal(i, count);
}
#define HAS_VALUES(...) has_values(&p, (const char *const[]){__VA_ARGS__, NULL})

static void names_of_values(void **state)
{
	struct profile p = sample_profile(false);

	(void)state;
	HAS_VALUES("samples count", "cpu nanoseconds");
	p.event = "alloc";
	p.weight_kind = WEIGHT_BYTES;
	p.objects = 12;
	HAS_VALUES("alloc_samples count", "alloc_objects count", "alloc_space bytes");
	p.event = "cache-misses";
	p.weight_kind = WEIGHT_COUNT;
	p.objects = 0;
	HAS_VALUES("cache-misses_samples count", "cache-misses count");
}

static void suffixes(void **state)
{
	struct error err = {0};

	(void)state;
	assert_string_equal(format_by_file("x.pb.gz")->name, "pprof");
	assert_string_equal(format_by_file("/a.b/X.PB.GZ")->name, "pprof");
	assert_string_equal(format_by_file("x.pprof")->name, "pprof");
	assert_string_equal(format_by_file("x.speedscope.json")->name, "speedscope");
	assert_string_equal(format_by_file("x.firefox.json")->name, "firefox");
	assert_string_equal(format_by_file("x.pftrace")->name, "perfetto");
	assert_string_equal(format_by_file("x.perfetto-trace")->name, "perfetto");
	assert_string_equal(format_by_file("x.otlp.json")->name, "otlpjson");
	assert_string_equal(format_by_file("x.svg")->name, "svg");
	assert_string_equal(format_by_file("x.csv")->name, "csv");
	assert_string_equal(format_by_file("x.ndjson")->name, "ndjson");
	assert_string_equal(format_by_file("x.callgrind")->name, "callgrind");
	assert_string_equal(format_by_file("speedscope.json")->name, "json");
	assert_string_equal(format_by_file("x.json")->name, "json");
	assert_string_equal(format_by_file("pb.gz")->name, "text");
	assert_int_equal(format_check_file("x.pb.gz", &err), 0);
	assert_int_equal(format_check_file("x.json.gz", &err), -EINVAL);
	assert_non_null(strstr(err.text, ".pb.gz"));
	assert_int_equal(format_suffix("/a.b/x.pb.gz"), strlen(".pb.gz"));
	assert_int_equal(format_suffix("x.speedscope.json"), strlen(".speedscope.json"));
	assert_int_equal(format_suffix("x.JSON"), strlen(".json"));
	assert_int_equal(format_suffix("/a.json/x"), 0);
	assert_int_equal(format_suffix("x.json.1"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_bytes_come_back), cmocka_unit_test(samples_have_their_times),
		cmocka_unit_test(all_is_valid_utf8),
		cmocka_unit_test(callgrind_file), cmocka_unit_test(callgrind_names),
		cmocka_unit_test(rows_of_csv), cmocka_unit_test(rows_of_ndjson), cmocka_unit_test(otlp_as_json),
		cmocka_unit_test(pictures), cmocka_unit_test(rows_without_a_sample),
		cmocka_unit_test(without_samples_and_without_frames), cmocka_unit_test(write_errors_arrive),
		cmocka_unit_test(refused), cmocka_unit_test(names_of_values), cmocka_unit_test(suffixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
