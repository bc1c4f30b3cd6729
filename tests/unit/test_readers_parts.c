/* The parts of the convert room by themselves: numbers, moments, lists, collapsed stacks. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "made_jfr.h"
#include "profile/readers/context_filter.h"
#include "profile/readers/io_lines.h"
#include "profile/readers/jfr/jfr_reader.h"
#include "profile/readers/jfr/metadata.h"
#include "profile/readers/jfr/recording_info.h"
#include "profile/readers/jfr/stack_counts.h"
#include "profile/readers/lists.h"
#include "profile/readers/range.h"
#include "profile/readers/read_contexts.h"
#include "profile/readers/read_formats.h"
#include "profile/readers/readers.h"
#include "profile/writers/format.h"

/* All lengths, at all distances from the end. */
static void compressed_numbers(void **state)
{
	static const uint64_t numbers[] = {
		0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1fffff, 0x200000, 0xfffffff, 0x10000000, 0x7ffffffff,
		0x800000000, 0x3ffffffffff, 0x40000000000, 0x1ffffffffffff, 0x2000000000000, 0xffffffffffffff,
		0x100000000000000, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX,
	};
	struct made m = {.ours = false};
	size_t i, pad, n;

	for (i = 0; i < ARRAY_LEN(numbers); i++)
		for (pad = 0; pad < 12; pad++) {
			struct reader r;

			buffer_init(&m.bytes, -1);
			made_long(&m, numbers[i]);
			n = m.bytes.length;
			while (m.bytes.length < n + pad)
				buffer_putc(&m.bytes, (char)0xff);
			r = read_between((uint8_t *)m.bytes.data, (uint8_t *)m.bytes.data + n + pad, false);
			assert_true(read_varint(&r) == numbers[i]);
			assert_false(r.c.failed);
			assert_int_equal(read_left(&r), pad);
			r = read_between((uint8_t *)m.bytes.data, (uint8_t *)m.bytes.data + n - 1, false);
			read_varint(&r);
			assert_true(r.c.failed);
			made_free(&m);
		}
}

/* Labels as recordings have them, and ids. */
static void contexts_from_texts(void **state)
{
	static const struct {
		const char *text, *labels;
	} cases[] = {
		{"", ""}, {"a=b", "a\nb\n"}, {"a=b, c=d", "a\nb\nc\nd\n"}, {"a=", "a\n\n"}, {"a", "a\n\n"},
		{"a=b, c", "a\nb, c\n"}, {"a=b, c, d=e=f", "a\nb, c\nd\ne=f\n"}, {"a=b\nc", "a\nb c\n"},
		{"a=, b=, ", "a\n\nb\n, \n"}, {"route=GET /x?a=1, tenant=t", "route\nGET /x?a=1\ntenant\nt\n"},
	};
	struct profile_trace_context c = {.labels = ""};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct buffer out = BUFFER_INIT;

		read_context_labels(&out, cases[i].text);
		buffer_putc(&out, '\0');
		assert_string_equal(out.data, cases[i].labels);
		buffer_free(&out);
	}
	read_context_ids(&c, "4bf92f3577b34da6a3ce929d0e0e4736", "00F0");
	assert_true(c.trace_high == 0x4bf92f3577b34da6 && c.trace_low == 0xa3ce929d0e0e4736 && c.span == 0xf0);
	c = (struct profile_trace_context){.labels = ""};
	read_context_ids(&c, "1a3ce929d0e0e4736", "12345678901234567");
	assert_true(c.trace_high == 1 && c.trace_low == 0xa3ce929d0e0e4736 && c.span == 0);
	c = (struct profile_trace_context){.labels = ""};
	read_context_ids(&c, "no id", "0x12");
	assert_true(!c.trace_high && !c.trace_low && !c.span);
	read_context_ids(&c, "", "");
	assert_true(!c.trace_high && !c.trace_low && !c.span);
}

/* Each once, and their pairs with threads; as a profile has them. */
static void contexts_are_kept(void **state)
{
	const struct profile_trace_context first = {1, 2, 3, "a\nb\n", false}, second = {1, 2, 4, "", false},
		none = {.labels = ""}, others = {.labels = "", .others = true};
	struct read_aggregate f = {.by_context = true}, to = {.by_context = true};
	uint32_t one, two, three, pairs[4], threads[8];
	struct profile p = {.event = "cpu"};

	(void)state;
	one = read_context_number(&f, &first);
	two = read_context_number(&f, &second);
	three = read_context_number(&f, &others);
	assert_int_equal(read_context_number(&f, &first), one);
	assert_int_equal(read_context_number(&f, &none), 0);
	assert_true(one && two && three && one != two && two != three && one != three);
	assert_int_equal(read_context_pair(&f, 7, one), 0);
	assert_int_equal(read_context_pair(&f, READ_NO_THREAD, two), 1);
	assert_int_equal(read_context_pair(&f, 7, 0), 2);
	assert_int_equal(read_context_pair(&f, 7, one), 0);
	/* another one has a context already, so that its numbers are others */
	assert_int_equal(read_context_number(&to, &second), 1);
	threads[7] = 70;
	read_contexts_join(&to, &f, threads, pairs);
	assert_false(to.no_memory);
	assert_int_equal(read_context_thread(&to, pairs[0]), 70);
	assert_int_equal(read_context_of(&to, pairs[0]), 2);
	assert_int_equal(read_context_thread(&to, pairs[1]), READ_NO_THREAD);
	assert_int_equal(read_context_of(&to, pairs[1]), 1);
	assert_int_equal(read_context_of(&to, pairs[2]), 0);
	assert_true(read_contexts_copy(&to, &p));
	assert_true(p.per_trace_context && p.trace_context_count == 2);
	assert_string_equal(p.trace_contexts[1].labels, "a\nb\n");
	assert_true(p.trace_contexts[1].trace_high == 1 && p.trace_contexts[1].trace_low == 2);
	assert_true(p.trace_contexts[0].span == 4);
	read_aggregate_profile_free(&p);
	read_aggregate_free(&f);
	read_aggregate_free(&to);
}

/* Skipping many is as reading them one by one. */
static void skipping(void **state)
{
	unsigned seed, i, count;

	for (seed = 1; seed < 500; seed++) {
		struct made m = {.ours = false};
		struct reader one, all;

		srand(seed);
		buffer_init(&m.bytes, -1);
		count = (unsigned)rand() % 200;
		for (i = 0; i < count; i++)
			made_long(&m, rand() % 4 ? (uint64_t)rand() >> rand() % 31 :
				      rand() % 2 ? UINT64_MAX - (uint64_t)rand() : (uint64_t)rand() << rand() % 33);
		for (i = rand() % 12; i; i--)
			buffer_putc(&m.bytes, (char)rand());
		one = all = read_between((uint8_t *)m.bytes.data, (uint8_t *)m.bytes.data + m.bytes.length, false);
		for (i = 0; i < count; i++)
			read_varint(&one);
		read_skip_varints(&all, count);
		assert_ptr_equal(one.c.at, all.c.at);
		assert_false(one.c.failed || all.c.failed);
		made_free(&m);
	}
}

static void moments(void **state)
{
	const int64_t s = 1000000000, start = 1790000000 * s, end = start + 60 * s;
	static const struct {
		const char *text;
		int64_t seconds; /* from the start; -1: not a time */
	} rows[] = {
		{"0", 0}, {"2000", 2}, {"2s", 2}, {"1m", 60}, {"-10s", 50}, {"-10000", 50}, {"0.001h", 3},
		{"1790000005000", 5}, {"2026-09-21T14:13:30Z", 10}, {"", -1}, {"x", -1}, {"1x", -1}, {"0x10", -1},
		{"inf", -1}, {"nan", -1}, {"10 s", -1}, {"2026-09-21T14:13", -1}, {"25:00", -1}, {"1e30", -1},
	};
	struct error err;
	int64_t ns;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		int rc = range_moment(rows[i].text, start, end, "--from", &ns, &err);

		assert_int_equal(rc, rows[i].seconds < 0 ? -EINVAL : 0);
		if (rc == 0)
			assert_int_equal((ns - start) / s, rows[i].seconds);
	}
	/* the time of day that is in the recording, or nearest to it */
	setenv("TZ", "UTC", 1);
	tzset();
	assert_int_equal(range_moment("14:13:30", start, end, "--from", &ns, &err), 0);
	assert_int_equal(ns, start + 10 * s);
	assert_int_equal(range_moment("14:13:10", start, end, "--from", &ns, &err), 0);
	assert_int_equal(ns, start - 10 * s);
	assert_int_equal(range_moment("14:14:30", start, end, "--to", &ns, &err), 0);
	assert_int_equal(ns, start + 70 * s);
	assert_int_equal(range_moment("04:00:00", start, end, "--to", &ns, &err), 0);
	assert_int_equal(ns, start - (10 * 3600 + 13 * 60 + 20) * s);
	/* over midnight: behind its end, and in it */
	assert_int_equal(range_moment("00:30:00", start, start + 10 * 3600 * s, "--to", &ns, &err), 0);
	assert_int_equal(ns, start + (9 * 3600 + 46 * 60 + 40 + 1800) * s);
	assert_int_equal(range_moment("00:05:00", start, start + 9 * 3600 * s + 46 * 60 * s + 40 * s, "--to", &ns, &err), 0);
	assert_int_equal(ns, start + (9 * 3600 + 46 * 60 + 40 + 300) * s);
	assert_int_equal(recording_info_time("20 ms"), 20000000);
	assert_int_equal(recording_info_time("10000000"), 10000000);
	assert_int_equal(recording_info_time("everyChunk"), 0);
	assert_int_equal(recording_info_time("99999999999 h"), 0);
}

static void lists(void **state)
{
	struct lists l = {.slots = NULL};
	uint32_t words[40], i, n;

	for (i = 0; i < 5000; i++) {
		for (n = 0; n < i % 40; n++)
			words[n] = i / 40 + n;
		assert_int_equal(lists_add(&l, words, i % 40), i < 40 ? i : i % 40 ? i - i / 40 : 0);
	}
	assert_int_equal(lists_add(&l, NULL, 0), 0);
	words[0] = 3;
	assert_int_equal(lists_add(&l, words, 1), 3 * 39 + 1);
	assert_int_equal(lists_get(&l, 3 * 39 + 1, &n)[0], 3);
	assert_int_equal(n, 1);
	lists_free(&l);
}

/* Words of which one multiplication each makes the same, whatever was before. */
static void chosen_lists_do_not_meet(void **state)
{
	struct lists l = {.slots = NULL};
	uint32_t words[32], i, k, bit, same = 0;

	for (i = 0; i < 256; i++) {
		memset(words, 0, sizeof(words));
		for (bit = 0; bit < 8; bit++)
			if (i >> bit & 1) {
				words[4 * bit + 1] = words[4 * bit + 3] = 1u << 31;
				words[4 * bit + 3] |= 1u << 2;
			}
		assert_int_equal(lists_add(&l, words, ARRAY_LEN(words)), i);
	}
	for (i = 0; i < 256; i++)
		for (k = 0; k < i; k++)
			same += l.places.items[i].hash == l.places.items[k].hash;
	assert_in_range(same, 0, 3);
	lists_free(&l);
}

/* One text of many digits may be the number of each type. */
static void numbers_end_after_20_digits(void **state)
{
	struct made m = {.ours = false};
	struct metadata metadata = {.text = NULL};
	bool fresh;
	unsigned i;

	buffer_init(&m.bytes, -1);
	for (i = 0; i < 5; i++)
		made_int(&m, 1); /* size, type, start, duration, number */
	made_int(&m, 3);
	made_text(&m, "class");
	made_text(&m, "id");
	made_text(&m, "0000000000000000000000000000000000000000000000009");
	for (i = 0; i < 5; i++)
		made_int(&m, (uint64_t[]){0, 1, 1, 2, 0}[i]); /* class, with id = the digits */
	assert_int_equal(metadata_read(&metadata, read_between((uint8_t *)m.bytes.data,
			 (uint8_t *)m.bytes.data + m.bytes.length, false), &fresh), 0);
	assert_int_equal(metadata_by_id(&metadata, 0), 0);
	assert_int_equal(metadata_by_id(&metadata, 9), METADATA_NONE);
	metadata_free(&metadata);
	made_free(&m);
}

static size_t searched;

/* In place of the C library's, to count the bytes that are gone through at most. */
void *memchr(const void *bytes, int c, size_t n)
{
	const unsigned char *at = bytes;

	searched += n;
	for (; n; n--, at++)
		if (*at == (unsigned char)c)
			return (void *)(uintptr_t)at;
	return NULL;
}

static void dots_are_asked_for_once(void **state)
{
	static char line[5001] = "A";
	struct input in = {.bytes = (uint8_t *)line, .size = sizeof(line) - 1, .name = "dots"};
	struct read_aggregate aggregate = {.per_thread = false};
	struct buffer notes = BUFFER_INIT;
	struct error err;

	memset(line + 1, '.', sizeof(line) - 1);
	memcpy(line + sizeof(line) - 4, "b 1", 3);
	searched = 0;
	assert_int_equal(collapsed_read(&in, &aggregate, &notes, &err), 0);
	assert_in_range(searched, in.size, 20 * in.size);
	assert_int_equal(notes.length, 0);
	read_aggregate_free(&aggregate);
}

static void expect(const char *in, const char *expected)
{
	struct format_options options = {.ann = true};
	struct buffer out = BUFFER_INIT;
	struct conversion *c;
	struct options o;
	struct error err;
	uint32_t count;
	const struct profile *const *profiles;

	options_init(&o);
	assert_int_equal(readers_read(made_file_of(in, strlen(in)), &o, true, &c, &err), 0);
	profiles = convert_profiles(c, &count);
	assert_int_equal(count, 1);
	format_write(format_by_name("collapsed"), profiles, count, &options, &out, NULL);
	buffer_putc(&out, '\0');
	assert_string_equal(out.data, expected);
	buffer_free(&out);
	readers_free(c);
}

/* Spelled as they came, endings too. */
static void collapsed_again(void **state)
{
	static const char text[] =
		"[main tid=1];java/lang/Thread.run_[0];demo/Größe.<init>_[i];libc_write;sys_write_[k] 12\n"
		"a/B.c(Ljava/lang/Object|)V_[1] 3\n"
		"start_thread;G1::collect(int, char*);std::vector<a.b>::push 1\n";

	expect(text, text);
	expect("java.lang.Thread.run_[j];libc.so.6 1\n\nx 2", "java/lang/Thread.run_[j];libc.so.6 1\nx 2\n");
	expect("a;b 1\r\na;b 2\r\n", "a;b 3\n");
	/* a mark that some editors put in front is no part of a name */
	expect("\xef\xbb\xbf" "a;b 1\na;b 2\n", "a;b 3\n");
}

/* They are counted and said, and the rest is read. */
static void odd_lines(void **state)
{
	static const char text[] = "# made by hand\na;b 1\na;b 1.5\na;c -2\nonly words\na;b 2\na;c 4\na;d 5\na;e 6\n";
	struct conversion *c;
	struct options o;
	struct error err;

	(void)state;
	options_init(&o);
	assert_int_equal(readers_read(made_file_of(text, strlen(text)), &o, true, &c, &err), 0);
	assert_non_null(strstr(readers_notes(c), ": 4 of 9 lines are no 'frame;frame;frame count' and left out, the first is "
			       "line 1\n"));
	readers_free(c);
	expect(text, "a;b 3\na;c 4\na;d 5\na;e 6\n");
}

static void no_stacks(void **state)
{
	static const char *const texts[] = {"hello", "a;b\n", "a;b x\n", " 1\n", "a 1\nb\n", "1\n"};
	struct conversion *c;
	struct options o;
	struct error err;
	size_t i;

	options_init(&o);
	for (i = 0; i < ARRAY_LEN(texts); i++) {
		assert_int_equal(readers_read(made_file_of(texts[i], strlen(texts[i])), &o, true, &c, &err),
				 -EINVAL);
		assert_non_null(strstr(err.text, "neither a JFR recording nor collapsed stacks"));
	}
	assert_int_equal(readers_read(made_file_of("a\0b 1\n", 6), &o, true, &c, &err), -EINVAL);
}

/* Ids are numbers; a label is wanted whole, or by its key. */
static void context_filters(void **state)
{
	const char *trace = "4bf92f3577b34da6a3ce929d0e0e4736", *span = "00f067aa0ba902b7";
	const char *labels = "route=GET /, tenant=acme";
	struct context_filter w = {"", "", ""};

	assert_false(context_filter_is_set(&w));
	assert_true(context_filter_wants(&w, "", "", ""));
	w.span = "F067AA0BA902B7";
	assert_true(context_filter_is_set(&w));
	assert_true(context_filter_wants(&w, trace, span, ""));
	assert_false(context_filter_wants(&w, trace, "00f067aa0ba902b8", ""));
	assert_false(context_filter_wants(&w, "", "", ""));
	w.trace = trace;
	assert_true(context_filter_wants(&w, trace, span, labels));
	assert_false(context_filter_wants(&w, span, span, labels));
	w = (struct context_filter){"", "", "tenant=acme"};
	assert_true(context_filter_wants(&w, "", "", labels));
	w.label = "tenant";
	assert_true(context_filter_wants(&w, "", "", labels));
	w.label = "tenant=ac";
	assert_false(context_filter_wants(&w, "", "", labels));
	w.label = "ten";
	assert_false(context_filter_wants(&w, "", "", labels));
	w.label = "route=GET /";
	assert_true(context_filter_wants(&w, "", "", labels));
	assert_false(context_filter_wants(&w, "", "", ""));
}

/* What a file may ask for is bounded by its size; what was refused is said, and nothing goes on. */
static void what_is_too_much_is_refused(void **state)
{
	struct read_aggregate f = {.per_thread = false};
	uint32_t frames[1000] = {0}, stack, i, words[READ_FRAME_WORDS] = {0};
	char name[16];

	for (i = 0; i < READ_AGGREGATE_FAMILIES_MAX; i++) {
		snprintf(name, sizeof(name), "e%u", i);
		assert_int_equal(read_aggregate_family(&f, name, true, NULL), i);
	}
	assert_int_equal(read_aggregate_family(&f, "e7", true, NULL), 7);
	assert_null(f.too_much);
	assert_int_equal(read_aggregate_family(&f, "one more", true, NULL), UINT32_MAX);
	assert_string_equal(f.too_much, "over 200 events");
	read_aggregate_free(&f);

	/* one deep stack under many classes: as many copies as the size allows */
	read_aggregate_limit(&f, 1000, 1);
	words[READ_FRAME_NAME] = strings_add(&f.strings, "a", 1);
	read_aggregate_frame(&f, words);
	stack = lists_add(&f.stacks, frames, ARRAY_LEN(frames));
	for (i = 0; read_aggregate_leaf(&f, stack, i) != LISTS_FAILED; i++)
		assert_true(i < f.most_words / ARRAY_LEN(frames) + 2);
	assert_true(i > 10000);
	assert_non_null(strstr(f.too_much, "classes of objects"));
	read_aggregate_free(&f);

	read_aggregate_limit(&f, 1000, 1);
	assert_true(read_aggregate_text(&f, 60 << 20));
	assert_false(read_aggregate_text(&f, 60 << 20));
	assert_non_null(strstr(f.too_much, "long names"));
	read_aggregate_free(&f);
}

static void sums_beyond_64_bits_are_refused(void **state)
{
	struct read_aggregate f = {.per_thread = false};
	struct stack_counts t = {.no_memory = false};
	uint32_t family = read_aggregate_family(&f, "cpu", false, NULL), stack = lists_add(&f.stacks, NULL, 0);

	read_aggregate_add(&f, family, stack, READ_NO_THREAD, THREAD_NONE, 1, UINT64_MAX);
	assert_null(f.too_much);
	read_aggregate_add(&f, family, stack, READ_NO_THREAD, THREAD_NONE, 1, 1);
	assert_string_equal(f.too_much, READ_AGGREGATE_SUMS);
	read_aggregate_free(&f);

	assert_int_equal(stack_counts_begin(&t, 1, 1), 0);
	stack_count_add(&t, 0, 0, false, STACK_COUNT_NONE, 0, 1, INT64_MAX);
	stack_count_add(&t, 0, 0, false, STACK_COUNT_NONE, 0, 1, INT64_MAX);
	assert_false(t.over);
	stack_count_add(&t, STACK_COUNT_NONE, 0, false, STACK_COUNT_NONE, 0, 1, INT64_MAX);
	assert_true(t.over);
	stack_counts_empty(&t);
	assert_false(t.over);
	stack_counts_end(&t);
}

/* Calls are summed up by what they were about; of short ones with standard errors, of any size a file may say. */
static void lines_of_calls(void **state)
{
	struct strings texts = {0};
	struct io_lines lines = {.interval = 0}, all = {.interval = 0};
	uint32_t file = strings_add(&texts, "/data/a", 7);
	struct profile p = {.io_count = 0};
	struct io_line *line = io_lines_of(&lines, 7, IO_READ, IO_KIND_FILE);
	int i;

	(void)state;
	for (i = 0; i < 4; i++) /* 1 of 100 calls of 10 us and 50 bytes, four times */
		io_lines_add(&lines, line, &(struct io_call){.weight = 1000000, .bytes = 50, .duration = 10000,
							     .estimated = true});
	io_lines_add(&lines, line, &(struct io_call){.weight = 3000000, .bytes = 8, .duration = 3000000});
	io_lines_add(&lines, line, &(struct io_call){.weight = 7000000, .duration = 7000000, .open = true});
	line = io_lines_of(&lines, 7, IO_READ, IO_KIND_SOCKET);
	io_lines_add(&lines, line, &(struct io_call){.idle = 9000000, .bytes = 1, .duration = 9000000});
	line = io_lines_of(&lines, 8, IO_READ, IO_KIND_PIPE);
	io_lines_add(&lines, line, &(struct io_call){.weight = INT64_MAX, .bytes = INT64_MAX, .estimated = true});
	io_lines_add(&lines, line, &(struct io_call){.weight = INT64_MAX, .bytes = INT64_MAX, .estimated = true});
	assert_int_equal(lines.items.count, 3);
	assert_int_equal(lines.interval, 1000000);
	for (i = 0; i < 3; i++)
		assert_true(io_lines_join(&all, &lines, &lines.items.items[i], i < 2 ? file : 0));
	assert_true(io_lines_view(&all, &texts, &p));
	assert_int_equal(p.io_count, 3);
	assert_string_equal(p.io[0].target, io_kind_names[IO_KIND_PIPE].others);
	assert_true(p.io[0].bytes == UINT64_MAX && p.io[0].bytes_error == UINT64_MAX);
	assert_string_equal(p.io[1].target, "/data/a");
	assert_int_equal(p.io[1].calls, 401);
	assert_int_equal(p.io[1].bytes, 20008);
	assert_int_equal(p.io[1].time, 14000000);
	assert_int_equal(p.io[1].longest, 7000000);
	assert_int_equal(p.io[1].time_error, 2000000);
	assert_int_equal(p.io[1].calls_error, 200);
	assert_int_equal(p.io[1].bytes_error, 10000);
	assert_true(p.io[2].calls == 1 && p.io[2].idle == 9000000 && !p.io[2].time && !p.io[2].calls_error);
	free((void *)(uintptr_t)p.io);
	io_lines_clear(&lines);
	assert_int_equal(lines.items.count, 0);
	io_lines_free(&lines);
	io_lines_free(&all);
	strings_free(&texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compressed_numbers),
		cmocka_unit_test(skipping),
		cmocka_unit_test(moments),
		cmocka_unit_test(lists),
		cmocka_unit_test(chosen_lists_do_not_meet),
		cmocka_unit_test(numbers_end_after_20_digits),
		cmocka_unit_test(dots_are_asked_for_once),
		cmocka_unit_test(collapsed_again),
		cmocka_unit_test(odd_lines), cmocka_unit_test(no_stacks),
		cmocka_unit_test(context_filters),
		cmocka_unit_test(what_is_too_much_is_refused),
		cmocka_unit_test(sums_beyond_64_bits_are_refused),
		cmocka_unit_test(contexts_from_texts), cmocka_unit_test(contexts_are_kept),
		cmocka_unit_test(lines_of_calls),
	};

	return cmocka_run_group_tests_name("convert/parts", tests, NULL, NULL);
}
