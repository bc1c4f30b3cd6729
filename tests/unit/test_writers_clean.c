/* Results for people in which every text is hostile: nothing in them that a terminal would obey. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cli/shown.h"
#include "common/base/clean.h"
#include "format_sample.h"
#include "profile/model/calls.h"
#include "profile/model/leaks.h"
#include "profile/writers/diff.h"

/* A title, a screen wiped, a colour; the same by U+009B and as a byte; directions turned; no width; no UTF-8; a line. */
#define EVIL "x\033]0;PWNED\a\033[2J\033[31m\xc2\x9b" "31m\x9b" "1m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b\xff\r\n9"

/* But for our colours, if COLOURS, and ends of lines. */
static void assert_clean(const struct buffer *b, bool colours)
{
	size_t at = 0;
	const char *const *c;

	assert_int_equal(b->failed, 0);
	while (at < b->length) {
		at += clean_length(b->data + at, b->length - at, CLEAN_TEXT);
		for (c = format_colours; colours && at < b->length && *c; c++)
			if (strncmp(b->data + at, *c, strlen(*c)) == 0)
				break;
		if (at == b->length)
			return;
		if (!colours || !*c)
			fail_msg("\\x%02x in: %.60s", (unsigned char)b->data[at], b->data + (at > 30 ? at - 30 : 0));
		at += strlen(*c);
	}
}

static struct profile evil_profile(void)
{
	static const struct profile_frame frames[] = {
		{.class_name = EVIL, .name = EVIL, .signature = EVIL, .kind = FRAME_C2, .line = 3},
		{.name = EVIL, .signature = EVIL, .library = EVIL, .kind = FRAME_NATIVE},
		{.name = EVIL, .kind = FRAME_KERNEL},
	};
	static const uint32_t all[] = {0, 1, 2};
	static const struct profile_trace_context trace_contexts[] = {{.trace_high = 1, .labels = EVIL}};
	static const struct profile_stack stacks[] = {
		{all, 3, 0, 50, 50000000, THREAD_RUNNING, 1, 0, 0},
		{all, 1, 0, 10, 10000000, THREAD_RUNNING, 0, 0, 0},
	};
	static const struct profile_thread threads[] = {{.tid = 7, .name = EVIL, .samples = 60, .weight = 60000000}};
	static const struct profile_waits waits[] = {
		{.name = EVIL, .identity = 9, .waits = 3, .time = 1000, .longest = 500, .frames = all, .depth = 3},
	};
	static const struct profile_io io[] = {
		{.target = EVIL, .kind = IO_KIND_FILE, .calls = 3, .bytes = 4, .time = 1000, .longest = 500},
		{.target = EVIL, .operation = IO_ACCEPT, .kind = IO_KIND_SOCKET, .calls = 3, .idle = 1000, .longest = 500},
	};

	return (struct profile){
		.event = EVIL, .engine = EVIL, .main_class = EVIL, .jdk = EVIL, .title = EVIL, .unit = EVIL, .pid = 3,
		.started_at = 1, .duration = NS_PER_S, .interval = 1000, .effective_interval = 1000, .taken = 60,
		.stored = 60, .weight_stored = 60000000, .complete = 60,
		.window = {.begin = EVIL, .end = EVIL, .count = 3, .total = 4, .longest = 5},
		.frames = frames, .frame_count = 3, .stacks = stacks, .stack_count = 2, .threads = threads,
		.thread_count = 1, .locks = waits, .lock_count = 1, .owners = waits, .owner_count = 1,
		.holders = waits, .holder_count = 1, .trace_contexts = trace_contexts, .trace_context_count = 1, .per_thread = true,
		.per_trace_context = true, .io = io, .io_count = 2,
	};
}

/* PROFILE in each format that is text for people, and as JSON. */
static void write_each(const struct profile *p, struct format_options options)
{
	const struct format *f;
	struct buffer out;
	unsigned texts = 0;

	for (f = formats; f->name; f++) {
		if (!f->write || (!format_is_text(f) && strcmp(f->name, "json") != 0))
			continue; /* pages are for browsers */
		buffer_init(&out, -1);
		format_write(f, &p, 1, &options, &out, NULL);
		assert_true(out.length > 0);
		assert_clean(&out, options.color);
		buffer_free(&out);
		texts += format_is_text(f);
	}
	assert_true(texts >= 8);
}

static void samples(void **state)
{
	struct profile p = evil_profile();
	unsigned i;

	for (i = 0; i < 64; i++) {
		struct format_options o = {.color = i & 1, .threads = i & 2, .sig = i & 4, .lib = i & 8,
					   .lines = i & 16, .event = i & 32, .ann = i & 1, .total = i & 2};

		p.weight_kind = i & 4 ? WEIGHT_WAIT : i & 2 ? WEIGHT_IO : WEIGHT_CPU;
		p.told = i & 8 ? EVIL : NULL;
		write_each(&p, o);
		p.stored = p.taken = i & 16 ? 0 : 60;
	}
	p.told = EVIL;
	p.recorded = true;
	write_each(&p, (struct format_options){.color = true});
}

/* What grows, and what holds it. */
static void leaks(void **state)
{
	static const struct profile_growth growth[2] = {{.halves = {500000, 500000}}, {.halves = {90000, 90000}}};
	struct profile_chain chains[2] = {{.class = EVIL, .place = EVIL, .caller = EVIL, .text = EVIL}};
	struct profile p = evil_profile();
	struct leaks l;
	unsigned i;

	p.weight_kind = WEIGHT_BYTES;
	p.survivors = true;
	p.counted = 1 << 20;
	p.heap_most = 8 << 20;
	p.growth = growth;
	p.growth_of = p.stacks;
	p.growth_span = NS_PER_S;
	p.chains = chains;
	p.chain_count = 2;
	p.chains_told = EVIL;
	assert_int_equal(leaks_find(&l, &p), 0);
	assert_in_range(l.count, 1, 2);
	chains[1] = (struct profile_chain){name_text(&l.names, l.rows[0].class), name_text(&l.names, l.rows[0].place),
					   name_text(&l.names, l.rows[0].caller), EVIL};
	assert_ptr_equal(leaks_chain(&l, &l.rows[0], &p), &chains[1]);
	for (i = 0; i < 4; i++)
		write_each(&p, (struct format_options){.color = i & 1, .threads = i & 2});
	leaks_free(&l);
}

static struct profile evil_calls(void)
{
	static struct calls c;
	static struct calls_method methods[] = {
		{.class_name = EVIL, .name = EVIL, .type = EVIL, .count = 3, .total = {.wall = 10}, .self = {.wall = 9}},
	};
	static struct calls_node nodes[] = {
		{.method = CALLS_ROOT, .count = 3, .total = {.wall = 10}},
		{.method = CALLS_THREAD, .parent = 0, .depth = 1, .count = 3, .total = {.wall = 10}},
		{.method = 0, .parent = 1, .depth = 2, .count = 3, .total = {.wall = 10}, .self = {.wall = 9}},
	};
	static struct calls_thread threads[] = {{.name = EVIL, .id = 3, .threads = 1, .count = 3}};
	static struct calls_skip skipped[] = {{.name = EVIL, .reason = EVIL}};
	static struct calls_frame frames[] = {{.class_name = EVIL, .name = EVIL, .type = EVIL, .line = 1}};
	static const uint32_t places[] = {0, 0};
	static struct calls_stack stacks[] = {{.frames = places, .count = 2}};
	static struct calls_event events[] = {{.duration = 100, .thread = EVIL, .thread_id = 3}};
	static struct calls_entered entered[] = {{.method = 0, .threads = 2}};

	c = (struct calls){
		.timed = true, .methods = methods, .method_count = 1, .nodes = nodes, .node_count = 3, .threads = threads,
		.thread_count = 1, .skipped = skipped, .skipped_count = 1, .count = 3, .cost = 3, .frames = frames,
		.frame_count = 1, .stacks = stacks, .stack_count = 1, .events = events, .event_count = 1,
		.entered = entered, .entered_count = 1,
	};
	return (struct profile){
		.event = "calls", .engine = EVIL, .weight_kind = WEIGHT_WALL, .duration = 100, .main_class = EVIL,
		.jdk = EVIL, .pid = 4, .title = EVIL, .taken = 3, .stored = 3, .calls = &c,
	};
}

static void calls(void **state)
{
	static const char *const words[] = {"hot", "flat", "calltree", "traces", "text", "loss", "collapsed", "json"};
	struct format_options options = {.total = false};
	struct profile p = evil_calls();
	const struct profile *one = &p;
	struct buffer out;
	unsigned i;

	for (i = 0; i < ARRAY_LEN(words); i++) {
		buffer_init(&out, -1);
		format_write(format_by_name(words[i]), &one, 1, &options, &out, NULL);
		assert_true(out.length > 0);
		assert_clean(&out, false);
		buffer_free(&out);
	}
}

static void differences(void **state)
{
	struct profile before = evil_profile(), after = evil_profile();
	struct diff d = {.before = &before, .after = &after, .before_name = EVIL, .after_name = EVIL};
	struct format_options options = {.color = false};
	struct profile_stack moved[2];
	struct buffer out = BUFFER_INIT;
	struct error err;

	memcpy(moved, after.stacks, sizeof(moved));
	moved[1].samples = 40;
	after.stacks = moved;
	assert_int_equal(diff_unit(&d, true, &err), 0);
	diff_text(&d, &options, 0, &out);
	assert_true(out.length > 0);
	assert_clean(&out, false);
	out.length = 0;
	diff_json(&d, &out);
	assert_clean(&out, false);
	buffer_free(&out);
}

/* What an agent sends that is not ours: the command makes it safe before it shows it, our colours stay. */
static void results_of_others(void **state)
{
	static const char text[] = "\033[1mbold\033[0m \033[1;31mred\033[0m " EVIL "\033[33;45m\033[1\033";
	struct buffer out = BUFFER_INIT;

	shown_put(&out, text, sizeof(text) - 1, true);
	assert_clean(&out, true);
	assert_memory_equal(out.data, "\033[1mbold\033[0m \033[1;31mred\033[0m x\\x1b]0;PW", 38);
	out.length = 0;
	shown_put(&out, text, sizeof(text) - 1, false);
	assert_clean(&out, false);
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples),
		cmocka_unit_test(leaks),
		cmocka_unit_test(calls),
		cmocka_unit_test(differences),
		cmocka_unit_test(results_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
