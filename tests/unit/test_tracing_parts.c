/* What a trace does with classes: how many at a time, and which are being loaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/tracing/trace_loading.h"
#include "agent/tracing/trace_pace.h"

#define CLASSES 5000

/* The longest of the pauses, after the first ones, where a call takes FIXED ns and A_CLASS more for each class. */
static uint64_t longest(uint64_t fixed, uint64_t a_class, unsigned *batches)
{
	struct trace_pace p = {.batches = 0};
	uint32_t left = CLASSES, n;
	uint64_t most = 0, pause;

	for (*batches = 0; left > 0; ++*batches, left -= n) {
		n = trace_pace_size(&p);
		assert_true(n > 0);
		n = n < left ? n : left;
		pause = fixed + n * a_class;
		trace_pace_note(&p, n, pause, pause);
		if (*batches > 3 && pause > most)
			most = pause;
	}
	return most;
}

static void pauses_are_short_and_few(void **state)
{
	unsigned batches;

	assert_true(longest(NS_PER_MS, NS_PER_MS, &batches) <= TRACE_PAUSE * 3 / 2);
	assert_true(batches < 2 * CLASSES / 49 + 10);
	/* a large batch costs next to nothing */
	longest(NS_PER_MS, NS_PER_US, &batches);
	assert_true(batches < 30);
	/* a call alone is longer than it may be: no more calls than twice the work of the classes is worth */
	assert_true(longest(100 * NS_PER_MS, NS_PER_MS, &batches) <= 300 * NS_PER_MS);
	assert_true(batches <= 2 * CLASSES / 100);
}

static void rests_come_after_a_while(void **state)
{
	struct trace_pace p = {.batches = 0};

	trace_pace_note(&p, 10, NS_PER_MS, 2 * NS_PER_MS);
	assert_int_equal(trace_pace_rest(&p, 2 * NS_PER_MS, false), 0);
	trace_pace_note(&p, 10, NS_PER_S, NS_PER_S);
	assert_int_equal(trace_pace_rest(&p, NS_PER_S, false), (TRACE_SHARE - 1) * NS_PER_S);
	assert_true(trace_pace_rest(&p, NS_PER_S, true) < 2 * NS_PER_S);
}

static bool hooked(struct trace_loading *l, pid_t tid, uint64_t name, bool changed)
{
	return trace_loading_hooked(l, &(struct trace_hooked){.name = name, .tid = tid, .session = 7,
							      .changed = changed, .at = 100});
}

static void classes_within_classes(void **state)
{
	struct trace_loading l = {.list = {0}};
	struct trace_hooked h;

	/* 1 needs 2, which needs 3, which fails; another thread loads 1 as well */
	assert_true(hooked(&l, 10, 1, true) && hooked(&l, 10, 2, true) && hooked(&l, 11, 1, false) &&
		    hooked(&l, 10, 3, true));
	assert_int_equal(trace_loading_count(&l, 0), 3);
	assert_int_equal(trace_loading_count(&l, 100), 0);
	assert_false(trace_loading_defined(&l, 11, 2, &h));
	assert_true(trace_loading_defined(&l, 10, 2, &h) && h.changed && h.session == 7);
	assert_int_equal(trace_loading_count(&l, 0), 1);
	assert_true(trace_loading_defined(&l, 11, 1, &h) && !h.changed);
	assert_true(trace_loading_defined(&l, 10, 1, &h) && h.changed);
	assert_int_equal(l.list.count, 0);
	trace_loading_free(&l);
}

static void what_fails_is_bounded(void **state)
{
	struct trace_loading l = {.list = {0}};
	struct trace_hooked h;
	uint64_t i;

	for (i = 1; i <= 10000; i++)
		assert_true(hooked(&l, 10, i, true) && hooked(&l, 10, i, true));
	assert_true(l.list.count < 5000);
	assert_true(trace_loading_defined(&l, 10, 9000, &h));
	/* no thread of ours has such a number */
	assert_true(hooked(&l, 1 << 30, 5, true));
	trace_loading_forget_dead(&l);
	assert_false(trace_loading_defined(&l, 1 << 30, 5, &h));
	trace_loading_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_are_short_and_few),
		cmocka_unit_test(rests_come_after_a_while),
		cmocka_unit_test(classes_within_classes),
		cmocka_unit_test(what_fails_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
