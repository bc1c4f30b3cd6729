/* Files of others that are well formed but odd: what is not counted is said, and numbers are what they say. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "foreign_files.h"
#include "common/base/utf8.h"
#include "format_sample.h"
#include "profile/readers/input/json_pull.h"

#define HEAD "event,thread,thread_id,state,trace_id,span_id,labels,samples,weight,unit,stack\r\n"

static void expect(const char *file, const char *expected)
{
	char *text = foreign_as(file, strlen(file), "csv");

	assert_string_equal(text, expected);
	free(text);
}

/* What is said of FILE beside ROWS; "": nothing. */
static void expect_note(const char *file, const char *rows, const char *note)
{
	struct error err;
	struct conversion *c = foreign_read(file, strlen(file), "csv", &err);

	if (!c)
		fail_msg("refused: %s", err.text);
	if (*note ? !strstr(readers_notes(c), note) : *readers_notes(c) != '\0')
		fail_msg("%s is not in: %s", note, readers_notes(c));
	readers_free(c);
	expect(file, rows);
}

static void expect_refused(const void *file, size_t size, const char *reason)
{
	struct error err;
	struct conversion *c = foreign_read(file, size, "csv", &err);

	assert_null(c);
	if (!strstr(err.text, reason))
		fail_msg("%s is not in: %s", reason, err.text);
}

/* ---- speedscope ---- */

#define SPEEDSCOPE "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
#define FRAMES "\"shared\":{\"frames\":[{\"name\":\"f\"},{\"name\":\"g\"}]}"
#define SAMPLED "\"profiles\":[{\"type\":\"sampled\",\"name\":\"x\",\"unit\":\"none\",\"startValue\":0,\"endValue\":9,"
#define EVENTED "\"profiles\":[{\"type\":\"evented\",\"name\":\"x\",\"unit\":\"none\",\"startValue\":0,"
#define OPEN(frame, at) "{\"type\":\"O\",\"frame\":" #frame ",\"at\":" #at "}"
#define CLOSE(frame, at) "{\"type\":\"C\",\"frame\":" #frame ",\"at\":" #at "}"

/* Our own name is "TITLE, EVENT": others end in a comma, too. */
static void speedscope_names(void **state)
{
	static const char *const names[] = {"x,", ",", ", ", "", "a,b", "a, b, "};
	char file[1024];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(file, sizeof(file), SPEEDSCOPE FRAMES "," SAMPLED "\"samples\":[[0]],\"weights\":[3]}],\"name\":\"%s\"}",
			 names[i]);
		expect(file, HEAD "units,,,,,,,3,3,units,f\r\n");
	}
	/* threads may be called as ours are spelled */
	expect(SPEEDSCOPE FRAMES ",\"exporter\":\"jstrobe 0.1.0\",\"name\":\"demo.Main, cpu\",\"profiles\":[{\"type\":\"sampled\","
	       "\"name\":\"[x tid=1 tid=77]\",\"unit\":\"nanoseconds\",\"samples\":[[0]],\"weights\":[5]}]}",
	       HEAD "cpu,x tid=1,77,,,,,1,5,ns,f\r\n");
}

static void speedscope_weights(void **state)
{
	static const char none[] = SPEEDSCOPE FRAMES "," SAMPLED "\"samples\":[[0],[1]]}]}";

	(void)state;
	expect_note(SPEEDSCOPE FRAMES "," SAMPLED "\"samples\":[[0],[1],[0]],\"weights\":[5]}]}",
		    HEAD "units,,,,,,,5,5,units,f\r\n", "2 samples have no weight, or weights no sample; they are left out");
	expect_note(SPEEDSCOPE FRAMES "," SAMPLED "\"samples\":[[0]],\"weights\":[5,6]}]}",
		    HEAD "units,,,,,,,5,5,units,f\r\n", "1 samples have no weight, or weights no sample");
	expect_refused(none, strlen(none), "none of the 2 samples of this file of speedscope has a weight");
}

static void speedscope_events(void **state)
{
	(void)state;
	/* what is entered and not left lasts to the end */
	expect_note(SPEEDSCOPE FRAMES "," EVENTED "\"endValue\":100,\"events\":[" OPEN(0, 0) "," OPEN(1, 10) "]}]}",
		    HEAD "units,,,,,,,10,10,units,f\r\nunits,,,,,,,90,90,units,f;g\r\n", "");
	expect_note(SPEEDSCOPE FRAMES "," EVENTED "\"endValue\":100,\"events\":[" OPEN(0, 0) "," OPEN(1, 10) "," CLOSE(0, 20)
		    "," CLOSE(0, 30) "]}]}",
		    HEAD "units,,,,,,,20,20,units,f\r\nunits,,,,,,,10,10,units,f;g\r\n",
		    "1 times a function is left before one that it entered");
}

/* ---- the Firefox Profiler ---- */

static void firefox_weights(void **state)
{
	(void)state;
	expect_note("{\"meta\":{\"interval\":1},\"libs\":[],\"threads\":[{\"name\":\"t\",\"tid\":5,\"samples\":{\"stack\":[0,0,null],"
		    "\"weight\":[5],\"weightType\":\"samples\",\"length\":3},\"stackTable\":{\"prefix\":[null],\"frame\":[0]},"
		    "\"frameTable\":{\"func\":[0]},\"funcTable\":{\"name\":[0]},\"stringArray\":[\"f\"]}]}",
		    HEAD "time,t,5,,,,,5,5000000,ns,f\r\n", "1 samples have no weight");
}

/* ---- numbers in JSON ---- */

static void numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
		bool wrong;
	} rows[] = {
		{"0", 0, false}, {"18446744073709551615", UINT64_MAX, false}, {"18446744073709551616", 0, true},
		{"1.9", 1, false}, {"1.2e+16", 12000000000000000, false}, {"1e3", 1000, false}, {"15E-1", 1, false},
		{"1e-400", 0, false}, {"1e19", 10000000000000000000u, false}, {"2e19", 0, true}, {"1e999999999999", 0, true},
		{"-1", 0, true}, {"x", 0, true}, {"0e5", 0, false}, {"12.5e1", 125, false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct json j;

		json_init(&j, rows[i].text, strlen(rows[i].text));
		assert_int_equal(json_number(&j), rows[i].value);
		assert_int_equal(j.error != NULL, rows[i].wrong);
		json_free(&j);
	}
}

#define OTLP_BEGIN "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":{\"typeStrindex\":1," \
		   "\"unitStrindex\":2},\"samples\":[{\"stackIndex\":1,\"values\":["
#define OTLP_END "]},{\"stackIndex\":1,\"values\":[7]}]}]}]}],\"dictionary\":{\"mappingTable\":[{}],\"locationTable\":[{}," \
		 "{\"lines\":[{\"functionIndex\":1}]}],\"functionTable\":[{},{\"nameStrindex\":3}],\"linkTable\":[{}]," \
		 "\"stringTable\":[\"\",\"cpu\",\"nanoseconds\",\"f\"],\"attributeTable\":[{}],\"stackTable\":[{}," \
		 "{\"locationIndices\":[1]}]}}"

/* Numbers may be texts, and have signs and exponents in both. */
static void otlp_numbers(void **state)
{
	static const char *const over[] = {
		OTLP_BEGIN "18446744073709551617" OTLP_END, OTLP_BEGIN "\"18446744073709551617\"" OTLP_END,
		OTLP_BEGIN "\"9223372036854775808\"" OTLP_END,
	};
	size_t i;

	(void)state;
	expect_note(OTLP_BEGIN "-5" OTLP_END, HEAD "cpu,,,,,,,1,7,ns,f\r\n", "1 numbers are below 0");
	expect_note(OTLP_BEGIN "\"-5\"" OTLP_END, HEAD "cpu,,,,,,,1,7,ns,f\r\n", "1 numbers are below 0");
	expect_note(OTLP_BEGIN "1e3" OTLP_END, HEAD "cpu,,,,,,,2,1007,ns,f\r\n", "");
	expect_note(OTLP_BEGIN "\"1e3\"" OTLP_END, HEAD "cpu,,,,,,,2,1007,ns,f\r\n", "");
	for (i = 0; i < ARRAY_LEN(over); i++) {
		expect_refused(over[i], strlen(over[i]), "profiles of OTLP that are cut or damaged: byte");
		expect_refused(over[i], strlen(over[i]), "should be a number of 6");
	}
}

/* ---- OTLP that is cut ---- */

/* The two parts of messages of our own, that of names first if NAMES_FIRST. */
static struct buffer otlp_file(bool names_first, size_t *first)
{
	const struct format_options options = {.threads = true, .exports = exports_write};
	const struct profile p = sample_profile(true), *profiles[] = {&p};
	struct buffer made = BUFFER_INIT, turned = BUFFER_INIT;
	size_t names;

	format_write(format_by_name("otlp"), profiles, 1, &options, &made, NULL);
	if (!names_first)
		return made;
	/* the field of names is the last: its tag, two bytes of its length, and it */
	for (names = 0; names + 3 < made.length; names++)
		if (made.data[names] == 0x12 && (made.data[names + 1] & 0x80) && !(made.data[names + 2] & 0x80) &&
		    names + 3 + (size_t)((made.data[names + 1] & 0x7f) | made.data[names + 2] << 7) == made.length)
			break;
	assert_true(names + 3 < made.length);
	*first = made.length - names;
	buffer_append(&turned, made.data + names, made.length - names);
	buffer_append(&turned, made.data, names);
	buffer_free(&made);
	return turned;
}

static void otlp_is_cut(void **state)
{
	unsigned turned, read = 0;
	size_t i, names = 0;

	(void)state;
	for (turned = 0; turned < 2; turned++) {
		struct buffer file = otlp_file(turned, &names);
		struct conversion *c;
		struct error err;

		for (i = file.length / 2; i < file.length; i++) {
			if (i == names) /* a whole file, which has no samples */
				continue;
			c = foreign_read(file.data, i, "csv", &err);
			if (c ? !strstr(readers_notes(c), "cut or damaged") : !strstr(err.text, "cut or damaged"))
				fail_msg("%zu of %zu: %s", i, file.length, c ? readers_notes(c) : err.text);
			read += c != NULL;
			if (c)
				readers_free(c);
		}
		for (i = 0; i < 100; i++) /* of a disk that was full */
			buffer_putc(&file, '\0');
		c = foreign_read(file.data, file.length, "csv", &err);
		assert_non_null(c);
		assert_non_null(strstr(readers_notes(c), "cut or damaged"));
		readers_free(c);
		buffer_free(&file);
	}
	assert_true(read > 100); /* of names in front, as far as samples go */
}

/* ---- files that are written, but not read ---- */

static void exports_are_not_read(void **state)
{
	static const char *const formats[] = {"callgrind", "perfetto", "ndjson"};
	static const char *const reasons[] = {"a file of callgrind, which is written, but not read",
					      "a trace of Perfetto, which is written, but not read",
					      "which is written, but not read; convert the recording or JSON"};
	const struct format_options options = {.threads = true, .exports = exports_write};
	const struct profile p = sample_profile(true), *profiles[] = {&p};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(formats); i++) {
		struct buffer out = BUFFER_INIT;

		format_write(format_by_name(formats[i]), profiles, 1, &options, &out, NULL);
		expect_refused(out.data, out.length, reasons[i]);
		buffer_free(&out);
	}
}

/* ---- names of any bytes ---- */

static void no_bytes_that_mislead(void **state)
{
	static const char stacks[] = "x\xe2\x80\xaey;\xef\xbb\xbfz;a\xed\xa0\x80" "b 5\n\xed\xa0\xbd\xed\xb8\x80<c> 7\n";
	static const char *const formats[] = {"callgrind", "flamegraph"};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(formats); i++) {
		char *text = foreign_as(stacks, strlen(stacks), formats[i]);
		const unsigned char *at = (const unsigned char *)text;

		for (; *at; at += utf8_length(at))
			assert_true(utf8_length(at) > 0);
		assert_non_null(strstr(text, "a\xef\xbf\xbd" "b"));
		assert_non_null(strstr(text, i ? "\xf0\x9f\x98\x80&lt;c>" : "\xf0\x9f\x98\x80<c>"));
		if (i == 0) {
			assert_non_null(strstr(text, "x\\u202ey"));
			assert_non_null(strstr(text, "\\ufeffz"));
			assert_null(strstr(text, "\xe2\x80\xae"));
		}
		free(text);
	}
}

/* ---- perf script ---- */

#define PERF_AT(time, period) "java 1/2 [001] " time ": " period " cycles:u:\n\t7f1 main+0x1 (/bin/java)\n\n"

/* CPUs are not in order, and a period may be of 64 bits. */
static void perf_times(void **state)
{
	static const char file[] = PERF_AT("10.0", "1") PERF_AT("5.0", "1") PERF_AT("12.0", "1");
	static const uint32_t expected[] = {0, 5000, 7000};
	const struct profile *p;
	struct conversion *c;
	struct error err;
	uint32_t count, i;

	(void)state;
	c = foreign_read(file, strlen(file), "flamegraph", &err);
	assert_non_null(c);
	p = convert_profiles(c, &count)[0];
	assert_int_equal(p->moment_count, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(p->moments[i].at, expected[i]);
	assert_int_equal(p->duration, 7 * NS_PER_S);
	readers_free(c);
	expect(PERF_AT("1.5", "18446744073709551615"), HEAD "cycles,java,2,,,,,1,18446744073709551615,events,main\r\n");
}

/* Weights of 64 bits and of 1 in one page: its numbers have signs. */
static void page_of_large_weights(void **state)
{
	static const char file[] = PERF_AT("1.5", "10000000000000000000") PERF_AT("1.6", "1");
	char *page = foreign_as(file, strlen(file), "flamegraph");

	(void)state;
	assert_non_null(strstr(page, "\"quantum\":5,"));
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speedscope_names), cmocka_unit_test(speedscope_weights), cmocka_unit_test(speedscope_events),
		cmocka_unit_test(firefox_weights), cmocka_unit_test(numbers), cmocka_unit_test(otlp_numbers),
		cmocka_unit_test(otlp_is_cut), cmocka_unit_test(exports_are_not_read), cmocka_unit_test(no_bytes_that_mislead),
		cmocka_unit_test(perf_times),
		cmocka_unit_test(page_of_large_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
