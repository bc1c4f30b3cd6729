/* What the writers are made of: numbers, names, sums, the loss line, and the choice of a writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "format_sample.h"
#include "common/base/square_root.h"
#include "profile/model/human.h"
#include "profile/model/loss_line.h"
#include "profile/model/methods.h"
#include "profile/model/sorted.h"

static void times(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0 ns"}, {1, "1 ns"}, {999, "999 ns"}, {1000, "1 µs"}, {1234, "1.2 µs"},
		{100000, "100 µs"}, {999949, "999.9 µs"}, {999950, "1.0 ms"}, {1000000, "1 ms"},
		{2000001, "2.0 ms"}, {12345678, "12.3 ms"}, {999949999, "999.9 ms"},
		{999950000, "1.00 s"}, {1000000000, "1 s"}, {9990000000, "9.99 s"},
		{119400000000, "119.40 s"}, {200000000000, "3 min 20 s"}, {7500000000000, "2 h 05 min"},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(human_time(cases[i].ns).text, cases[i].text);
}

static void counts_and_bytes(void **state)
{
	(void)state;
	assert_string_equal(human_count(0).text, "0");
	assert_string_equal(human_count(999).text, "999");
	assert_string_equal(human_count(1000).text, "1,000");
	assert_string_equal(human_count(1234567).text, "1,234,567");
	assert_string_equal(human_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
	assert_string_equal(human_bytes(960).text, "960 bytes");
	assert_string_equal(human_bytes(61440).text, "60 KB");
	assert_string_equal(human_bytes(1536 * 1024).text, "1.5 MB");
}

/* As many digits as the standard error leaves sure; of what few happenings make out, what it is less than. */
static void estimates(void **state)
{
	static const struct {
		uint64_t value, error;
		const char *count, *time, *bytes;
	} cases[] = {
		{836, 0, "836", "836 ns", "836 bytes"},
		{836, 60, "~840", "~840 ns", "~840 bytes"},
		{836, 300, "~800", "~800 ns", "~800 bytes"},
		{836, 12, "~836", "~836 ns", "~836 bytes"},
		{34, 34, "< 200", "< 200 ns", "< 200 bytes"},
		{68, 48, "< 300", "< 300 ns", "< 300 bytes"},
		{7, 1, "~7", "~7 ns", "~7 bytes"},
		{995, 60, "~1,000", "~1 µs", "~1 KB"},
		{1234567, 100000, "~1,200,000", "~1.2 ms", "~1.2 MB"},
		{1234567, 10000, "~1,230,000", "~1.2 ms", "~1.2 MB"},
		{1300000000, 90000000, "~1,300,000,000", "~1.3 s", "~1.2 GB"},
		{1000000, 1000000, "< 6,000,000", "< 6 ms", "< 6 MB"},
		{500000, 500000, "< 3,000,000", "< 3 ms", "< 3 MB"},
		{2000000, 200000, "~2,000,000", "~2 ms", "~1.9 MB"},
		{0, 0, "0", "0 ns", "0 bytes"},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		assert_string_equal(human_count_about(cases[i].value, cases[i].error).text, cases[i].count);
		assert_string_equal(human_time_about(cases[i].value, cases[i].error).text, cases[i].time);
		assert_string_equal(human_bytes_about(cases[i].value, cases[i].error).text, cases[i].bytes);
	}
	/* whatever they are, they are finite, and one line */
	for (i = 0; i < 64; i++) {
		assert_non_null(human_bytes_about(UINT64_MAX >> i, UINT64_MAX >> (63 - i)).text);
		assert_in_range(strlen(human_count_about(UINT64_MAX >> i, UINT64_MAX).text), 3, 30);
	}
	for (i = 0; i < 1000; i++) {
		double root = square_root((double)i * i * 1e-5);

		assert_true(root - i * 3.16227766e-3 < 1e-6 && i * 3.16227766e-3 - root < 1e-6);
	}
	assert_true(square_root(-1) == 0 && square_root(1e300) > 0.99e150 && square_root(1e300) < 1.01e150);
}

/* A share is never made to look like all or nothing. */
static void percents(void **state)
{
	(void)state;
	assert_string_equal(human_percent(0, 0).text, "0 %");
	assert_string_equal(human_percent(0, 10).text, "0 %");
	assert_string_equal(human_percent(10, 10).text, "100 %");
	assert_string_equal(human_percent(1, 3).text, "33.33 %");
	assert_string_equal(human_percent(999999, 1000000).text, "99.99 %");
	assert_string_equal(human_percent(1, 1000000).text, "< 0.01 %");
	assert_string_equal(human_percent(11, 10).text, "110.00 %");
}

static void columns(void **state)
{
	struct buffer out = BUFFER_INIT;

	(void)state;
	human_right(&out, "1.2 µs", 8); /* six columns, seven bytes */
	human_right(&out, "toolong", 3);
	buffer_putc(&out, '\0');
	assert_string_equal(out.data, "  1.2 µstoolong");
	buffer_free(&out);
}

static void expect_name(unsigned style, struct profile_frame frame, const char *expected)
{
	struct buffer out = BUFFER_INIT;

	frame_name_put(&out, &frame, style);
	buffer_putc(&out, '\0');
	assert_string_equal(out.data, expected);
	buffer_free(&out);
}

static void frame_names(void **state)
{
	struct profile_frame put = {"java/util/HashMap", "put", "()V", NULL, 610, FRAME_C2, 0};
	struct profile_frame hidden = {"a/B$$Lambda+0x000001", "run", "()V", NULL, 0, FRAME_C2, 0};
	struct profile_frame plain = {"Main", "main", "()V", NULL, 3, FRAME_INTERPRETED, 0};
	struct profile_frame kernel = {NULL, "do_idle", NULL, NULL, 0, FRAME_KERNEL, 0};
	struct profile_frame bytes = {"[[B", "", NULL, NULL, 0, FRAME_OTHER, 0};
	struct profile_frame strings = {"[Ljava/lang/String;", "", NULL, NULL, 0, FRAME_OTHER, 0};
	struct profile_frame plain_class = {"java/lang/String", "", NULL, NULL, 0, FRAME_OTHER, 0};

	(void)state;
	expect_name(STYLE_PAGE, bytes, "byte[][]");
	expect_name(STYLE_TEXT, strings, "java.lang.String[]");
	expect_name(STYLE_COLLAPSED, strings, "java/lang/String[]");
	expect_name(STYLE_TEXT, plain_class, "java.lang.String");
	expect_name(STYLE_PAGE, put, "java/util/HashMap.put");
	expect_name(STYLE_COLLAPSED | STYLE_LINES, put, "java/util/HashMap.put:610");
	expect_name(STYLE_TEXT | STYLE_LINES, put, "java.util.HashMap.put:610");
	expect_name(STYLE_TEXT, plain, "Main.main");
	expect_name(STYLE_TEXT, hidden, "a.B$$Lambda.0x000001.run");
	expect_name(STYLE_PAGE, hidden, "a/B$$Lambda.0x000001.run");
	expect_name(STYLE_COLLAPSED, kernel, "do_idle_[k]");
	expect_name(STYLE_TEXT, kernel, "do_idle_[k]");
	expect_name(STYLE_JSON, kernel, "do_idle");
	expect_name(STYLE_PAGE, kernel, "do_idle");
}

static void frame_types(void **state)
{
	static const struct {
		struct profile_frame frame;
		enum frame_type type;
	} cases[] = {
		{{"A", "b", "()V", NULL, 0, FRAME_WRAPPER, 0}, TYPE_JAVA},
		{{NULL, "write", NULL, "libc.so.6", 0, FRAME_NATIVE, 0}, TYPE_NATIVE},
		{{NULL, "GangWorker::run()", NULL, "libjvm.so", 0, FRAME_NATIVE, 0}, TYPE_JVM},
		{{NULL, "itable stub", NULL, NULL, 0, FRAME_NATIVE, 0}, TYPE_JVM},
		{{NULL, "do_idle", NULL, NULL, 0, FRAME_KERNEL, 0}, TYPE_KERNEL},
		{{NULL, "[truncated]", NULL, NULL, 0, FRAME_OTHER, 0}, TYPE_OTHER},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(frame_type(&cases[i].frame), cases[i].type);
}

/* Σ self of the methods, the distinct stacks and the root's range are the stored samples. */
static void sums_agree(void **state)
{
	int variant;

	(void)state;
	for (variant = 0; variant < 4; variant++) {
		bool by_thread = variant & 1;
		unsigned style = variant & 2 ? STYLE_TEXT | STYLE_LINES : STYLE_PAGE;
		struct profile p = sample_profile(by_thread);
		uint64_t self = 0, weight = 0, stacks = 0;
		struct sorted_range all;
		struct methods m;
		struct sorted s;
		uint32_t i;

		assert_int_equal(methods_build(&m, &p, style, by_thread), 0);
		for (i = 0; i < m.count; i++) {
			self += m.rows[i].self;
			weight += m.rows[i].self_weight;
			assert_true(m.rows[i].total >= m.rows[i].self);
			assert_true(m.rows[i].total <= p.stored);
		}
		assert_int_equal(self, p.stored);
		assert_int_equal(weight, p.weight_stored);
		methods_free(&m);

		assert_int_equal(sorted_build(&s, &p, style, by_thread), 0);
		for (i = 0; i < s.count; i++)
			if (sorted_is_new(&s, i))
				stacks += sorted_range(&s, i, sorted_depth(&s, i)).self_samples;
		assert_int_equal(stacks, p.stored);
		all = sorted_range(&s, 0, 0);
		assert_int_equal(all.to, p.stack_count);
		assert_int_equal(all.samples, p.stored);
		assert_int_equal(all.weight, p.weight_stored);
		sorted_free(&s);
	}
}

/* Sorted by names, not by kinds; each item knows what it shares with the one before. */
static void sorted_stacks(void **state)
{
	struct profile p = sample_profile(false);
	struct sorted_range r;
	struct sorted s;
	uint32_t i, level, before;

	(void)state;
	assert_int_equal(sorted_build(&s, &p, STYLE_PAGE, false), 0);
	assert_int_equal(s.depth, 5);
	assert_int_equal(s.items[0].shared, 0);
	for (i = 1; i < s.count; i++) {
		before = s.items[i].shared;
		for (level = 0; level < before; level++)
			assert_int_equal(sorted_name(&s, i, level), sorted_name(&s, i - 1, level));
		if (before < sorted_depth(&s, i) && before < sorted_depth(&s, i - 1))
			assert_true(strcmp(sorted_text(&s, i - 1, before),
					   sorted_text(&s, i, before)) < 0);
	}
	/* HashMap.put under run: two stacks as C2 and inlined code, and the inlined one again */
	for (i = 0; strcmp(sorted_text(&s, i, sorted_depth(&s, i) - 1), "java/util/HashMap.put") ||
		    sorted_depth(&s, i) != 3; i++)
		assert_true(i + 1 < s.count);
	r = sorted_range(&s, i, 3);
	assert_int_equal(r.to - r.from, 3);
	assert_int_equal(r.samples, 55);
	assert_int_equal(r.self_samples, 55);
	assert_int_equal(sorted_kind(&s, i, 2), FRAME_C2);
	assert_int_equal(sorted_kind(&s, i + 1, 2), FRAME_INLINED);
	assert_false(sorted_is_new(&s, i + 1));
	r = sorted_range(&s, 1, 1); /* start_thread */
	assert_int_equal(r.samples, 88);
	assert_int_equal(r.self_samples, 0);
	sorted_free(&s);
}

static void stack_without_frames_is_counted(void **state)
{
	struct profile_stack stack = {NULL, 0, PROFILE_NO_THREAD, 3, 30, THREAD_NONE, 0, 0, 0};
	struct profile p = sample_empty();
	char *text;

	(void)state;
	p.stacks = &stack;
	p.stack_count = 1;
	p.taken = p.stored = 3;
	text = sample_write_text(&p, "collapsed", &(struct format_options){.total = false});
	assert_string_equal(text, "[no_frames] 3\n");
	free(text);
}

static void expect_loss(const struct profile *p, const char *expected, bool bad)
{
	struct buffer out = BUFFER_INIT;

	format_loss_line(p, &out);
	buffer_putc(&out, '\0');
	assert_string_equal(out.data, expected);
	assert_int_equal(loss_is_bad(p), bad);
	buffer_free(&out);
}

/* Bytes of objects, beside the JVM's own count of them. */
static void loss_line_of_bytes(void **state)
{
	struct profile p = sample_empty();

	(void)state;
	p.event = "alloc";
	p.weight_kind = WEIGHT_BYTES;
	p.duration = 5000000000;
	p.interval = 512 << 10;
	p.counted = 12 << 10;
	expect_loss(&p, "No samples: 12 KB allocated in 5 s; an object is a sample once in 512 KB", false);
	p.counted = 0;
	expect_loss(&p, "No samples: nothing allocated in 5 s; an object is a sample once in 512 KB", false);
	p.taken = 1000;
	p.stored = p.complete = 995;
	p.lost[LOSS_queue_full] = 5;
	p.lost_weight[LOSS_queue_full] = 5 << 20;
	p.weight_stored = 500 << 20;
	expect_loss(&p, "1,000 samples taken, 995 stored, 5 lost (queue_full 5: 5.0 MB) · they stand for 500 MB ·"
			" 100 % complete stacks", false);
	p.counted = 1000ull << 20;
	expect_loss(&p, "1,000 samples taken, 995 stored, 5 lost (queue_full 5: 5.0 MB) · they stand for 500 MB of"
			" 1000 MB allocated (50.00 %) · 100 % complete stacks", false);
}

/* Objects are a sample of what was counted: further apart than chance puts them the line says so. */
static void loss_line_beyond_chance(void **state)
{
	struct profile p = sample_empty(), none;
	char text[400];

	(void)state;
	p.event = "alloc";
	p.weight_kind = WEIGHT_BYTES;
	p.interval = 512 << 10;
	p.taken = p.stored = p.complete = 1000;
	p.weight_stored = 500 << 20;
	p.objects = 7;
	p.counted = 600ull << 20; /* 79 MB are five standard errors, 30 MB are 5 % */
	expect_loss(&p, "1,000 samples taken, all stored · they stand for 500 MB in 7 objects of 600 MB allocated"
			" (83.33 %) · 100 % complete stacks", false);
	assert_int_equal(format_unsampled(&p), 0); /* that is chance */
	p.counted = 700ull << 20;
	expect_loss(&p, "1,000 samples taken, all stored · they stand for 500 MB in 7 objects of 700 MB allocated"
			" (71.43 %) · that is further apart than chance explains: HotSpot does not sample threads"
			" that live for a short time at random, and before JDK 25 large objects disturb it "
			"(docs/use/alloc.md) · 100 % complete stacks", true);
	/* what lies outside TLABs, also where nothing was counted */
	none = p;
	none.outside = none.weight_stored / 4;
	none.counted = none.weight_stored;
	expect_loss(&none, "1,000 samples taken, all stored · they stand for 500 MB in 7 objects, 25.00 % outside TLABs, of "
			"500 MB allocated (100 %) · 100 % complete stacks", false);
	none.counted = 0;
	expect_loss(&none, "1,000 samples taken, all stored · they stand for 500 MB in 7 objects, 25.00 % outside TLABs · "
			"100 % complete stacks", false);
	/* the sum of both is what was there */
	p.taken += 400;
	p.lost[LOSS_outside_window] = 400;
	p.lost_weight[LOSS_outside_window] = 200 << 20;
	expect_loss(&p, "1,400 samples taken, 400 of them outside the window (200 MB), the others stored · they stand "
			"for 500 MB in 7 objects of 700 MB allocated (71.43 %) · 100 % complete stacks", false);
	p.lost[LOSS_outside_window] = p.lost_weight[LOSS_outside_window] = 0;
	p.taken -= 400;
	/* what is there is part of the heap */
	p.survivors = true;
	expect_loss(&p, "1,000 samples taken, 1,000 of objects still there · they stand for 500 MB in 7 objects; the "
			"heap held 700 MB at its last collection · 100 % complete stacks", false);
	p.counted = 300 << 20;
	expect_loss(&p, "1,000 samples taken, 1,000 of objects still there · they stand for 500 MB in 7 objects; the "
			"heap held 300 MB at its last collection · that is more than the heap held, and no "
			"estimate of what is there (docs/use/live.md says why) · 100 % complete stacks", true);
	p.young = true;
	expect_loss(&p, "1,000 samples taken, 1,000 of objects still there · they stand for 500 MB in 7 objects; the "
			"heap held 300 MB at its last collection · 100 % complete stacks", false);
	/* none of it is there */
	none = p;
	none.stored = none.complete = none.weight_stored = 0;
	none.gone = none.taken;
	expect_loss(&none, "No samples: of 1,000 sampled objects none is there any more", false);
	none.young = false;
	expect_loss(&none, "No samples: of 1,000 sampled objects none is known to be there after a collection of the heap; "
			"--gc asks for one, and --live-min-gcs 0 shows young objects, too", false);
	/* a rate has made it longer */
	p.interval_most = 3 * p.interval;
	snprintf(text, sizeof(text), "1,000 samples taken, 1,000 of objects still there · they stand for 500 MB in 7 "
		 "objects; the heap held 300 MB at its last collection · an object was a sample once in %s to %s · "
		 "100 %% complete stacks", human_bytes(p.interval).text, human_bytes(p.interval_most).text);
	expect_loss(&p, text, false);
}

/* What is not there is no loss, and said. */
static void loss_line_of_what_is_left(void **state)
{
	struct profile p = sample_empty();
	struct buffer out = BUFFER_INIT;

	(void)state;
	p.event = "nativemem";
	p.weight_kind = WEIGHT_BYTES;
	p.duration = 5000000000;
	p.interval = 512 << 10;
	p.unfreed = true;
	expect_loss(&p, "No samples: no block was sampled in 5 s; a block is a sample once in 512 KB", false);
	p.taken = p.gone = 155;
	expect_loss(&p, "No samples: all 155 sampled blocks were freed", false);
	p.gone = 151;
	p.stored = p.complete = 3;
	p.lost[LOSS_queue_full] = 1;
	p.lost_weight[LOSS_queue_full] = 512 << 10;
	p.weight_stored = 1536 << 10;
	expect_loss(&p, "155 samples taken, 3 of blocks not freed, 1 lost (queue_full 1: 512 KB) · they stand for 1.5 MB ·"
			" 100 % complete stacks", false);
	p.unfreed = false;
	p.survivors = true;
	p.lost[LOSS_outside_window] = 155;
	p.lost[LOSS_queue_full] = p.stored = p.gone = 0;
	expect_loss(&p, "155 samples taken, all of them outside the window (0 bytes)", false);
	/* the filter's line has the unit of the weights */
	p.survivors = false;
	p.stored = 3;
	p.filtered = true;
	p.left_out = 1;
	p.left_out_weight = 512 << 10;
	loss_details_cost(&out, &p);
	buffer_putc(&out, '\0');
	assert_non_null(strstr(out.data, ": 2 of 3 samples shown, 1.0 MB of 1.5 MB\n"));
	buffer_free(&out);
}

static void loss_line(void **state)
{
	struct profile p = sample_empty();

	(void)state;
	p.taken = p.stored = p.complete = 10012;
	p.weight_stored = 9990000000;
	p.cpu_time = 10020000000;
	p.unsampled = 30000000;
	expect_loss(&p, "10,012 samples taken, all stored · 9.99 s of 10.02 s CPU time sampled, 30 ms"
			" unsampled · 100 % complete stacks", false);
	p.children_cpu = 1250000000;
	expect_loss(&p, "10,012 samples taken, all stored · 9.99 s of 10.02 s CPU time sampled, 30 ms"
			" unsampled, and 1.25 s of child processes · 100 % complete stacks", false);
	p.children_cpu = 0;
	p.own_cpu = 100000000; /* 1 % does not show in the sum */
	expect_loss(&p, "10,012 samples taken, all stored · 9.99 s of 10.02 s CPU time sampled, 30 ms"
			" unsampled · 100 % complete stacks", false);
	p.own_cpu = 200000000;
	p.cpu_time += p.own_cpu;
	expect_loss(&p, "10,012 samples taken, all stored · 9.99 s of 10.22 s CPU time sampled, 30 ms"
			" unsampled, 200 ms used by jstrobe · 100 % complete stacks", false);
	p.cpu_time -= p.own_cpu;
	p.own_cpu = 0;
	p.stored = p.complete = 10010;
	p.complete -= 2;
	p.lost[LOSS_queue_full] = 2;
	p.lost_weight[LOSS_queue_full] = 2000000;
	expect_loss(&p, "10,012 samples taken, 10,010 stored, 2 lost (queue_full 2: 2 ms) · 9.99 s of"
			" 10.02 s CPU time sampled, 30 ms unsampled · 99.98 % complete stacks", false);
	p.complete = 9909; /* 98.99 % */
	assert_true(loss_is_bad(&p));
	p.complete = p.stored;
	p.lost[LOSS_store_full] = 99;
	p.stored -= 99;
	p.complete = p.stored;
	assert_true(loss_is_bad(&p)); /* 101 of 10,012 */
	p.taken = 1;
	p.stored = 0;
	memset(p.lost, 0, sizeof(p.lost));
	p.lost[LOSS_no_record] = 1;
	p.weight_stored = 0;
	expect_loss(&p, "1 sample taken, 0 stored, 1 lost (no_record 1: 0 ns) · 0 ns of 10.02 s CPU time"
			" sampled, 30 ms unsampled", true);
}

static void formats_by_name_and_file(void **state)
{
	static const struct {
		const char *file, *format;
	} cases[] = {
		{"a.html", "flamegraph"}, {"a.jfr", "jfr"}, {"a.HTM", "flamegraph"}, {"/x.json/a.collapsed", "collapsed"},
		{"a.folded", "collapsed"}, {"a.json", "json"}, {"a.txt", "text"}, {"a", "text"},
		{"/x.json/a", "text"}, {"a.", "text"}, {"a.log", "text"}, {"a.flat", "flat"}, {"a.HOT", "hot"},
		{"a.1", "text"}, {"a.%t", "text"}, {"/x.svg/a", "text"}, {"-", "text"}, {"a.20261126", "text"},
	};
	/* what a text would not be */
	static const char *const refused[] = {"a.gif", "a.unknown", "a.jso", "/x.json/a.png", "a.html.gz", "a.PDF", "x.jar"};
	struct error err;
	const struct format *f;
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(format_by_file(cases[i].file)->name, cases[i].format);
	for (i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(format_check_file(cases[i].file, &err), 0);
	for (i = 0; i < ARRAY_LEN(refused); i++) {
		assert_int_equal(format_check_file(refused[i], &err), -EINVAL);
		assert_non_null(strstr(err.text, "-o FORMAT"));
		assert_non_null(strstr(err.text, refused[i]));
	}
	for (f = formats; f->name; f++) {
		assert_ptr_equal(format_by_name(f->name), f);
		assert_true(f->write || strcmp(f->name, "jfr") == 0);
		/* that one is between the agent and the command */
		assert_true(strlen(format_help(f)) > 10 || strcmp(f->name, "packed") == 0);
	}
	assert_null(format_by_name("nothing"));
	assert_null(format_by_name(""));
}

/* A full disk is told by the buffer, whatever the format. */
static void write_errors_arrive(void **state)
{
	struct profile p = sample_profile(true);
	const struct format *f;
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	assert_true(fd >= 0);
	for (f = formats; f->name; f++) {
		struct format_options options = {.threads = true};
		struct buffer out;

		if (!f->write || format_is_export(f)) /* test_exports.c */
			continue;
		buffer_init(&out, fd);
		f->write(&p, &options, &out);
		assert_int_equal(buffer_flush(&out), -ENOSPC);
		buffer_free(&out);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(counts_and_bytes),
		cmocka_unit_test(estimates),
		cmocka_unit_test(percents),
		cmocka_unit_test(columns),
		cmocka_unit_test(frame_names), cmocka_unit_test(loss_line_of_bytes),
		cmocka_unit_test(loss_line_beyond_chance), cmocka_unit_test(loss_line_of_what_is_left),
		cmocka_unit_test(frame_types),
		cmocka_unit_test(sums_agree),
		cmocka_unit_test(sorted_stacks),
		cmocka_unit_test(stack_without_frames_is_counted),
		cmocka_unit_test(loss_line),
		cmocka_unit_test(formats_by_name_and_file),
		cmocka_unit_test(write_errors_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
