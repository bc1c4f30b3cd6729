/* Files of pprof: what others' numbers, mappings and labels mean, and files that are cut, damaged or made to harm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "foreign_files.h"
#include "format_sample.h"
#include "profile/writers/protobuf.h"

/* Texts of the small files below. */
static const char *const texts[] = {
	"", "samples", "count", "cpu", "nanoseconds", "main.work", "main.go", "/opt/app/server", "alloc_space", "bytes",
	"thread", "worker", "route", "/pay", "work.lambda", "[kernel.kallsyms]", "do_read", "java.util.HashMap.put",
	"HashMap.java", "wall", "milliseconds", "cycles", "contentions", "delay",
};
enum text { EMPTY, SAMPLES, COUNT, CPU, NS, WORK, WORK_FILE, SERVER, ALLOC_SPACE, BYTES, THREAD, WORKER, ROUTE, PAY,
	    LAMBDA, KERNEL, DO_READ, PUT, PUT_FILE, WALL, MS, CYCLES, CONTENTIONS, DELAY };

struct made_pprof {
	struct buffer all, part, inner;
};

static void put_type(struct made_pprof *m, unsigned field, enum text name, enum text unit)
{
	proto_number(&m->part, 1, name);
	proto_number(&m->part, 2, unit);
	proto_message(&m->all, field, &m->part);
}

static void put_label(struct made_pprof *m, enum text key, enum text text, uint64_t number)
{
	proto_number(&m->inner, 1, key);
	proto_number(&m->inner, 2, text);
	proto_number(&m->inner, 3, number);
	proto_message(&m->part, 3, &m->inner);
}

/* A sample of LOCATION in LOCATION 1, with up to two values; its labels are in `part` already. */
static void put_sample(struct made_pprof *m, uint64_t location, uint64_t first, uint64_t second)
{
	proto_varint(&m->inner, location);
	proto_varint(&m->inner, 1);
	proto_message(&m->part, 1, &m->inner);
	proto_varint(&m->inner, first);
	proto_varint(&m->inner, second);
	proto_message(&m->part, 2, &m->inner);
	proto_message(&m->all, 2, &m->part);
}

static void put_location(struct made_pprof *m, uint64_t id, uint64_t mapping, uint64_t inner, uint64_t outer)
{
	proto_number(&m->part, 1, id);
	proto_number(&m->part, 2, mapping);
	proto_number(&m->part, 3, 0x1000 * id);
	if (inner) {
		proto_number(&m->inner, 1, inner);
		proto_number(&m->inner, 2, 7);
		proto_message(&m->part, 4, &m->inner);
	}
	if (outer) {
		proto_number(&m->inner, 1, outer);
		proto_message(&m->part, 4, &m->inner);
	}
	proto_message(&m->all, 4, &m->part);
}

static void put_function(struct made_pprof *m, uint64_t id, enum text name, enum text file)
{
	proto_number(&m->part, 1, id);
	proto_number(&m->part, 2, name);
	proto_number(&m->part, 4, file);
	proto_message(&m->all, 5, &m->part);
}

static void put_mapping(struct made_pprof *m, uint64_t id, enum text file)
{
	proto_number(&m->part, 1, id);
	proto_number(&m->part, 2, 0x400000);
	proto_number(&m->part, 3, 0x500000);
	proto_number(&m->part, 5, file);
	proto_message(&m->all, 3, &m->part);
}

static void put_tables(struct made_pprof *m)
{
	size_t i;

	put_mapping(m, 1, SERVER);
	put_mapping(m, 2, KERNEL);
	put_location(m, 1, 1, 1, 0);
	put_location(m, 2, 1, 2, 1); /* 2 is inlined into 1 */
	put_location(m, 3, 2, 3, 0);
	put_location(m, 4, 0, 4, 0);
	put_location(m, 5, 1, 0, 0); /* without a name */
	put_function(m, 1, WORK, WORK_FILE);
	put_function(m, 2, LAMBDA, WORK_FILE);
	put_function(m, 3, DO_READ, EMPTY);
	put_function(m, 4, PUT, PUT_FILE);
	for (i = 0; i < ARRAY_LEN(texts); i++)
		proto_bytes(&m->all, 6, texts[i], strlen(texts[i]));
}

static void free_pprof(struct made_pprof *m)
{
	buffer_free(&m->all);
	buffer_free(&m->part);
	buffer_free(&m->inner);
}

/* M as collapsed stacks of event EVENT are EXPECTED. */
static void expect(const struct made_pprof *m, const char *format, const char *expected)
{
	char *text = foreign_as(m->all.data, m->all.length, format);

	assert_string_equal(text, expected);
	free(text);
}

#define EMPTY_PPROF {BUFFER_INIT, BUFFER_INIT, BUFFER_INIT}

/* Samples and CPU time are one event; functions of the kernel, of images, inlined and without names; of Java. */
static void frames_of_others(void **state)
{
	struct made_pprof m = EMPTY_PPROF;

	(void)state;
	put_type(&m, 1, SAMPLES, COUNT);
	put_type(&m, 1, CPU, NS);
	put_sample(&m, 2, 1, 10);
	put_sample(&m, 3, 2, 20);
	put_sample(&m, 4, 3, 30);
	put_sample(&m, 5, 4, 40);
	put_tables(&m);
	expect(&m, "collapsed", "main.work;[server] 40\nmain.work;do_read_[k] 20\n"
	       "main.work;java/util/HashMap.put 30\nmain.work;main.work;work.lambda 10\n");
	expect(&m, "csv", "event,thread,thread_id,state,trace_id,span_id,labels,samples,weight,unit,stack\r\n"
	       "cpu,,,,,,,1,10,ns,main.work;main.work;work.lambda\r\n"
	       "cpu,,,,,,,2,20,ns,main.work;do_read_[k]\r\ncpu,,,,,,,3,30,ns,main.work;java.util.HashMap.put\r\n"
	       "cpu,,,,,,,4,40,ns,main.work;[server]\r\n");
	free_pprof(&m);
}

/* What numbers are: of which event, and what one of them stands for. */
static void numbers_of_others(void **state)
{
	static const struct {
		enum text first, first_unit, second, second_unit;
		const char *expected;
	} rows[] = {
		{SAMPLES, COUNT, CPU, NS, "cpu,,,,,,,2,30,ns"}, {CPU, MS, ALLOC_SPACE, BYTES, "cpu,,,,,,,1,2000000,ns"},
		{CPU, MS, ALLOC_SPACE, BYTES, "alloc,,,,,,,1,30,bytes"}, {SAMPLES, COUNT, WALL, NS, "wall,,,,,,,2,30,ns"},
		{CYCLES, COUNT, WALL, NS, "cycles,,,,,,,2,2,events"}, {CONTENTIONS, COUNT, DELAY, NS, "lock,,,,,,,2,30,ns"},
		{SAMPLES, COUNT, SAMPLES, COUNT, "samples,,,,,,,2,2,events"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct made_pprof m = EMPTY_PPROF;
		char *text;

		put_type(&m, 1, rows[i].first, rows[i].first_unit);
		put_type(&m, 1, rows[i].second, rows[i].second_unit);
		put_sample(&m, 1, 2, 30);
		put_tables(&m);
		text = foreign_as(m.all.data, m.all.length, "csv");
		if (!strstr(text, rows[i].expected))
			fail_msg("%s is not in %s", rows[i].expected, text);
		free(text);
		free_pprof(&m);
	}
}

/* A period of CPU time makes samples CPU time. */
static void period_of_others(void **state)
{
	struct made_pprof m = EMPTY_PPROF;

	(void)state;
	put_type(&m, 1, SAMPLES, COUNT);
	put_type(&m, 11, CPU, MS);
	proto_number(&m.all, 12, 10);
	put_sample(&m, 1, 3, 0);
	put_tables(&m);
	expect(&m, "csv", "event,thread,thread_id,state,trace_id,span_id,labels,samples,weight,unit,stack\r\n"
	       "cpu,,,,,,,3,30000000,ns,main.work;main.work\r\n");
	free_pprof(&m);
}

static void labels_of_others(void **state)
{
	struct made_pprof m = EMPTY_PPROF;

	(void)state;
	put_type(&m, 1, SAMPLES, COUNT);
	put_type(&m, 1, CPU, NS);
	put_label(&m, THREAD, WORKER, 0);
	put_label(&m, ROUTE, PAY, 0);
	put_sample(&m, 1, 1, 10);
	put_tables(&m);
	expect(&m, "csv", "event,thread,thread_id,state,trace_id,span_id,labels,samples,weight,unit,stack\r\n"
	       "cpu,worker,,,,,route=/pay,1,10,ns,main.work;main.work\r\n");
	free_pprof(&m);
}

/* Our own profile with names that try to break out: written, read, written again. */
static void ours_comes_back(void **state)
{
	static const char *const formats[] = {"ndjson", "csv"};
	const struct format_options options = {.threads = true, .exports = exports_write};
	const struct profile p = sample_profile(true), *profiles[] = {&p};
	struct buffer out = BUFFER_INIT, again = BUFFER_INIT;
	char *text;
	size_t i;

	(void)state;
	format_write(format_by_name("pprof"), profiles, 1, &options, &out, NULL);
	text = foreign_as(out.data, out.length, "hot");
	assert_non_null(strstr(text, "demo.OrderService"));
	assert_non_null(strstr(text, "pid 4711"));
	assert_non_null(strstr(text, "JDK 17.0.15+6-Debian"));
	free(text);
	for (i = 0; i < ARRAY_LEN(formats); i++) {
		again.length = 0;
		format_write(format_by_name(formats[i]), profiles, 1, &options, &again, NULL);
		text = foreign_as(out.data, out.length, formats[i]);
		assert_non_null(strstr(text, "copy_to_survivor_space"));
		free(text);
	}
	buffer_free(&out);
	buffer_free(&again);
}

static void is_damaged(void **state)
{
	struct made_pprof m = EMPTY_PPROF;

	(void)state;
	put_type(&m, 1, SAMPLES, COUNT);
	put_type(&m, 1, CPU, NS);
	put_label(&m, THREAD, WORKER, 0);
	put_sample(&m, 2, 1, 10);
	put_sample(&m, 5, 1, 10);
	put_tables(&m);
	foreign_damage(m.all.data, m.all.length, "collapsed");
	foreign_damage(m.all.data, m.all.length, "csv");
	free_pprof(&m);
}

/* A cut file says so, whether it is read or refused. */
static void cut_is_said(void **state)
{
	struct made_pprof m = EMPTY_PPROF;
	struct conversion *c;
	struct error err;
	size_t whole;

	(void)state;
	put_type(&m, 1, SAMPLES, COUNT);
	put_type(&m, 1, CPU, NS);
	put_tables(&m);
	put_sample(&m, 2, 1, 10);
	whole = m.all.length;
	put_sample(&m, 2, 1, 10);
	c = foreign_read(m.all.data, m.all.length - 1, "collapsed", &err);
	assert_non_null(c);
	assert_non_null(strstr(readers_notes(c), "it is cut or damaged; what stands before is read"));
	readers_free(c);
	c = foreign_read(m.all.data, whole, "collapsed", &err);
	assert_string_equal(readers_notes(c), "");
	readers_free(c);
	m.all.length = 0;
	put_type(&m, 1, SAMPLES, COUNT);
	put_sample(&m, 2, 1, 10);
	assert_null(foreign_read(m.all.data, m.all.length, "collapsed", &err));
	assert_non_null(strstr(err.text, "cut or damaged; make it anew"));
	free_pprof(&m);
}

/* Numbers below 0 are left out and said; sums beyond 64 bits are refused. */
static void odd_numbers(void **state)
{
	struct made_pprof m = EMPTY_PPROF;
	struct conversion *c;
	struct error err;

	(void)state;
	put_type(&m, 1, SAMPLES, COUNT);
	put_type(&m, 1, CPU, NS);
	put_sample(&m, 2, 1, (uint64_t)-10);
	put_tables(&m);
	c = foreign_read(m.all.data, m.all.length, "collapsed", &err);
	assert_non_null(strstr(readers_notes(c), "1 numbers are below 0"));
	readers_free(c);
	m.all.length = 0;
	put_type(&m, 1, SAMPLES, COUNT);
	put_type(&m, 1, CPU, MS);
	put_sample(&m, 2, 1, INT64_MAX);
	put_tables(&m);
	assert_null(foreign_read(m.all.data, m.all.length, "collapsed", &err));
	assert_int_equal(err.code, E2BIG);
	free_pprof(&m);
}

/* One location of many lines, named by each byte of a sample: stacks beyond what the file's size can mean. */
static void swelling(void **state)
{
	struct made_pprof m = EMPTY_PPROF;
	struct error err;
	unsigned i;

	(void)state;
	put_type(&m, 1, SAMPLES, COUNT);
	put_tables(&m);
	proto_number(&m.part, 1, 6);
	for (i = 0; i < 20000; i++) {
		proto_number(&m.inner, 1, 1);
		proto_message(&m.part, 4, &m.inner);
	}
	proto_message(&m.all, 4, &m.part);
	for (i = 0; i < 20000; i++)
		proto_varint(&m.inner, 6);
	proto_message(&m.part, 1, &m.inner);
	proto_number(&m.part, 2, 1);
	proto_message(&m.all, 2, &m.part);
	assert_null(foreign_read(m.all.data, m.all.length, "collapsed", &err));
	assert_int_equal(err.code, E2BIG);
	free_pprof(&m);
}

/* Over 200 numbers for each stack; ids of any size, or twice. */
static void odd_tables(void **state)
{
	struct made_pprof m = EMPTY_PPROF;
	struct error err;
	unsigned i;

	(void)state;
	for (i = 0; i < 300; i++)
		put_type(&m, 1, SAMPLES, COUNT);
	put_tables(&m);
	assert_null(foreign_read(m.all.data, m.all.length, "collapsed", &err));
	assert_int_equal(err.code, E2BIG);
	m.all.length = 0;
	put_type(&m, 1, CPU, NS);
	put_function(&m, UINT64_MAX, DO_READ, EMPTY);
	put_function(&m, UINT64_MAX, WORK, EMPTY);
	put_location(&m, UINT64_MAX - 1, 0, UINT64_MAX, 0);
	put_sample(&m, UINT64_MAX - 1, 5, 0);
	put_tables(&m);
	expect(&m, "collapsed", "main.work;do_read 5\n");
	free_pprof(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_others), cmocka_unit_test(numbers_of_others),
		cmocka_unit_test(period_of_others), cmocka_unit_test(labels_of_others), cmocka_unit_test(ours_comes_back),
		cmocka_unit_test(is_damaged),	    cmocka_unit_test(cut_is_said),	cmocka_unit_test(odd_numbers),
		cmocka_unit_test(swelling),	    cmocka_unit_test(odd_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
