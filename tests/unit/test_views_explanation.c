/*
 * A result as a few kilobytes of text: what has room, what is said of the rest, and that no result makes it larger.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <cmocka.h>

#include "format_sample.h"
#include "profile/readers/input/json_pull.h"
#include "profile/views/explanation.h"
#include "profile/views/hot_paths.h"
#include "work_sample.h"

static char *explained(const struct profile *const *profiles, uint32_t count, bool json, const char *file)
{
	const struct explained e = {.file = file, .profiles = profiles, .count = count, .parts = EXPLAINED_ALL,
				    .most = EXPLANATION_MOST};
	struct buffer out = BUFFER_INIT;

	assert_int_equal(explanation_put(&e, json, &out), 0);
	assert_true(out.length > 0 && out.length <= EXPLANATION_MOST);
	buffer_putc(&out, '\0');
	assert_int_equal(out.failed, 0);
	return out.data;
}

static char *one(const struct profile *p, bool json)
{
	return explained(&p, 1, json, "x.jfr");
}

static bool is_utf8(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p) {
		int more = *p < 0x80 ? 0 : (*p & 0xe0) == 0xc0 ? 1 : (*p & 0xf0) == 0xe0 ? 2 : (*p & 0xf8) == 0xf0 ? 3 : -1;

		if (more < 0)
			return false;
		for (p++; more; more--, p++)
			if ((*p & 0xc0) != 0x80)
				return false;
	}
	return true;
}

static void check_json(const char *text)
{
	struct json j;

	json_init(&j, text, strlen(text));
	json_skip(&j);
	assert_null(j.error);
	assert_int_equal(json_peek(&j), '\0');
	json_free(&j);
}

static void paths_are_a_tree_with_its_sums(void **state)
{
	struct profile p = sample_profile(false);
	char *text = one(&p, false);

	(void)state;
	assert_true(strstr(text, "- program demo.OrderService, pid 4711, JDK 17.0.15+6-Debian, 1.00 s from 2026-"));
	/* the way from the root, and at the last branch the three ways on */
	assert_true(strstr(text, "\n 97.8%   0.0% start_thread\n"));
	assert_true(strstr(text, "\n 90.2%   0.0%   demo.OrderService.run\n"));
	assert_true(strstr(text, "\n 59.8%  59.8%     java.util.HashMap.put\n"));
	assert_true(strstr(text, "\n  9.8%   9.8%     java.io.FileOutputStream.writeBytes → write → do_syscall_64_[k]\n"));
	assert_true(strstr(text, " → demo.Tree.walk → demo.Tree.walk\n"));
	assert_true(strstr(text, "jstrobe convert x.jfr x.html"));
	assert_true(strstr(text, "jstrobe record -e wall -d 30 4711"));
	assert_true(strstr(text, "jstrobe explain x.jfr --include java.util.HashMap.put"));
	assert_null(strchr(text, '\033'));
	free(text);
}

static void waits_without_idle_ones(void **state)
{
	struct profile wall = work_sample(false), lock = work_waits();
	const struct profile *both[] = {&wall, &lock};
	char *text = explained(both, 2, false, "x.json");

	(void)state;
	assert_true(strstr(text, "- order-* waited 1.50 s to enter a monitor in shop.Stock.reserve"));
	assert_true(strstr(text, "- idle waits are left out: 84.62 % of the threads' time\n"
				 "- 3 threads in 2 groups were idle all the time, as far as stacks tell\n"));
	assert_true(strstr(text, "- order-* (2 threads): 4 s not idle, running 25%, lock 38%, sleep 38%\n"));
	assert_true(strstr(text, "Hot paths of wall: total%, own% of 4 s, idle waits left out"));
	assert_null(strstr(text, "runWorker"));
	/* the second one is said under waits */
	assert_null(strstr(text, "Hot paths of lock"));
	assert_true(strstr(text, "Waits (lock): locks, then who waited"));
	assert_null(strstr(text, "-e lock -d 30"));
	free(text);
}

/* Whatever there is: LOTS of frames with names of LENGTH bytes in stacks of DEPTH, all different. */
static struct profile large(uint32_t lots, uint32_t depth, const char *piece, uint32_t pieces)
{
	struct profile p = sample_profile(false);
	struct profile_frame *frames = calloc(lots, sizeof(*frames));
	struct profile_stack *stacks = calloc(lots, sizeof(*stacks));
	uint32_t *lists = calloc((size_t)lots * depth, sizeof(*lists)), i, k;

	p.weight_stored = p.stored = 0;
	for (i = 0; i < lots; i++) {
		struct buffer name = BUFFER_INIT;

		for (k = 0; k < pieces; k++)
			buffer_puts(&name, piece);
		buffer_printf(&name, "%u", i);
		buffer_putc(&name, '\0');
		frames[i] = (struct profile_frame){.class_name = name.data, .name = "m", .kind = FRAME_C2};
		for (k = 0; k < depth; k++)
			lists[i * depth + k] = (i / (1u << MIN(31u, depth - k)) + k * 7) % lots;
		stacks[i] = (struct profile_stack){.frames = lists + i * depth, .depth = depth,
						   .thread = PROFILE_NO_THREAD, .samples = 1 + i % 5, .weight = 1000000};
		p.weight_stored += stacks[i].weight;
		p.stored += stacks[i].samples;
	}
	p.taken = p.stored;
	p.frames = frames;
	p.frame_count = lots;
	p.stacks = stacks;
	p.stack_count = lots;
	return p;
}

static void drop(struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->frame_count; i++)
		free((void *)p->frames[i].class_name);
	free((void *)p->frames);
	free((void *)p->stacks[0].frames);
	free((void *)p->stacks);
}

static void nothing_makes_it_larger(void **state)
{
	static const struct {
		uint32_t lots, depth;
		const char *piece;
		uint32_t pieces;
	} cases[] = {
		{1, 1, "a", 1}, {300, 3, "com/acme/", 5}, {300, 40, "größe/", 60}, {1000, 12, "\001\033[31m", 300},
		{64, 200, "\"\\\n", 500}, {500, 8, "日本語", 40}, {200, 5, "\xff\xfe", 90}, {2000, 2, "", 0},
	};
	size_t i, json;
	uint32_t count;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct profile p = large(cases[i].lots, cases[i].depth, cases[i].piece, cases[i].pieces);
		const struct profile *many[] = {&p, &p, &p, &p, &p, &p, &p, &p, &p};

		p.main_class = p.frames[0].class_name;
		for (json = 0; json < 2; json++)
			for (count = 1; count <= ARRAY_LEN(many); count += 4) {
				char *text = explained(many, count, json, count > 1 ? p.main_class : "it's; a file");

				assert_true(is_utf8(text));
				assert_null(strchr(text, '\033'));
				if (json)
					check_json(text);
				else
					assert_true(strstr(text, "What to ask next"));
				free(text);
			}
		drop(&p);
	}
}

/* What is shown and what is left out is all there is, however few rows there are. */
static void sums_are_whole(void **state)
{
	struct profile p = large(300, 9, "x/", 2);
	struct hot_paths h;
	uint32_t most, i, k;

	(void)state;
	for (most = 0; most <= 60; most += 7) {
		struct hot_paths_rest rest;
		uint64_t sum = 0;

		assert_int_equal(hot_paths_find(&h, &p, most, 60), 0);
		assert_true(h.rows.count <= most);
		rest = hot_paths_rest(&h, (uint32_t)h.rows.count);
		for (i = 0; i < h.rows.count; i++) {
			assert_true(h.rows.items[i].parent == HOT_PATHS_NO_PARENT || h.rows.items[i].parent < i);
			for (k = 0; k < h.rows.count && h.order[k] != i; k++)
				;
			assert_true(k < h.rows.count);
			sum += h.rows.items[i].self;
		}
		assert_int_equal(sum + rest.beside + rest.below, h.all);
		assert_int_equal(h.all, p.weight_stored);
		hot_paths_free(&h);
	}
	assert_int_equal(hot_paths_find(&h, &p, 60, 0), 0);
	for (i = 0; i < h.rows.count; i++)
		assert_int_equal(h.rows.items[i].depth, 0);
	hot_paths_free(&h);
	drop(&p);
}

static char *seen_from(const struct profile *p, const char *method, bool callers, int expected)
{
	const struct explained e = {.file = "x", .profiles = &p, .count = 1, .parts = EXPLAINED_PATHS, .most = 4096,
				    .method = method, .callers = callers};
	struct buffer out = BUFFER_INIT;

	assert_int_equal(explanation_put(&e, false, &out), expected);
	buffer_putc(&out, '\0');
	return out.data;
}

/* 92 samples, 22 of them in a lambda that calls put, or of its callers. */
static void from_one_method(void **state)
{
	struct profile p = sample_profile(false);
	char *text = seen_from(&p, "java.util.HashMap.put", true, 0);

	(void)state;
	assert_true(strstr(text, "Who calls java.util.HashMap.put (cpu): total%, own% of the 70.65 % of all that is in it\n"
			   "100.0%   0.0% java.util.HashMap.put\n"));
	assert_true(strstr(text, "\n 84.6%  84.6%   demo.OrderService.run → start_thread\n"));
	assert_true(strstr(text, ".apply → demo.OrderService.run → start_thread\n"));
	free(text);
	/* of a recursion all is below the outermost */
	text = seen_from(&p, "demo/Tree.*", false, 0);
	assert_true(strstr(text, "What is called by demo/Tree.* (cpu)"));
	assert_true(strstr(text, "\n100.0%  "));
	assert_true(strstr(text, "demo.Tree.walk → demo.Tree.walk"));
	assert_null(strstr(text, "OrderService"));
	free(text);
	free(seen_from(&p, "no.such.Method", true, -ENOENT));
}

static void a_word_that_a_shell_would_split_is_quoted(void **state)
{
	struct profile p = sample_profile(false);
	const struct profile *profiles[] = {&p};
	char *text = explained(profiles, 1, false, "my file's.jfr");

	(void)state;
	assert_true(strstr(text, "jstrobe convert 'my file'\\''s.jfr' x.html"));
	free(text);
}

static void of_nothing_it_says_so(void **state)
{
	struct profile p = {.event = "cpu", .engine = "perf", .main_class = "", .jdk = ""};
	char *text = one(&p, false);

	(void)state;
	assert_true(strstr(text, "- program not known\n"));
	assert_null(strstr(text, "Hot paths"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_a_tree_with_its_sums),
		cmocka_unit_test(waits_without_idle_ones),
		cmocka_unit_test(nothing_makes_it_larger),
		cmocka_unit_test(sums_are_whole),
		cmocka_unit_test(from_one_method),
		cmocka_unit_test(a_word_that_a_shell_would_split_is_quoted),
		cmocka_unit_test(of_nothing_it_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
