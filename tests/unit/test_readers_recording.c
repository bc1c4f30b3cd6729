/* Recordings made by hand, read back: names, kinds, families, weights, filters. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "made_jfr.h"
#include "profile/readers/readers.h"
#include "profile/writers/format.h"

#define START 1790000000000000000ll
#define TICKS 5000000
#define RATE 1000000 /* ticks a second: one is a microsecond */

#define MAIN "demo/Main.main;demo/Main.run"

/* What M holds as collapsed stacks, as O says; to be freed. */
static char *collapsed(const struct made *m, const struct options *o, bool total)
{
	struct format_options options = {.total = total, .threads = o->threads, .lines = o->lines, .ann = o->ann};
	struct buffer out = BUFFER_INIT;
	struct conversion *c;
	struct error err;
	uint32_t count;
	const struct profile *const *profiles;

	if (readers_read(made_file(m), o, true, &c, &err)) {
		buffer_printf(&out, "%s", err.text);
	} else {
		profiles = convert_profiles(c, &count);
		format_write(format_by_name("collapsed"), profiles, count, &options, &out, NULL);
		readers_free(c);
	}
	buffer_putc(&out, '\0');
	assert_int_equal(out.failed, 0);
	return out.data;
}

static void expect_as(const struct made *m, const struct options *o, bool total, const char *text)
{
	char *found = collapsed(m, o, total);

	assert_string_equal(found, text);
	free(found);
}

static struct options defaults(void)
{
	struct options o;

	options_init(&o);
	return o;
}

static void expect(const struct made *m, const char *text)
{
	struct options o = defaults();

	expect_as(m, &o, false, text);
}

static void expect_event(const struct made *m, const char *families, bool total, const char *text)
{
	struct options o = defaults();

	strcpy(o.families, families);
	expect_as(m, &o, total, text);
}

/* 3 CPU samples in two threads, an event that is not wanted between them, constants last. */
static void put_small(struct made *m)
{
	made_begin(m, START, TICKS, RATE);
	made_execution(m, TICKS + 10, 1, 1, 1);
	made_event(m, MADE_HEAP);
	made_long(m, TICKS + 11);
	made_long(m, 1);
	made_long(m, 2);
	made_int(m, 2);
	made_long(m, 1);
	made_long(m, 2);
	made_long(m, 3);
	made_long(m, 4);
	made_byte(m, 0x3f), made_byte(m, 0x80), made_byte(m, 0), made_byte(m, 0);
	made_int(m, 1);
	made_text(m, "x");
	made_int(m, 1);
	made_long(m, 7);
	made_event_end(m);
	made_execution(m, TICKS + 20, 2, 1, 1);
	made_execution(m, TICKS + 30, 2, 2, 1);
	made_usual_constants(m, 0);
	made_end(m, 1000000);
}

static void small_chunk(void **state)
{
	struct made m = {.ours = false};

	put_small(&m);
	expect(&m, MAIN " 2\n" MAIN ";write 1\n");
	made_free(&m);
}

static void integers_that_are_not_compressed(void **state)
{
	struct made m = {.wide = true};

	put_small(&m);
	expect(&m, MAIN " 2\n" MAIN ";write 1\n");
	made_free(&m);
}

static void kinds_lines_threads(void **state)
{
	struct made m = {.ours = false};
	struct options o = defaults();

	put_small(&m);
	o.ann = true;
	expect_as(&m, &o, false, "demo/Main.main_[0];demo/Main.run_[i];write 1\n"
				 "demo/Main.main_[0];demo/Main.run_[j] 2\n");
	o = defaults();
	o.lines = true;
	expect_as(&m, &o, false, "demo/Main.main:7;demo/Main.run:12 2\ndemo/Main.main:7;demo/Main.run:13;write 1\n");
	o = defaults();
	o.threads = true;
	expect_as(&m, &o, false, "[main tid=101];" MAIN " 1\n[worker tid=102];" MAIN " 1\n"
				 "[worker tid=102];" MAIN ";write 1\n");
	made_free(&m);
}

/* The same keys mean something else in the next chunk, and equal stacks have other keys. */
static void keys_are_of_their_chunk(void **state)
{
	struct made m = {.ours = false};

	put_small(&m);
	made_begin(&m, START + 1000000000, TICKS, RATE);
	made_usual_constants(&m, 1);
	made_execution(&m, TICKS + 10, 1, 2, 1);
	made_execution(&m, TICKS + 10, 1, 3, 1);
	made_end(&m, 1000000);
	expect(&m, MAIN " 3\n" MAIN ";write 2\n");
	made_free(&m);
}

static void keys_are_any_numbers(void **state)
{
	struct made m = {.ours = false};
	uint64_t base = 0xffffffffffff0000ull;

	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, base);
	made_execution(&m, TICKS, 1, base + 1, 1);
	/* far from the others, so that they are looked up otherwise */
	made_constants(&m, 1);
	made_pool(&m, MADE_STACK, 1);
	made_long(&m, 77);
	made_byte(&m, 0);
	made_int(&m, 0);
	made_constants_end(&m);
	made_execution(&m, TICKS, 1, 77, 1);
	made_execution(&m, TICKS, 1, base + 2, 1);
	made_end(&m, 1000000);
	expect(&m, "[no_frames] 1\n" MAIN " 1\n" MAIN ";write 1\n");
	made_free(&m);
}

static void put_symbol(struct made *m, const char *bytes, size_t size)
{
	made_begin(m, START, TICKS, RATE);
	made_usual_constants(m, 0);
	made_constants(m, 4);
	made_pool(m, MADE_STRING, 1);
	made_long(m, 9);
	made_text(m, "from the pool");
	made_pool(m, MADE_SYMBOL, 1);
	made_long(m, 50);
	buffer_append(&m->bytes, bytes, size);
	made_pool(m, MADE_METHOD, 1);
	made_long(m, 50);
	made_long(m, 1);
	made_long(m, 50);
	made_long(m, 4);
	made_int(m, 1);
	made_byte(m, 0);
	made_pool(m, MADE_STACK, 1);
	made_long(m, 50);
	made_byte(m, 0);
	made_int(m, 1);
	made_long(m, 50);
	made_int(m, 1);
	made_int(m, 1);
	made_long(m, 2);
	made_constants_end(m);
	made_execution(m, TICKS, 1, 50, 1);
	made_end(m, 1000000);
}

static void texts_of_all_kinds(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *text;
	} rows[] = {
		{"\0", 1, "[unknown]"},
		{"\1", 1, "[unknown]"},
		{"\2\11", 2, "from the pool"},
		{"\2\12", 2, "[unknown]"}, /* not there */
		{"\3\3gr\xc3", 5, "gr\\xc3"}, /* no UTF-8: written out (common/base/clean.h) */
		{"\3\4a\0bc", 6, "a bc"},
		{"\5\4gr\xfc\xdf", 6, "gr\xc3\xbc\xc3\x9f"},
		/* U+1F600 as two units, a lone surrogate, U+20AC */
		{"\4\4\xbd\xb0\x03\x80\xbc\x03\xbd\xb0\x03\xac\x41", 13, "\xf0\x9f\x98\x80\xef\xbf\xbd\xe2\x82\xac"},
	};
	char expected[64];
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct made m = {.ours = false};

		put_symbol(&m, rows[i].bytes, rows[i].size);
		snprintf(expected, sizeof(expected), "demo/Main.%s 1\n", rows[i].text);
		expect(&m, expected);
		made_free(&m);
	}
}

/* A sample of a thread in native code, which may wait there, is no CPU time, whatever state is said of it. */
static void native_samples(void **state)
{
	static const struct {
		unsigned cpu, native;
		bool wide;
		const char *usual, *of_cpu, *of_native;
	} rows[] = {
		{2, 0, false, MAIN " 2\n", MAIN " 2\n", NULL},
		{1, 86, false, MAIN " 1\n", MAIN " 1\n", MAIN ";write 86\n"},
		{1, 86, true, MAIN " 1\n", MAIN " 1\n", MAIN ";write 86\n"},
		{0, 3, false, MAIN ";write 3\n", NULL, MAIN ";write 3\n"},
	};
	size_t i;
	unsigned n;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct made m = {.wide = rows[i].wide};
		struct options o = defaults();
		char *nothing;

		made_begin(&m, START, TICKS, RATE);
		made_usual_constants(&m, 0);
		for (n = 0; n < rows[i].native; n++)
			made_sample(&m, MADE_NATIVE, TICKS + n, 1 + n % 2, 2, 1 + n % 3);
		for (n = 0; n < rows[i].cpu; n++)
			made_execution(&m, TICKS + n, 1, 1, 1);
		made_end(&m, 1000000);
		expect(&m, rows[i].usual);
		if (rows[i].of_cpu)
			expect_event(&m, "cpu", false, rows[i].of_cpu);
		if (rows[i].of_native)
			expect_event(&m, "native", false, rows[i].of_native);
		strcpy(o.families, rows[i].of_cpu ? "native" : "cpu");
		nothing = collapsed(&m, &o, false);
		assert_true(rows[i].of_cpu && rows[i].of_native ? !strstr(nothing, "no samples")
								: strstr(nothing, "there are no samples of") != NULL);
		free(nothing);
		made_free(&m);
	}
}

static void wall_samples(void **state)
{
	struct made m = {.ours = false};
	struct options o = defaults();

	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	made_event(&m, MADE_SETTING);
	made_long(&m, TICKS);
	made_long(&m, MADE_WALL);
	made_text(&m, "interval");
	made_text(&m, "20 ms");
	made_event_end(&m);
	made_wall(&m, TICKS, 1, 1, 2, 1, 0);
	made_wall(&m, TICKS, 2, 2, 3, 500, 4990000);
	/* without batches: execution samples in states of their own */
	made_execution(&m, TICKS, 1, 1, 3);
	made_execution(&m, TICKS, 1, 1, 1);
	made_end(&m, 10000000000);
	expect(&m, MAIN " 1\n");
	expect_event(&m, "wall", false, MAIN " 2\n" MAIN ";write 500\n");
	expect_event(&m, "wall", true, MAIN " 40000000\n" MAIN ";write 10000000000\n");
	strcpy(o.families, "wall");
	strcpy(o.states, "sleeping");
	expect_as(&m, &o, false, MAIN " 1\n" MAIN ";write 500\n");
	strcpy(o.states, "STATE_RUNNABLE,parked");
	expect_as(&m, &o, false, MAIN " 1\n");
	strcpy(o.states, "");
	strcpy(o.filter, "90-101");
	expect_as(&m, &o, false, MAIN " 2\n");
	made_free(&m);
}

/* Sample i of a batch is at start + i × span / (samples - 1); those in the range count. */
static void ranges(void **state)
{
	struct made m = {.ours = false};
	struct options o = defaults();

	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	made_wall(&m, TICKS, 1, 1, 3, 11, 1000000); /* 0, 100 ms, … 1 s */
	made_wall(&m, TICKS + 1500000, 1, 2, 3, 1, 0);
	made_end(&m, 2000000000);
	strcpy(o.from, "300");
	expect_as(&m, &o, false, MAIN " 8\n" MAIN ";write 1\n");
	strcpy(o.to, "700ms");
	expect_as(&m, &o, false, MAIN " 4\n");
	strcpy(o.from, "");
	expect_as(&m, &o, false, MAIN " 7\n");
	strcpy(o.from, "-0.5s");
	strcpy(o.to, "");
	expect_as(&m, &o, false, MAIN ";write 1\n");
	strcpy(o.from, "2026-09-21T14:13:20.95Z"); /* START is 14:13:20 */
	expect_as(&m, &o, false, MAIN " 1\n" MAIN ";write 1\n");
	strcpy(o.from, "1790000001400"); /* ms since 1970 */
	expect_as(&m, &o, false, MAIN ";write 1\n");
	made_free(&m);
}

static void put_alloc(struct made *m, unsigned type, uint64_t stack, uint64_t class, uint64_t weight)
{
	made_event(m, type);
	made_long(m, TICKS);
	made_long(m, 1);
	made_long(m, stack);
	made_long(m, class);
	if (type == MADE_TLAB)
		made_long(m, 16);
	made_long(m, weight);
	made_event_end(m);
}

static void allocations(void **state)
{
	struct made m = {.ours = false};

	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	put_alloc(&m, MADE_TLAB, 1, 1, 1000);
	put_alloc(&m, MADE_TLAB, 1, 9, 24); /* a class that is not there */
	made_end(&m, 1000000);
	expect(&m, MAIN " 1\n" MAIN ";demo.Main 1\n");
	expect_event(&m, "alloc", true, MAIN " 24\n" MAIN ";demo.Main 1000\n");
	/* the JDK tells it by another event as well: once is enough */
	made_begin(&m, START + 1000000, TICKS, RATE);
	made_usual_constants(&m, 0);
	put_alloc(&m, MADE_TLAB, 1, 1, 1000);
	put_alloc(&m, MADE_ALLOC, 1, 1, 5);
	put_alloc(&m, MADE_ALLOC, 1, 1, 6);
	made_end(&m, 1000000);
	expect_event(&m, "alloc", true, MAIN " 24\n" MAIN ";demo.Main 1011\n");
	made_free(&m);
}

static void locks_and_any_event(void **state)
{
	struct made m = {.ours = false};

	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	made_event(&m, MADE_MONITOR);
	made_long(&m, TICKS);
	made_long(&m, 1500); /* ticks of 1 µs */
	made_long(&m, 1);
	made_long(&m, 1);
	made_long(&m, 1);
	made_event_end(&m);
	made_event(&m, MADE_FAR);
	made_long(&m, TICKS);
	made_long(&m, 20);
	made_long(&m, 2);
	made_event_end(&m);
	made_end(&m, 1000000);
	expect_event(&m, "lock", true, MAIN ";demo.Main 1500000\n");
	expect_event(&m, "test.Far", true, MAIN ";write 20000\n");
	expect_event(&m, "test.Far,lock", false, "[lock];" MAIN ";demo.Main 1\n[test.Far];" MAIN ";write 1\n");
	made_free(&m);
}

/* Our own: an execution sample and a CPU-time sample are one, and weights are kept. */
static void pairs_count_once(void **state)
{
	struct made m = {.ours = true};

	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	made_execution(&m, TICKS, 1, 1, 1);
	made_cpu_time(&m, TICKS, 1, 1, 1000000);
	made_execution(&m, TICKS, 2, 1, 1);
	made_cpu_time(&m, TICKS, 2, 1, 3000000);
	made_end(&m, 1000000);
	expect(&m, MAIN " 2\n");
	expect_event(&m, "cpu", true, MAIN " 4000000\n");
	made_free(&m);
	/* of the JDK they are two views of the same time: the exact one, unless asked */
	m.ours = false;
	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	made_execution(&m, TICKS, 1, 1, 1);
	made_cpu_time(&m, TICKS, 1, 1, 1000000);
	made_cpu_time(&m, TICKS, 1, 2, 1000000);
	made_end(&m, 1000000);
	expect(&m, MAIN " 1\n" MAIN ";write 1\n");
	expect_event(&m, "cpu", false, MAIN " 1\n");
	made_free(&m);
}

static void weights_that_follow(void **state)
{
	struct made m = {.ours = true};

	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	made_execution(&m, TICKS, 1, 1, 1);
	made_execution(&m, TICKS, 1, 2, 1);
	made_execution(&m, TICKS, 2, 1, 1);
	made_execution(&m, TICKS, 2, 1, 1);
	made_event(&m, MADE_WEIGHTS);
	made_long(&m, TICKS);
	made_long(&m, 1000);
	made_text(&m, "OAoGAsMC"); /* 7, then 100 more, then 198 more, and the same again */
	made_event_end(&m);
	made_end(&m, 1000000);
	expect_event(&m, "cpu", true, MAIN " 617000\n" MAIN ";write 107000\n");
	made_free(&m);
}

/* A weight is of an event, however many samples it has; of a part of them the part counts. */
static void weights_of_wall_samples(void **state)
{
	struct made m = {.ours = true};
	struct options o = defaults();

	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	made_wall(&m, TICKS, 1, 1, 3, 11, 1000000); /* 0, 100 ms, … 1 s */
	made_execution(&m, TICKS, 1, 1, 1); /* of CPU time: not in the list */
	made_execution(&m, TICKS + 500000, 1, 2, 2);
	made_event(&m, MADE_WALL_WEIGHTS);
	made_long(&m, TICKS);
	made_long(&m, 1000);
	made_text(&m, "4kCAlkCA"); /* 1100, then 1090 less */
	made_event_end(&m);
	made_end(&m, 2000000000);
	strcpy(o.families, "wall");
	expect_as(&m, &o, true, MAIN " 1100000\n" MAIN ";write 10000\n");
	strcpy(o.from, "300");
	expect_as(&m, &o, true, MAIN " 800000\n" MAIN ";write 10000\n");
	made_free(&m);
}

static void put_event(struct made *m, const char *event, uint64_t stack, uint64_t weight)
{
	made_event(m, MADE_EVENT);
	made_long(m, TICKS);
	made_long(m, 1);
	made_long(m, stack);
	made_long(m, 1);
	made_text(m, event);
	made_long(m, weight);
	made_event_end(m);
}

static void events_by_name(void **state)
{
	struct made m = {.ours = true};

	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	put_event(&m, "page-faults", 1, 3);
	put_event(&m, "cache-misses", 2, 1000);
	put_event(&m, "page-faults", 1, 4);
	made_end(&m, 1000000);
	expect_event(&m, "page-faults", true, MAIN " 7\n");
	expect_event(&m, "all", false, "[page-faults];" MAIN " 2\n[cache-misses];" MAIN ";write 1\n");
	made_free(&m);
}

/* The counts that the recorder gave stands again where it was. */
static void aggregate_of_the_recorder(void **state)
{
	struct made m = {.ours = true};
	struct options o = defaults();
	struct buffer loss = BUFFER_INIT;
	struct conversion *c;
	struct error err;
	uint32_t count;
	const struct profile *p;

	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	made_cpu_time(&m, TICKS, 1, 1, 1000000);
	made_event(&m, MADE_LOST);
	made_long(&m, TICKS);
	made_text(&m, "cpu");
	made_text(&m, "queue_full");
	made_long(&m, 2);
	made_long(&m, 2000000);
	made_event_end(&m);
	made_event(&m, MADE_COUNTERS);
	made_long(&m, TICKS);
	made_text(&m, "cpu");
	made_text(&m, "perf");
	made_long(&m, 1000000);
	made_long(&m, 3);
	made_long(&m, 1);
	made_long(&m, 1);
	made_long(&m, 4500000); /* 1 ms of it sampled, 2 lost, 0.5 our own, and the rest in no sample */
	made_long(&m, 500000);
	made_event_end(&m);
	made_end(&m, 1000000);
	assert_int_equal(readers_read(made_file(&m), &o, true, &c, &err), 0);
	p = convert_profiles(c, &count)[0];
	assert_int_equal(p->unsampled, 1000000);
	assert_int_equal(p->taken, 3);
	assert_int_equal(p->lost[LOSS_queue_full], 2);
	assert_string_equal(p->engine, "perf");
	assert_null(p->told);
	format_loss_line(p, &loss);
	buffer_putc(&loss, '\0');
	assert_non_null(strstr(loss.data, "3 samples taken, 1 stored, 2 lost (queue_full 2: 2 ms) · 1 ms of 4.5 ms CPU time "
					  "sampled, 1 ms unsampled"));
	/* and no word of what the recording does not know */
	loss.length = 0;
	format_write(format_by_name("text"), convert_profiles(c, &count), 1, &(struct format_options){.total = true}, &loss, NULL);
	buffer_putc(&loss, '\0');
	assert_non_null(strstr(loss.data, "Own CPU time        : 500 µs"));
	assert_null(strstr(loss.data, "Queues"));
	assert_null(strstr(loss.data, "Threads armed"));
	buffer_free(&loss);
	readers_free(c);
	made_free(&m);
}

static void what_is_not_there(void **state)
{
	struct made m = {.ours = false};
	struct options o = defaults();
	struct conversion *c;
	struct error err;

	put_small(&m);
	strcpy(o.families, "alloc");
	assert_int_equal(readers_read(made_file(&m), &o, true, &c, &err), -ENODATA);
	assert_non_null(strstr(err.text, "there are no samples of alloc"));
	strcpy(o.families, "");
	strcpy(o.from, "yesterday");
	assert_int_equal(readers_read(made_file(&m), &o, true, &c, &err), -EINVAL);
	assert_int_equal(readers_read("/nowhere", &o, true, &c, &err), -ENOENT);
	assert_int_equal(readers_read("/", &o, true, &c, &err), -EINVAL);
	assert_int_equal(readers_read(made_file_of("", 0), &o, true, &c, &err), -ENODATA);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_chunk),
		cmocka_unit_test(integers_that_are_not_compressed),
		cmocka_unit_test(kinds_lines_threads),
		cmocka_unit_test(keys_are_of_their_chunk),
		cmocka_unit_test(keys_are_any_numbers),
		cmocka_unit_test(texts_of_all_kinds),
		cmocka_unit_test(native_samples),
		cmocka_unit_test(wall_samples),
		cmocka_unit_test(ranges),
		cmocka_unit_test(allocations),
		cmocka_unit_test(locks_and_any_event),
		cmocka_unit_test(pairs_count_once),
		cmocka_unit_test(weights_that_follow),
		cmocka_unit_test(weights_of_wall_samples),
		cmocka_unit_test(events_by_name),
		cmocka_unit_test(aggregate_of_the_recorder),
		cmocka_unit_test(what_is_not_there),
	};

	return cmocka_run_group_tests_name("convert/recording", tests, NULL, NULL);
}
