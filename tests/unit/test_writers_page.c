/*
 * The page's data without a browser: its frame, its escapes, and the bytes of the tree, decoded
 * here as page_data.c describes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "format_sample.h"
#include "profile/model/name_table.h"

static unsigned count_of(const char *text, const char *word)
{
	unsigned n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

static void names_cannot_end_the_script(void **state)
{
	struct profile p = sample_profile(true), empty = sample_empty();
	char *with, *without;

	(void)state;
	p.title = "<b>&title</b>";
	with = sample_write_text(&p, "flamegraph", &(struct format_options){.threads = true});
	without = sample_write_text(&empty, "html", &(struct format_options){.total = false});
	assert_int_equal(count_of(with, "</script>"), count_of(without, "</script>"));
	assert_int_equal(count_of(with, "<script"), count_of(without, "<script"));
	assert_int_equal(count_of(with, "<!--"), count_of(without, "<!--"));
	assert_non_null(strstr(with, "evil/\\\"\\u003c/script>\\u003cscript>alert(1)\\u003c/script>.a;b"));
	assert_non_null(strstr(with, "&lt;b>&amp;title&lt;/b>"));
	assert_null(strstr(with, "<b>"));
	free(with);
	free(without);
}

/* The bytes of BASE64 up to its closing quote; returns how many. */
static size_t decode(const char *base64, unsigned char *bytes)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	size_t n = 0;
	unsigned have = 0;

	for (; *base64 != '"' && *base64 != '='; base64++) {
		const char *at = strchr(alphabet, *base64);

		assert_non_null(at);
		bits = bits << 6 | (uint32_t)(at - alphabet);
		have += 6;
		if (have >= 8) {
			have -= 8;
			bytes[n++] = (unsigned char)(bits >> have);
		}
	}
	return n;
}

static uint64_t varint(const unsigned char **p)
{
	uint64_t value = 0;
	unsigned shift = 0;

	do {
		value |= (uint64_t)(**p & 0x7f) << shift;
		shift += 7;
	} while (*(*p)++ & 0x80);
	return value;
}

struct decoded {
	uint32_t name;
	uint64_t up, kinds, self, self_weight;
};

static struct decoded node(const unsigned char **p)
{
	struct decoded n = {.name = 0};
	unsigned head = *(*p)++, k;

	n.up = head >> 5;
	if (n.up == 7)
		n.up += varint(p);
	n.name = (uint32_t)varint(p);
	if (head & 8) {
		unsigned mask = *(*p)++;

		assert_true(mask >> (head & 7) & 1); /* the main kind is one of them */
		for (k = 0; k < FRAME_KINDS; k++)
			if (mask >> k & 1)
				n.kinds += varint(p);
	}
	if (head & 16) {
		n.self = varint(p);
		n.self_weight = varint(p);
	}
	return n;
}

/* Write P, read the tree back from the page, and spell it out: that is the collapsed output. */
static void check_tree(const struct profile *p, const struct format_options *options)
{
	char *page = sample_write_text(p, "flamegraph", options);
	char *collapsed = sample_write_text(p, "collapsed", options);
	const char *base64 = strstr(page, "\"tree\":\"") + 8;
	unsigned char *bytes = malloc(strlen(base64));
	size_t length = decode(base64, bytes);
	const unsigned char *at = bytes;
	struct buffer lines = BUFFER_INIT;
	uint32_t *path = malloc(4096 * sizeof(*path)), depth = 0, i;
	struct name_table names;
	uint64_t nodes = 0;
	char expected[64];

	assert_int_equal(name_table_build(&names, p, STYLE_COLLAPSED), 0);
	while (at < bytes + length) {
		struct decoded n = node(&at);

		assert_true(n.up <= depth && depth < 4096);
		depth -= (uint32_t)n.up;
		path[depth++] = n.name;
		nodes++;
		for (i = 0; n.self && i < depth; i++)
			buffer_printf(&lines, "%s%s", i ? ";" : "", name_text(&names, path[i]));
		if (n.self)
			buffer_printf(&lines, " %llu\n", (unsigned long long)(
				options->total ? n.self_weight : n.self));
	}
	assert_ptr_equal(at, bytes + length);
	buffer_putc(&lines, '\0');
	assert_string_equal(lines.data, collapsed);
	snprintf(expected, sizeof(expected), "\"nodes\":%llu,", (unsigned long long)nodes);
	assert_non_null(strstr(page, expected));
	name_table_free(&names);
	buffer_free(&lines);
	free(path);
	free(bytes);
	free(collapsed);
	free(page);
}

static void tree_can_be_read_back(void **state)
{
	struct profile p = sample_profile(true), empty = sample_empty();

	(void)state;
	check_tree(&p, &(struct format_options){.total = false});
	check_tree(&p, &(struct format_options){.threads = true, .total = true});
	check_tree(&empty, &(struct format_options){.total = false});
}

/* From 2,000 frames deep back to the root: further up than the head byte can say. */
static void deep_stacks(void **state)
{
	static uint32_t deep[2000], flat[1] = {S_WRITE};
	struct profile_stack stacks[] = {{deep, 2000, PROFILE_NO_THREAD, 300, 1ull << 60, THREAD_NONE, 0, 0, 0},
					 {flat, 1, PROFILE_NO_THREAD, 1, 1, THREAD_NONE, 0, 0, 0}};
	struct profile p = sample_profile(false);
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(deep); i++)
		deep[i] = S_RECURSE;
	p.stacks = stacks;
	p.stack_count = 2;
	check_tree(&p, &(struct format_options){.total = false});
}

/* The kinds of a node that ran in several, with their samples. */
static void kinds_of_a_node(void **state)
{
	/* start_thread, run, put: 30 samples by C2, 25 inlined; the run above it 39 interpreted, 42 C1 */
	struct profile p = sample_profile(false);
	struct decoded n;
	unsigned mixed = 0;
	char *page;
	unsigned char *bytes;
	const unsigned char *at, *end;

	(void)state;
	page = sample_write_text(&p, "flamegraph", &(struct format_options){.total = false});
	bytes = malloc(strlen(page));
	at = bytes;
	end = bytes + decode(strstr(page, "\"tree\":\"") + 8, bytes);
	while (at < end) {
		n = node(&at);
		if (n.kinds) {
			mixed++;
			assert_true(n.kinds == 81 || n.kinds == 55);
		}
	}
	assert_int_equal(mixed, 2);
	free(bytes);
	free(page);
}

/* Where samples are of very unlike weights the page opens by weight, as the terminal's tables do. */
static void opens_by_weight(void **state)
{
	static const enum weight_kind kinds[] = {WEIGHT_CPU, WEIGHT_WALL, WEIGHT_WAIT, WEIGHT_IO, WEIGHT_COUNT,
						 WEIGHT_BYTES};
	struct profile p = sample_profile(true);
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		bool by_weight = kinds[i] == WEIGHT_WAIT || kinds[i] == WEIGHT_IO || kinds[i] == WEIGHT_BYTES;
		char *page;

		p.weight_kind = kinds[i];
		page = sample_write_text(&p, "flamegraph", &(struct format_options){.total = false});
		assert_int_equal(strstr(page, "\"byWeight\":true") != NULL, by_weight);
		assert_int_equal(strstr(page, "\"byWeight\":false") != NULL, !by_weight);
		free(page);
	}
}

/* The line on top says that the page holds a part, and of what; else it says nothing of the kind. */
static void a_part_is_called_one(void **state)
{
	struct profile p = sample_profile(true);
	char *whole = sample_write_text(&p, "flamegraph", &(struct format_options){.threads = true});
	char *part = sample_write_text(&p, "flamegraph", &(struct format_options){.threads = true, .exclude = "*evil*"});

	(void)state;
	assert_null(strstr(whole, "left out the rest"));
	assert_non_null(strstr(part, "\"loss\":\"89 of 90 samples shown, include or exclude left out the rest; "));
	free(whole);
	free(part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_by_weight), cmocka_unit_test(names_cannot_end_the_script),
		cmocka_unit_test(tree_can_be_read_back),
		cmocka_unit_test(deep_stacks),
		cmocka_unit_test(kinds_of_a_node), cmocka_unit_test(a_part_is_called_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
