/* Marks: however many there are, few are kept, and these are the longest of each name; all are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "profile/readers/kept_marks.h"
#include "profile/readers/read_aggregate.h"

#define LENGTH (1000 * NS_PER_S)

static uint64_t seed;

static uint64_t pick(uint64_t limit)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 20) % limit;
}

static uint32_t text(struct read_aggregate *f, const char *name)
{
	return strings_add(&f->strings, name, strlen(name));
}

static struct profile_marks *view_of(struct read_aggregate *f)
{
	struct profile_marks *view = kept_marks_view(&f->marks, &f->strings, &f->threads, 0);

	assert_non_null(view);
	return view;
}

static uint64_t sum(const uint32_t *numbers, size_t count)
{
	uint64_t n = 0;

	for (size_t i = 0; numbers && i < count; i++)
		n += numbers[i];
	return n;
}

/* What is true of each view: nothing is lost, and what is given up is no longer than what is kept. */
static void check(const struct profile_marks *view, const struct kept_marks *m)
{
	uint64_t *kept = calloc(view->name_count + 1, sizeof(*kept));
	uint32_t i;

	assert_true(view->item_count <= KEPT_MARKS_MOST);
	for (i = 0; i < view->item_count; i++) {
		kept[view->items[i].name]++;
		assert_true(!i || view->items[i - 1].at <= view->items[i].at);
		assert_true(m->names.items[view->items[i].name].given_up < 0 ||
			    view->items[i].duration > (uint64_t)m->names.items[view->items[i].name].given_up);
	}
	for (i = 0; i < view->name_count; i++) {
		assert_int_equal(view->names[i].kept, kept[i]);
		assert_int_equal(view->names[i].count, kept[i] + sum(view->names[i].parts, PROFILE_MARK_PARTS));
	}
	free(kept);
}

static void few_are_kept_as_they_are(void **state)
{
	struct read_aggregate f = {.marks = {.to = LENGTH}};
	const uint32_t thread[READ_THREAD_WORDS] = {7, text(&f, "worker"), 0};
	uint32_t name = text(&f, "checkout"), on = lists_add(&f.threads, thread, READ_THREAD_WORDS);
	struct profile_marks *view;

	kept_marks_add(&f.marks, MARK_KIND_SPAN, name, &(struct kept_mark){2000, 50, 0, 0, on});
	kept_marks_add(&f.marks, MARK_KIND_SPAN, name, &(struct kept_mark){1000, 70, 0, 0, LISTS_FAILED});
	kept_marks_add(&f.marks, MARK_KIND_PAUSE, text(&f, "GC Pause"), &(struct kept_mark){-5, 9, 12, 0, LISTS_FAILED});
	kept_marks_gc(&f.marks, &(struct kept_gc){11, text(&f, "G1New"), text(&f, "System.gc()")});
	kept_marks_gc(&f.marks, &(struct kept_gc){12, text(&f, "G1Old"), 0});
	view = view_of(&f);
	check(view, &f.marks);
	assert_int_equal(view->item_count, 3);
	assert_int_equal(view->items[0].at, 0); /* what began before is at the start, with what is left of it */
	assert_int_equal(view->items[0].duration, 4);
	assert_int_equal(view->items[0].gc, 1);
	assert_string_equal(view->gcs[0].cause, "System.gc()");
	assert_int_equal(view->gc_count, 1); /* that of a pause alone */
	assert_int_equal(view->items[1].at, 1000);
	assert_int_equal(view->items[1].thread, PROFILE_NO_THREAD);
	assert_int_equal(view->items[2].thread, 0);
	assert_int_equal(view->thread_count, 1);
	assert_int_equal(view->threads[0].tid, 7);
	assert_string_equal(view->names[0].name, "checkout");
	assert_int_equal(view->names[0].sum, 120);
	assert_int_equal(view->names[0].longest, 70);
	assert_null(view->names[0].parts);
	kept_marks_view_free(view);
	read_aggregate_free(&f);
}

/* A quarter of a million of three names, of which one is rare, one is of moments. */
static void many_are_bounded(void **state)
{
	struct read_aggregate f = {.marks = {.to = LENGTH}};
	uint32_t often = text(&f, "often"), rare = text(&f, "rare"), moment = text(&f, "moment"), i;
	struct profile_marks *view;

	seed = 1;
	for (i = 0; i < 250000; i++) {
		int64_t at = (int64_t)pick(LENGTH);
		uint64_t duration = 1 + pick(NS_PER_S);

		kept_marks_add(&f.marks, MARK_KIND_SPAN, often, &(struct kept_mark){at, duration, 0, 0, LISTS_FAILED});
		if (i % 1000 == 0)
			kept_marks_add(&f.marks, MARK_KIND_SPAN, rare, &(struct kept_mark){at, 3, 0, 0, LISTS_FAILED});
		if (i % 2)
			kept_marks_add(&f.marks, MARK_KIND_EVENT, moment, &(struct kept_mark){at, 0, 0, 0, LISTS_FAILED});
		assert_true(f.marks.items.count <= 2 * KEPT_MARKS_MOST);
	}
	/* the longest that there can be */
	kept_marks_add(&f.marks, MARK_KIND_SPAN, often, &(struct kept_mark){9, UINT64_MAX, 0, 0, LISTS_FAILED});
	view = view_of(&f);
	check(view, &f.marks);
	assert_int_equal(view->names[0].count, 250001);
	assert_int_equal(sum(view->names[0].steps, PROFILE_MARK_STEPS), 250001);
	assert_in_range(view->names[0].kept, 100, KEPT_MARKS_MOST);
	assert_int_equal(view->names[0].longest, UINT64_MAX);
	assert_int_equal(view->names[0].sum, UINT64_MAX);
	/* in the order of their counts */
	assert_int_equal(view->names[1].count, 125000);
	assert_null(view->names[1].steps);
	assert_int_equal(view->names[2].kept, 250);
	kept_marks_view_free(view);
	read_aggregate_free(&f);
}

static uint32_t same(void *arg, uint32_t number)
{
	(void)arg;
	return number;
}

/* What two threads read is as if one had: sums, and the longest. */
static void joined_is_as_read_by_one(void **state)
{
	struct read_aggregate one = {.marks = {.to = LENGTH}}, a = {.marks = {.to = LENGTH}}, b = {.marks = {.to = LENGTH}};
	uint32_t names[3], i, k, places[1] = {0};
	struct read_aggregate *all[] = {&one, &a, &b};
	struct profile_marks *x, *y;

	seed = 5;
	for (k = 0; k < 3; k++)
		for (i = 0; i < 3; i++)
			names[i] = text(all[k], (const char *[]){"x", "y", "z"}[i]);
	for (i = 0; i < 60000; i++) {
		struct kept_mark mark = {(int64_t)pick(LENGTH), pick(i % 3 ? NS_PER_S : 1000), 0, 0, LISTS_FAILED};

		kept_marks_add(&one.marks, MARK_KIND_SPAN, names[i % 3], &mark);
		kept_marks_add(i < 50000 ? &a.marks : &b.marks, MARK_KIND_SPAN, names[i % 3], &mark);
	}
	kept_marks_event(&a.marks, &(struct other_event){names[0], 0, 3, 30, 20, 5, 4, 100, 200, false});
	kept_marks_event(&b.marks, &(struct other_event){names[0], names[1], 1, 7, 7, 9, 9, 50, 60, true});
	kept_marks_join(&a.marks, &b.marks, same, NULL, places);
	x = view_of(&one);
	y = view_of(&a);
	check(x, &one.marks);
	check(y, &a.marks);
	for (i = 0; i < 3; i++) {
		assert_int_equal(x->names[i].count, y->names[i].count);
		assert_int_equal(x->names[i].sum, y->names[i].sum);
		assert_memory_equal(x->names[i].steps, y->names[i].steps, PROFILE_MARK_STEPS * sizeof(uint32_t));
	}
	assert_int_equal(y->event_count, 1);
	assert_int_equal(y->events[0].count, 4);
	assert_int_equal(y->events[0].time, 37);
	assert_int_equal(y->events[0].first, 50);
	assert_int_equal(y->events[0].last, 200);
	assert_int_equal(y->events[0].number_most, 9);
	assert_string_equal(y->events[0].number, "y");
	assert_true(y->events[0].estimated);
	kept_marks_view_free(x);
	kept_marks_view_free(y);
	for (k = 0; k < 3; k++)
		read_aggregate_free(all[k]);
}

#define NAMES 300 /* of spans; name i has 10 + i of them */

/* Two readers meet the names in opposite orders: those of most marks are whole, in their numbers and in their longest. */
static void frequent_names_are_found(void **state)
{
	struct read_aggregate readers[2] = {{.marks = {.to = LENGTH}}, {.marks = {.to = LENGTH}}};
	uint32_t numbers[NAMES], places[1] = {0}, i, k, n, least = NAMES - KEPT_MARK_NAMES;
	struct profile_marks *view;
	uint64_t rest = 0, all = 0;
	char name[32];

	for (k = 0; k < 2; k++)
		for (i = 0; i < NAMES; i++) {
			snprintf(name, sizeof(name), "name %u", i);
			numbers[i] = text(&readers[k], name);
		}
	for (k = 0; k < 2; k++)
		for (i = 0; i < NAMES; i++)
			for (n = 0; n < 10 + (k ? NAMES - 1 - i : i); n++)
				if (n % 2 == k)
					kept_marks_add(&readers[k].marks, MARK_KIND_SPAN, numbers[k ? NAMES - 1 - i : i],
						       &(struct kept_mark){n, 1000 + n, 0, 0, LISTS_FAILED});
	kept_marks_join(&readers[0].marks, &readers[1].marks, same, NULL, places);
	view = view_of(&readers[0]);
	check(view, &readers[0].marks);
	assert_int_equal(view->name_count, KEPT_MARK_NAMES + 1);
	for (i = 0; i < view->name_count; i++) {
		const struct profile_mark_name *at = &view->names[i];

		all += at->count;
		assert_int_equal(sum(at->steps, PROFILE_MARK_STEPS), at->count);
		if (!*at->name)
			continue;
		snprintf(name, sizeof(name), "name %u", NAMES - 1 - i);
		assert_string_equal(at->name, name);
		assert_int_equal(at->count, 10 + NAMES - 1 - i);
		assert_int_equal(at->longest, 1000 + at->count - 1);
		assert_in_range(at->kept, 10, at->count);
	}
	for (i = 0; i < least; i++)
		rest += 10 + i;
	assert_int_equal(view->names[KEPT_MARK_NAMES].count, rest);
	assert_int_equal(all, NAMES * 10 + NAMES * (NAMES - 1) / 2);
	kept_marks_view_free(view);
	for (k = 0; k < 2; k++)
		read_aggregate_free(&readers[k]);
	(void)state;
}

static void names_are_bounded(void **state)
{
	struct read_aggregate f = {.marks = {.to = LENGTH}};
	struct profile_marks *view;
	char name[32];
	uint32_t i;

	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		kept_marks_add(&f.marks, i % 2 ? MARK_KIND_SPAN : MARK_KIND_EVENT, text(&f, name),
			       &(struct kept_mark){i, i, 0, 0, LISTS_FAILED});
		kept_marks_event(&f.marks, &(struct other_event){.type = text(&f, name), .count = 1});
	}
	view = view_of(&f);
	check(view, &f.marks);
	assert_in_range(view->name_count, KEPT_MARK_NAMES, KEPT_MARK_NAMES + MARK_KINDS);
	assert_int_equal(view->event_count, OTHER_EVENTS_MOST);
	for (i = 0; i < KEPT_MARK_GCS + 10u; i++)
		kept_marks_gc(&f.marks, &(struct kept_gc){i, 0, 0});
	assert_int_equal(f.marks.gcs.count, KEPT_MARK_GCS);
	assert_false(f.marks.failed);
	kept_marks_view_free(view);
	read_aggregate_free(&f);
}

/* Steps are in the order of lengths, each a sixteenth wide at most. */
static void steps_of_the_distribution(void **state)
{
	unsigned octave, part, before = mark_step(15);

	for (octave = 4; octave < 64; octave++)
		for (part = 0; part < 16; part++) {
			uint64_t ns = (1ull << octave) + part * (1ull << octave >> 4);

			assert_in_range(mark_step(ns), before, before + 1);
			before = mark_step(ns);
		}
	assert_int_equal(mark_step(UINT64_MAX), PROFILE_MARK_STEPS - 1);
	assert_int_equal(mark_step(0), 0);
	assert_int_equal(mark_step(15), 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_are_kept_as_they_are),
		cmocka_unit_test(many_are_bounded),
		cmocka_unit_test(joined_is_as_read_by_one),
		cmocka_unit_test(frequent_names_are_found),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(steps_of_the_distribution),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
