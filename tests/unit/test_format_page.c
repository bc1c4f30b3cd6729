/*
 * The page's data without a browser: its frame, its escapes, and the bytes of the tree, decoded
 * here as page_data.c describes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/tree.h"
#include "format_sample.h"

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

/* Check the node at *P against node I of T; returns how far it goes up. */
static uint64_t check_node(const unsigned char **p, const struct tree *t, uint32_t i)
{
	const struct tree_node *n = &t->nodes[i];
	unsigned head = *(*p)++, k;
	uint64_t up = head >> 5, kinds = 0;

	assert_int_equal(head & 7, n->kind);
	if (up == 7)
		up += varint(p);
	assert_int_equal(varint(p), n->name);
	assert_int_equal(!!(head & 8), n->mixed != TREE_NONE);
	if (head & 8) {
		unsigned mask = *(*p)++;

		for (k = 0; k < FRAME_KINDS; k++)
			if (mask >> k & 1)
				kinds += varint(p);
		assert_int_equal(kinds, n->total);
	}
	assert_int_equal(!!(head & 16), n->self > 0);
	if (head & 16) {
		assert_int_equal(varint(p), n->self);
		assert_int_equal(varint(p), n->self_weight);
	}
	return up;
}

/* Write P and read its tree back from the page. */
static void check_tree(const struct profile *p, const struct format_options *options)
{
	char *page = sample_write_text(p, "flamegraph", options);
	const char *base64 = strstr(page, "\"tree\":\"") + 8;
	unsigned char *bytes = malloc(strlen(base64));
	size_t length = decode(base64, bytes);
	const unsigned char *at = bytes;
	uint32_t i = 0, depth = 0, before = 0, nodes = 0;
	struct tree t;

	assert_int_equal(tree_build(&t, p, STYLE_PAGE, options->threads, options->total), 0);
	while ((i = tree_next(&t, i, &depth)) != TREE_NONE) {
		assert_int_equal(check_node(&at, &t, i), before + 1 - depth);
		before = depth;
		nodes++;
	}
	assert_ptr_equal(at, bytes + length);
	assert_int_equal(nodes, t.count - 1);
	tree_free(&t);
	free(bytes);
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
	struct profile_stack stacks[] = {{deep, 2000, PROFILE_NO_THREAD, 300, 1ull << 60},
					 {flat, 1, PROFILE_NO_THREAD, 1, 1}};
	struct profile p = sample_profile(false);
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(deep); i++)
		deep[i] = S_RECURSE;
	p.stacks = stacks;
	p.stack_count = 2;
	check_tree(&p, &(struct format_options){.total = false});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_cannot_end_the_script),
		cmocka_unit_test(tree_can_be_read_back),
		cmocka_unit_test(deep_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
