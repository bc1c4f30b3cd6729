/* How names are spelled and which stacks are shown, option by option, on one made profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "format_sample.h"
#include "profile/model/filter.h"

#define OPTIONS(...) (&(struct format_options){__VA_ARGS__})

/* The line of FORMAT's output that has WORD in it; static. */
static const char *line_with(const struct profile *p, const char *format, const char *word,
			     const struct format_options *options)
{
	static char line[1024];
	char *all = sample_write_text(p, format, options), *at = strstr(all, word), *from;

	line[0] = '\0';
	for (from = at; at && from > all && from[-1] != '\n'; from--)
		;
	if (at)
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(from, "\n"), from);
	free(all);
	return line;
}

#define EXPECT(word, expected, ...) \
	assert_string_equal(line_with(&p, "collapsed", word, OPTIONS(__VA_ARGS__)), expected)

static void names_in_collapsed(void **state)
{
	struct profile p = sample_profile(false);

	(void)state;
	EXPECT("Lambda", "start_thread;OrderService.run;OrderService$$Lambda$14.0x0000000800c03000.apply;"
	       "HashMap.put 10", .simple = true);
	EXPECT("Lambda", "start_thread;demo/OrderService.run;demo/OrderService$$Lambda$14.apply;"
	       "java/util/HashMap.put 10", .norm = true);
	EXPECT("Lambda", "start_thread;OrderService.run;OrderService$$Lambda$14.apply;HashMap.put 10",
	       .norm = true, .simple = true);
	EXPECT("Lambda", "start_thread;demo.OrderService.run;"
	       "demo.OrderService$$Lambda$14.0x0000000800c03000.apply;java.util.HashMap.put 10",
	       .dot = true);
	EXPECT("Lambda", "start_thread;demo/OrderService.run()V;demo/OrderService$$Lambda$14.0x0000000800c03000"
	       ".apply(Ljava/lang/Object|)Ljava/lang/Object|;java/util/HashMap.put(Ljava/lang/Object|"
	       "Ljava/lang/Object|)Ljava/lang/Object| 10", .sig = true);
	EXPECT("Lambda", "start_thread;demo/OrderService.run_[1];demo/OrderService$$Lambda$14"
	       ".0x0000000800c03000.apply_[j];java/util/HashMap.put_[i] 10", .ann = true);
	EXPECT("writeBytes", "libc.so.6`start_thread;demo/OrderService.run;"
	       "java/io/FileOutputStream.writeBytes;libc.so.6`write;do_syscall_64_[k] 7", .lib = true);
	EXPECT("writeBytes", "libc.so.6`start_thread;OrderService.run()V:12_[0];"
	       "FileOutputStream.writeBytes([BIIZ)V_[j];libc.so.6`write;do_syscall_64_[k] 7",
	       .simple = true, .sig = true, .ann = true, .lib = true, .lines = true);
}

/* A native name: as it is called, and with its arguments where they are asked for. */
static void arguments_of_native_code(void **state)
{
	struct profile p = sample_profile(false);
	struct profile_frame frames[ARRAY_LEN(sample_frames)];

	(void)state;
	memcpy(frames, sample_frames, sizeof(frames));
	frames[S_GC].name = "Monitor::wait";
	frames[S_GC].signature = "Monitor::wait(long)";
	p.frames = frames;
	EXPECT("Monitor", "start_thread;Monitor::wait 6", .ann = true);
	EXPECT("Monitor", "libc.so.6`start_thread;libjvm.so`Monitor::wait(long) 6", .lib = true, .sig = true);
	frames[S_GC].name = "[libx.so]";
	frames[S_GC].signature = NULL;
	EXPECT("[libx", "libc.so.6`start_thread;[libx.so] 6", .lib = true, .sig = true);
}

/* JDK 8 has a slash before the number of a lambda; a class may end in a slash or be empty. */
static void unusual_classes(void **state)
{
	struct profile p = sample_profile(false);
	struct profile_frame frames[ARRAY_LEN(sample_frames)];

	(void)state;
	memcpy(frames, sample_frames, sizeof(frames));
	p.frames = frames;
	frames[S_LAMBDA].class_name = "a/B$$Lambda$1/1234";
	EXPECT("Lambda", "start_thread;OrderService.run;B$$Lambda$1/1234.apply;HashMap.put 10", .simple = true);
	EXPECT("Lambda", "start_thread;demo.OrderService.run;a.B$$Lambda$1/1234.apply;java.util.HashMap.put 10",
	       .dot = true);
	EXPECT("Lambda", "start_thread;OrderService.run;B$$Lambda$1.apply;HashMap.put 10",
	       .simple = true, .norm = true);
	frames[S_LAMBDA].class_name = "";
	EXPECT(".apply", "start_thread;OrderService.run;.apply;HashMap.put 10", .simple = true, .norm = true);
	frames[S_LAMBDA].class_name = "+0";
	EXPECT(".apply", "start_thread;OrderService.run;+0.apply;HashMap.put 10", .simple = true, .norm = true);
}

static void names_in_the_other_outputs(void **state)
{
	struct profile p = sample_profile(false);
	const struct format_options *all = OPTIONS(.simple = true, .sig = true, .ann = true, .lib = true);
	const char *line;
	char *page;

	(void)state;
	assert_string_equal(line_with(&p, "traces", "writeBytes", all),
			    "  [ 2] FileOutputStream.writeBytes([BIIZ)V_[j]");
	assert_string_equal(line_with(&p, "flat", "walk", all),
			    "   100000000   10.87%       10  Tree.walk(I)I_[j]");
	assert_non_null(strstr(line_with(&p, "calltree", "libc.so.6`write", all), "]     libc.so.6`write"));
	assert_non_null(strstr(line_with(&p, "hot", "walk", all), "Tree.walk(I)I_[j]"));
	/* kinds have keys and colours of their own there */
	line = line_with(&p, "json", "\"frames\": [\"libc.so.6`start_thread\", \"OrderService.run()V\", \"Tree", all);
	assert_non_null(strstr(line, "\"Tree.walk(I)I\"], \"kinds\""));
	page = sample_write_text(&p, "flamegraph", all);
	assert_non_null(strstr(page, "\"Tree.walk(I)I\",\n"));
	assert_null(strstr(page, "_[j]\""));
	free(page);
	assert_non_null(strstr(line_with(&p, "json", "Lambda", OPTIONS(.norm = false)),
			       "demo.OrderService$$Lambda$14/0x0000000800c03000.apply"));
}

static void patterns(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} rows[] = {
		{"abc", "abc", true}, {"abc", "abcd", false}, {"abc", "xabc", false}, {"abc*", "abcd", true},
		{"abc*", "abc", true}, {"abc*", "xabc", false}, {"*abc", "xabc", true}, {"*abc", "abc", true},
		{"*abc", "abcd", false}, {"*abc*", "xabcd", true}, {"*abc*", "xacd", false}, {"*", "", true},
		{"*", "x", true}, {"**", "x", true}, {"a*c", "abc", false}, {"a*c", "a*c", true},
		{"abc", "", false}, {"abc*", "ab", false}, {"*abc", "bc", false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(filter_match(rows[i].pattern, strlen(rows[i].pattern), rows[i].text),
				 rows[i].matches);
}

/* The sum of the counts in PROFILE's collapsed lines, which are SHOWN by these options. */
static unsigned shown(const struct profile *p, const struct format_options *options)
{
	char *all = sample_write_text(p, "collapsed", options), *line, *rest;
	unsigned sum = 0;

	for (line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		sum += (unsigned)atoi(strrchr(line, ' '));
	free(all);
	return sum;
}

static void include_and_exclude(void **state)
{
	struct profile p = sample_profile(false);

	(void)state;
	assert_int_equal(shown(&p, OPTIONS(.include = "")), 90);
	assert_int_equal(shown(&p, OPTIONS(.include = "java/util/HashMap.put")), 65);
	assert_int_equal(shown(&p, OPTIONS(.include = "java.util.HashMap.put")), 65);
	assert_int_equal(shown(&p, OPTIONS(.include = "HashMap.put")), 0);
	assert_int_equal(shown(&p, OPTIONS(.include = "HashMap.put", .simple = true)), 65);
	assert_int_equal(shown(&p, OPTIONS(.include = "*.put\n*G1*")), 71);
	assert_int_equal(shown(&p, OPTIONS(.exclude = "*.put")), 25);
	assert_int_equal(shown(&p, OPTIONS(.exclude = "*.put\n*G1*")), 19);
	assert_int_equal(shown(&p, OPTIONS(.include = "*.put", .exclude = "*Lambda*")), 55);
	assert_int_equal(shown(&p, OPTIONS(.include = "*_[k]")), 7);
	assert_int_equal(shown(&p, OPTIONS(.include = "libc.so.6`write", .lib = true)), 7);
	assert_int_equal(shown(&p, OPTIONS(.include = "*_[i]", .ann = true)), 35);
	assert_int_equal(shown(&p, OPTIONS(.exclude = "*")), 0);
}

/* Threads by their names; only where stacks are apart by thread. */
static void threads_are_filtered(void **state)
{
	struct profile p = sample_profile(true);

	(void)state;
	assert_int_equal(shown(&p, OPTIONS(.include = "worker;1", .threads = true)), 22);
	assert_int_equal(shown(&p, OPTIONS(.exclude = "GC Thread*", .threads = true)), 84);
	assert_int_equal(shown(&p, OPTIONS(.include = "worker;1")), 0);
}

/* The counts of losses stay those of the session, and the filter is told where people read. */
static void filtered_outputs_say_so(void **state)
{
	struct profile p = sample_profile(false);
	const struct format_options *put = OPTIONS(.include = "*.put", .flat = 5);
	static const char filter[] = "Filter              : 65 of 90 samples shown, 650 ms of 920 ms";
	static const char *const texts[] = {"text", "flat", "traces", "calltree", "hot"};
	char *page;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(texts); i++) {
		assert_string_equal(line_with(&p, texts[i], "Filter  ", put), filter);
		assert_non_null(strstr(line_with(&p, texts[i], "samples taken", put), "93 samples taken"));
		assert_string_equal(line_with(&p, texts[i], "G1Par", put), "");
	}
	page = sample_write_text(&p, "flamegraph", put);
	assert_non_null(strstr(page, filter));
	free(page);
	/* shares are those of the whole */
	assert_string_equal(line_with(&p, "flat", "put", put),
			    "   650000000   70.65%       65  java.util.HashMap.put");
	assert_string_equal(line_with(&p, "calltree", "] all", put),
			    " 72.22%    0.00%          65  [  0] all");
	assert_non_null(strstr(line_with(&p, "json", "left_out", put), "\"left_out\": 25"));
	assert_non_null(strstr(line_with(&p, "json", "\"unit\"", put), "\"left_out\": 270000000"));
	assert_non_null(strstr(line_with(&p, "json", "left_out", OPTIONS(.flat = 5)), "\"left_out\": 0"));
	assert_string_equal(line_with(&p, "hot", "Filter  ", OPTIONS(.flat = 5)), "");
}

/* Of a damaged file a method may have more than all: its bar is a whole one. */
static void more_than_all(void **state)
{
	struct profile p = sample_profile(false);
	char *text;

	(void)state;
	p.stored = p.weight_stored = 1;
	text = sample_write_text(&p, "hot", OPTIONS(.total = true));
	assert_true(strlen(text) < 10000);
	assert_non_null(strstr(text, "  ██████████  "));
	free(text);
}

static void narrow_branches(void **state)
{
	struct profile p = sample_profile(false);
	const char *data; /* what the page draws */
	char *all;

	(void)state;
	/* 9 of 90 samples: recursion (8), write (7), generic (1) below run; gc, evil and truncated at their place */
	all = sample_write_text(&p, "flamegraph", OPTIONS(.minwidth = 10));
	data = strstr(all, "id=\"data\"");
	assert_non_null(strstr(data, "\"[below minwidth]\""));
	assert_null(strstr(data, "Tree.walk"));
	assert_null(strstr(data, "do_syscall"));
	assert_non_null(strstr(data, "Lambda"));
	assert_non_null(strstr(data, "HashMap.put"));
	free(all);
	all = sample_write_text(&p, "flamegraph", OPTIONS(.minwidth = 1));
	data = strstr(all, "id=\"data\"");
	assert_null(strstr(data, "\"[below minwidth]\""));
	free(all);
	assert_string_equal(line_with(&p, "calltree", "not shown", OPTIONS(.minwidth = 8)),
			    "(5 branches below 8 % each, 18.89 % together, are not shown)");
}

/* Frames of CPU and policy stand outside the thread's, also where the tree is cut. */
static void frames_outside_the_thread(void **state)
{
	struct profile p = sample_profile(true);
	char *page;

	(void)state;
	p.outer = 1;
	assert_string_equal(line_with(&p, "collapsed", "FileOutput", OPTIONS(.threads = true)),
			    "start_thread;[worker,1 tid=102];demo/OrderService.run;"
			    "java/io/FileOutputStream.writeBytes;write;do_syscall_64_[k] 7");
	assert_string_equal(line_with(&p, "collapsed", "FileOutput", OPTIONS(.threads = false)),
			    "start_thread;demo/OrderService.run;java/io/FileOutputStream.writeBytes;write;"
			    "do_syscall_64_[k] 7");
	p.outer = 9; /* deeper than some stacks */
	assert_string_equal(line_with(&p, "collapsed", "G1Par", OPTIONS(.threads = true)),
			    "start_thread;G1ParScanThreadState::copy_to_survivor_space(G1HeapRegionAttr, oopDesc*);"
			    "[GC Thread#0 tid=103] 6");
	p.outer = 1;
	page = sample_write_text(&p, "flamegraph", OPTIONS(.threads = true, .minwidth = 30));
	assert_non_null(strstr(page, "[main tid=101]"));
	assert_null(strstr(page, "\"[worker;1 tid=102]\",\n\""));
	assert_non_null(strstr(page, "[below minwidth]"));
	free(page);
}

static void page_is_told_the_view(void **state)
{
	struct profile p = sample_profile(false);

	(void)state;
	assert_string_equal(line_with(&p, "flamegraph", "\"reverse\"", OPTIONS(.reverse = true)), "\"reverse\":true,");
	assert_string_equal(line_with(&p, "flamegraph", "\"inverted\"", OPTIONS(.reverse = true)), "\"inverted\":false,");
	assert_string_equal(line_with(&p, "flamegraph", "\"inverted\"", OPTIONS(.inverted = true)), "\"inverted\":true,");
	assert_string_equal(line_with(&p, "flamegraph", "\"dots\"", OPTIONS(.dot = true)), "\"dots\":true,");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_in_collapsed),
		cmocka_unit_test(arguments_of_native_code),
		cmocka_unit_test(unusual_classes),
		cmocka_unit_test(names_in_the_other_outputs),
		cmocka_unit_test(patterns),
		cmocka_unit_test(include_and_exclude),
		cmocka_unit_test(threads_are_filtered),
		cmocka_unit_test(filtered_outputs_say_so),
		cmocka_unit_test(more_than_all),
		cmocka_unit_test(narrow_branches),
		cmocka_unit_test(frames_outside_the_thread),
		cmocka_unit_test(page_is_told_the_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
