/* What the writers are made of: numbers, names, sums, the loss line, and the choice of a writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "format/human.h"
#include "format/loss_line.h"
#include "format/methods.h"
#include "format/tree.h"
#include "format_sample.h"

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
	struct profile_frame put = {"java/util/HashMap", "put", "()V", NULL, 610, FRAME_C2};
	struct profile_frame hidden = {"a/B$$Lambda+0x000001", "run", "()V", NULL, 0, FRAME_C2};
	struct profile_frame plain = {"Main", "main", "()V", NULL, 3, FRAME_INTERPRETED};
	struct profile_frame kernel = {NULL, "do_idle", NULL, NULL, 0, FRAME_KERNEL};

	(void)state;
	expect_name(STYLE_PAGE, put, "java/util/HashMap.put");
	expect_name(STYLE_COLLAPSED | STYLE_LINES, put, "java/util/HashMap.put:610");
	expect_name(STYLE_TEXT | STYLE_LINES, put, "java.util.HashMap.put:610");
	expect_name(STYLE_TEXT, plain, "Main.main");
	expect_name(STYLE_TEXT, hidden, "a.B$$Lambda/0x000001.run");
	expect_name(STYLE_PAGE, hidden, "a/B$$Lambda/0x000001.run");
	expect_name(STYLE_COLLAPSED, kernel, "do_idle_[k]");
	expect_name(STYLE_TEXT, kernel, "do_idle_[k]");
	expect_name(STYLE_JSON, kernel, "do_idle");
	expect_name(STYLE_PAGE, kernel, "do_idle");
}

/* Σ self of the methods, Σ self of the tree and the root's total are the stored samples. */
static void sums_agree(void **state)
{
	int variant;

	(void)state;
	for (variant = 0; variant < 8; variant++) {
		bool by_thread = variant & 1, by_weight = variant & 2;
		unsigned style = variant & 4 ? STYLE_TEXT | STYLE_LINES : STYLE_PAGE;
		struct profile p = sample_profile(by_thread);
		uint64_t self = 0, weight = 0, tree_self_sum = 0;
		struct methods m;
		struct tree t;
		uint32_t i;

		assert_int_equal(methods_build(&m, &p, style, by_weight), 0);
		for (i = 0; i < m.count; i++) {
			self += m.rows[i].self;
			weight += m.rows[i].self_weight;
			assert_true(m.rows[i].total >= m.rows[i].self && m.rows[i].total <= p.stored);
		}
		assert_int_equal(self, p.stored);
		assert_int_equal(weight, p.weight_stored);
		methods_free(&m);

		assert_int_equal(tree_build(&t, &p, style, by_thread, by_weight), 0);
		for (i = 0; i < t.count; i++)
			tree_self_sum += t.nodes[i].self;
		assert_int_equal(tree_self_sum, p.stored);
		assert_int_equal(t.nodes[0].total, p.stored);
		assert_int_equal(t.nodes[0].total_weight, p.weight_stored);
		tree_free(&t);
	}
}

/* A name that ran in several kinds is one node that remembers how much of each. */
static void kinds_of_a_node(void **state)
{
	struct profile p = sample_profile(false);
	uint32_t i, depth = 0, found = 0;
	struct tree t;

	(void)state;
	assert_int_equal(tree_build(&t, &p, STYLE_PAGE, false, false), 0);
	for (i = tree_next(&t, 0, &depth); i != TREE_NONE; i = tree_next(&t, i, &depth)) {
		if (strcmp(name_text(&t.names, t.nodes[i].name), "java/util/HashMap.put") || depth != 3)
			continue;
		found++;
		assert_int_equal(t.nodes[i].kind, FRAME_C2);
		assert_int_not_equal(t.nodes[i].mixed, TREE_NONE);
		assert_int_equal(t.mixed[t.nodes[i].mixed].samples[FRAME_C2], 30);
		assert_int_equal(t.mixed[t.nodes[i].mixed].samples[FRAME_INLINED], 25);
	}
	assert_int_equal(found, 1);
	assert_int_equal(t.depth, 5);
	tree_free(&t);
}

static void stack_without_frames_is_counted(void **state)
{
	struct profile_stack stack = {NULL, 0, PROFILE_NO_THREAD, 3, 30};
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
		{"a.html", "flamegraph"}, {"a.HTM", "flamegraph"}, {"/x.json/a.collapsed", "collapsed"},
		{"a.folded", "collapsed"}, {"a.json", "json"}, {"a.txt", "text"}, {"a", "text"},
		{"/x.json/a", "text"}, {"a.", "text"}, {"a.unknown", "text"}, {"a.jso", "text"},
	};
	const struct format *f;
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(format_by_file(cases[i].file)->name, cases[i].format);
	for (f = formats; f->name; f++) {
		assert_ptr_equal(format_by_name(f->name), f);
		assert_non_null(f->write);
		assert_true(strlen(f->help) > 10);
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
		cmocka_unit_test(percents),
		cmocka_unit_test(columns),
		cmocka_unit_test(frame_names),
		cmocka_unit_test(sums_agree),
		cmocka_unit_test(kinds_of_a_node),
		cmocka_unit_test(stack_without_frames_is_counted),
		cmocka_unit_test(loss_line),
		cmocka_unit_test(formats_by_name_and_file),
		cmocka_unit_test(write_errors_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
