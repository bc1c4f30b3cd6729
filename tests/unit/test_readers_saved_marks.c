/* Marks in JSON: what was written is read again, bounded, and what cannot be is refused; out of memory, it is said. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "failing_allocations.h"
#include "format_sample.h"
#include "saved_files.h"
#include "profile/readers/kept_marks.h"
#include "profile/readers/read_aggregate.h"
#include "profile/readers/readers.h"
#include "profile/views/views.h"

#define LENGTH (1000 * NS_PER_S)

static uint64_t seed;

static uint64_t pick(uint64_t limit)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 20) % limit;
}

static struct conversion *read_json(const char *text, size_t size, struct error *err)
{
	return saved_file_read(text, size, "json", NULL, NULL, err);
}

static struct buffer json_of(const struct profile *p)
{
	return saved_file_json(&p, 1, &views);
}

static uint32_t text(struct read_aggregate *f, const char *name)
{
	return strings_add(&f->strings, name, strlen(name));
}

/* Marks of a recording as they are read, the first and the third thread of one tid and name: NAMES names, PER_NAME each. */
static struct profile_marks *make_marks(struct read_aggregate *f, unsigned names, unsigned per_name)
{
	uint32_t threads[3], i, k;
	struct profile_marks *view;
	char name[64];

	*f = (struct read_aggregate){.marks = {.to = LENGTH}};
	for (i = 0; i < ARRAY_LEN(threads); i++) {
		snprintf(name, sizeof(name), "worker \"%u\"", i % 2);
		threads[i] = lists_add(&f->threads, (uint32_t[READ_THREAD_WORDS]){100 + i % 2, text(f, name), i}, READ_THREAD_WORDS);
	}
	for (i = 0; i < names; i++) {
		enum mark_kind kind = (enum mark_kind)(i % MARK_KINDS);

		snprintf(name, sizeof(name), "name <%u>", i);
		for (k = 0; k < per_name + i; k++)
			kept_marks_add(&f->marks, kind, i == 3 ? 0 : text(f, name), &(struct kept_mark){
				(int64_t)pick(LENGTH), kind == MARK_KIND_EVENT ? 0 : pick(k % 3 ? 1000 : NS_PER_S),
				kind <= MARK_KIND_GC ? 1 + pick(4) : 0, 0, k % 4 == 3 ? LISTS_FAILED : threads[k % 4 % 3]});
		kept_marks_said(&f->marks, kind, i == 3 ? 0 : text(f, name), 0, 0, 0)->estimated = i % 2;
	}
	for (i = 0; i < 3; i++)
		kept_marks_gc(&f->marks, &(struct kept_gc){i, text(f, "G1New"), text(f, i ? "System.gc()" : "")});
	kept_marks_event(&f->marks, &(struct other_event){text(f, "jdk.Sleep"), 0, 7, 70, 20, 0, 0, 5, LENGTH - 1, false});
	kept_marks_event(&f->marks, &(struct other_event){text(f, "jdk.FileRead"), text(f, "bytesRead"), 3, 2, 1,
							  UINT64_MAX, 1 << 20, 7, 7, true});
	view = kept_marks_view(&f->marks, &f->strings, &f->threads, 0);
	assert_non_null(view);
	return view;
}

static void same_counts(const uint32_t *a, const uint32_t *b, size_t count)
{
	assert_int_equal(a != NULL, b != NULL);
	if (a)
		assert_memory_equal(a, b, count * sizeof(*a));
}

static void check_same(const struct profile_marks *a, const struct profile_marks *b)
{
	uint32_t i;

	assert_non_null(b);
	assert_int_equal(a->duration, b->duration);
	assert_int_equal(a->name_count, b->name_count);
	for (i = 0; i < a->name_count; i++) {
		const struct profile_mark_name *x = &a->names[i], *y = &b->names[i];

		assert_string_equal(x->name, y->name);
		assert_true(x->kind == y->kind && x->count == y->count && x->sum == y->sum && x->longest == y->longest &&
			    x->kept == y->kept && x->estimated == y->estimated);
		same_counts(x->parts, y->parts, PROFILE_MARK_PARTS);
		same_counts(x->steps, y->steps, PROFILE_MARK_STEPS);
	}
	assert_int_equal(a->item_count, b->item_count);
	for (i = 0; i < a->item_count; i++) {
		const struct profile_mark *x = &a->items[i], *y = &b->items[i];

		assert_true(x->at == y->at && x->duration == y->duration && x->name == y->name);
		assert_int_equal(x->thread == PROFILE_NO_THREAD, y->thread == PROFILE_NO_THREAD);
		if (x->thread != PROFILE_NO_THREAD) {
			assert_int_equal(a->threads[x->thread].tid, b->threads[y->thread].tid);
			assert_string_equal(a->threads[x->thread].name, b->threads[y->thread].name);
		}
		assert_int_equal(!x->gc, !y->gc);
		if (x->gc)
			assert_string_equal(a->gcs[x->gc - 1].cause, b->gcs[y->gc - 1].cause);
	}
	assert_int_equal(a->event_count, b->event_count);
	for (i = 0; i < a->event_count; i++) {
		const struct profile_other_event *x = &a->events[i], *y = &b->events[i];

		assert_string_equal(x->type, y->type);
		assert_true(x->count == y->count && x->time == y->time && x->longest == y->longest && x->first == y->first &&
			    x->last == y->last && x->estimated == y->estimated && x->number_sum == y->number_sum &&
			    x->number_most == y->number_most);
		assert_int_equal(x->number != NULL, y->number != NULL);
		if (x->number)
			assert_string_equal(x->number, y->number);
	}
}

/* Few marks, many of few names, and more names than are kept. */
static void marks_come_back(void **state)
{
	static const unsigned sizes[][2] = {{1, 1}, {12, 3}, {7, 20000}, {300, 20}, {206, 30}};
	const struct profile *read;
	struct read_aggregate f;
	uint32_t count;
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		struct profile p = sample_profile(false);
		struct profile_marks *marks;
		struct buffer json, again;
		struct conversion *c;
		struct error err;

		seed = 3 + i;
		p.marks = marks = make_marks(&f, sizes[i][0], sizes[i][1]);
		json = json_of(&p);
		c = read_json(json.data, json.length, &err);
		if (!c)
			fail_msg("%u: %s", i, err.text);
		read = convert_profiles(c, &count)[0];
		check_same(marks, read->marks);
		again = json_of(read);
		assert_string_equal(strstr(json.data, "\"marks\""), strstr(again.data, "\"marks\""));
		assert_true(json.length < 1 << 20);
		buffer_free(&json);
		buffer_free(&again);
		readers_free(c);
		kept_marks_view_free(marks);
		read_aggregate_free(&f);
	}
}

/* Each step is told by the shortest time that is of it. */
static void steps_are_told_by_their_begin(void **state)
{
	unsigned step;

	(void)state;
	for (step = 0; step < PROFILE_MARK_STEPS; step++) {
		assert_int_equal(mark_step(mark_step_begin(step)), step);
		if (step)
			assert_int_equal(mark_step(mark_step_begin(step) - 1), step - 1);
	}
}

#define HEAD "{\"schema\": 1, \"event\": \"cpu\", \"started_at\": \"2026-11-21T11:46:36.000Z\", \"duration_ns\": 10000, " \
	     "\"weight\": {\"unit\": \"ns\"}, \"stacks\": [{\"frames\": [\"m\"], \"kinds\": [\"jit\"], \"samples\": 1, " \
	     "\"weight\": 20}],"
#define NAMES "\"names\": [{\"kind\": \"pause\", \"name\": \"p\", \"count\": 2, \"sum_ns\": 30, \"longest_ns\": 20, " \
	      "\"lengths\": [10,1,20,1]}, {\"kind\": \"span\", \"name\": \"s\", \"count\": 5, \"sum_ns\": 500, " \
	      "\"longest_ns\": 300, \"parts\": [0,1,1023,3], \"lengths\": [50,4,300,1]}]"
#define KEPT "\"kept\": {\"count\": 3, \"at_ns\": [100,5000,9000], \"duration_ns\": [10,300,20], \"name\": [0,1,0], " \
	     "\"thread\": [null,0,null], \"gc\": [0,null,0]}"
#define EVENTS "\"events\": [{\"type\": \"a.B\", \"count\": 2, \"time_ns\": 3, \"longest_ns\": 2, \"first_ns\": 50, " \
	       "\"last_ns\": 9500}, {\"type\": \"a.C\", \"count\": 9, \"first_ns\": 4000, \"last_ns\": 5500, \"field\": \"size\", " \
	       "\"bytes\": 12, \"most_bytes\": 7, \"estimated\": true}]"
#define MARKS "\"marks\": {\"duration_ns\": 10000, " NAMES ", \"threads\": [{\"tid\": 7, \"name\": \"w\"}], " \
	      "\"gcs\": [{\"name\": \"G1New\", \"cause\": \"full\"}], " KEPT ", " EVENTS "}}"

/* We write such ourselves, of a recording whose clock jumped: all else is read, and it is said what is not. */
static void years_that_never_were_are_left_out(void **state)
{
	static const char *const changes[][2] = {
		{"[100,5000,9000]", "[100,5000,9000000000000000000]"},
		{"[100,5000,9000]", "[100,5000,18446744073709551615]"},
		{"\"duration_ns\": 10000, \"names\"", "\"duration_ns\": 18446744073709551615, \"names\""},
		{"\"last_ns\": 9500", "\"last_ns\": 9500000000000000000"},
		{"\"gcs\"", "\"rows\": [{\"row\": \"cpus\", \"count\": [1], \"min\": [1], \"max\": [1], \"sum\": [1], "
			    "\"last\": [1], \"last_at_ns\": [9500000000000000000]}], \"gcs\""},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(changes); i++) {
		char *text = saved_file_with(HEAD MARKS, changes[i][0], changes[i][1]);
		struct conversion *c;
		struct error err;
		uint32_t count;

		c = read_json(text, strlen(text), &err);
		if (!c)
			fail_msg("%s: %s", changes[i][1], err.text);
		assert_int_equal(convert_profiles(c, &count)[0]->stored, 1);
		assert_null(convert_profiles(c, &count)[0]->marks);
		assert_non_null(strstr(readers_notes(c), "pauses, spans and other events are left out"));
		readers_free(c);
		free(text);
	}
}

static void what_cannot_be_is_refused(void **state)
{
	static const struct {
		const char *from, *to, *because; /* NULL: it is read */
	} changes[] = {
		{"\"gcs\"", "\"more\": {\"x\": [1, null]}, \"gcs\"", NULL},
		{"\"kind\": \"span\"", "\"kind\": \"newer\"", NULL},
		{"\"name\": \"s\", \"count\": 5", "\"name\": \"s\", \"count\": 6", "counts that are not those of its marks"},
		{"\"parts\": [0,1,1023,3]", "\"parts\": [0,4]", NULL},
		{"\"parts\": [0,1,1023,3]", "\"parts\": [0,1,1024,3]", "a number beyond any result"},
		{"\"parts\": [0,1,1023,3]", "\"parts\": [0,1,1023]", "numbers that are no pairs"},
		{"\"parts\": [0,1,1023,3]", "\"parts\": [0,1,1023,4294967296]", "a number beyond any result"},
		{"\"parts\": [0,1,1023,3]", "\"parts\": [0,1,1023,-3]", "should be a number"},
		{"\"parts\": [0,1,1023,3]", "\"parts\": {}", "should be an array"},
		{"\"lengths\": [50,4,300,1]", "\"lengths\": [50,5,18446744073709551615,1]", "counts that are not those of its marks"},
		{"\"lengths\": [50,4,300,1]", "\"lengths\": [50,4,18446744073709551615,1]", NULL},
		{"[100,5000,9000]", "[100,5000]", "columns that are not as long as `count` says"},
		{"[100,5000,9000]", "[100,5000,9000,9001]", "columns that are not as long as `count` says"},
		{"\"count\": 3, \"at", "\"count\": 18446744073709551615, \"at", "columns that are not as long as `count` says"},
		{"[100,5000,9000]", "[100,9000,5000]", "times in no order"},
		{"[100,5000,9000]", "[-100,5000,9000]", "should be a number"},
		{"[100,5000,9000]", "[\"100\",5000,9000]", "should be a number"},
		{"[100,5000,9000]", "[null,5000,9000]", "should be a number"},
		{"[100,5000,9000]", "[100,5000,9000], \"at_ns\": [100,5000,9000]", "a column twice"},
		{"\"at_ns\": [100,5000,9000], ", "", "columns that are not as long as `count` says"},
		{"[10,300,20]", "[10,18446744073709551615,20]", NULL},
		{"[10,300,20]", "[10,18446744073709551616,20]", "should be a number of 64 bits"},
		{"\"name\": [0,1,0]", "\"name\": [0,2,0]", "a name that is not there"},
		{"\"name\": [0,1,0]", "\"name\": [0,1,1]", "counts that are not those of its marks"},
		{"\"name\": [0,1,0]", "\"name\": [0,4294967295,0]", "a number beyond any result"},
		{"[null,0,null]", "[null,1,null]", "a thread that is not there"},
		{"[null,0,null]", "[null,true,null]", "should be a number"},
		{"\"gc\": [0,null,0]", "\"gc\": [1,null,0]", "a collection that is not there"},
		{"\"gc\": [0,null,0]", "\"gc\": [18446744073709551615,null,0]", "a number beyond any result"},
		{"\"first_ns\": 50", "\"first_ns\": 9501", "events that end before they begin"},
		{"\"count\": 9", "\"count\": null", "should be a number"},
		{"\"threads\": [{\"tid\": 7", "\"threads\": [{\"tid\": -7", "should be a number"},
		{"\"threads\": [{\"tid\": 7, \"name\": \"w\"}]", "\"threads\": [7]", "should be an object"},
		{"\"gcs\": [{", "\"gcs\": [[{", "should be an object"},
		{KEPT, KEPT ", " KEPT, "marks twice"},
		{KEPT, "\"kept\": null", "should be an object"},
		{KEPT, "\"kept_not\": null", "counts that are not those of its marks"},
		{"\"marks\": {", "\"marks\": [{", "should be an object"},
		{"\"name\": \"p\"", "\"name\": {}", "should be a string"},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(changes); i++) {
		char *text = saved_file_with(HEAD MARKS, changes[i].from, changes[i].to);
		struct conversion *c;
		struct error err;
		uint32_t count;

		c = read_json(text, strlen(text), &err);
		if ((c != NULL) != !changes[i].because)
			fail_msg("%s → %s: %s", changes[i].from, changes[i].to, c ? "read" : err.text);
		if (!c && !strstr(err.text, changes[i].because))
			fail_msg("%s → %s: %s", changes[i].from, changes[i].to, err.text);
		if (c) {
			assert_non_null(convert_profiles(c, &count)[0]->marks);
			readers_free(c);
		} else if (!strstr(changes[i].because, "should be")) {
			assert_non_null(strstr(err.text, "`marks` of cpu has "));
			/* who does not want to know reads the rest */
			c = saved_file_read(text, strlen(text), "json", saved_file_no_times, NULL, &err);
			assert_non_null(c);
			assert_null(convert_profiles(c, &count)[0]->marks);
			readers_free(c);
		}
		free(text);
	}
}

/* However many names and marks a file claims, they are few. */
static void many_are_refused(void **state)
{
	struct buffer b = BUFFER_INIT;
	struct error err;
	unsigned i;

	(void)state;
	buffer_puts(&b, HEAD "\"marks\": {\"duration_ns\": 1, \"names\": [");
	for (i = 0; i < 5000; i++)
		buffer_printf(&b, "%s{\"kind\": \"span\", \"name\": \"%u\"}", i ? "," : "", i);
	buffer_puts(&b, "]}}");
	assert_null(read_json(b.data, b.length, &err));
	assert_non_null(strstr(err.text, "more names or marks than any result"));
	buffer_free(&b);
}

/* Cut anywhere it is refused; changed anywhere it is refused with a reason, or bounded. */
static void cut_or_damaged(void **state)
{
	static const char bytes[] = "0123456789,[]{}:\"n -.e";
	uint32_t i, k, read = 0, refused = 0, count;
	struct profile p = sample_profile(false);
	struct profile_marks *marks;
	struct read_aggregate f;
	struct conversion *c;
	struct buffer json;
	struct error err;
	size_t from;

	(void)state;
	seed = 9;
	p.marks = marks = make_marks(&f, 12, 3);
	json = json_of(&p);
	from = (size_t)(strstr(json.data, "\"marks\"") - json.data);
	for (i = (uint32_t)from; i + 3 < json.length; i++) {
		assert_null(read_json(json.data, i, &err));
		assert_true(err.text[0]);
	}
	for (i = 0; i < 10000; i++) {
		char *text = malloc(json.length);

		memcpy(text, json.data, json.length);
		for (k = 0; k < 1 + i % 3; k++)
			text[from + pick(json.length - from)] = bytes[pick(i % 2 ? 10 : sizeof(bytes) - 1)];
		c = read_json(text, json.length, &err);
		read += c != NULL;
		refused += !c;
		assert_true(c || err.text[0]);
		if (c) {
			const struct profile_marks *m = convert_profiles(c, &count)[0]->marks;

			for (k = 0; m && k < m->item_count; k++)
				assert_true(m->items[k].name < m->name_count && m->items[k].gc <= m->gc_count &&
					    (m->items[k].thread == PROFILE_NO_THREAD || m->items[k].thread < m->thread_count));
			readers_free(c);
		}
		free(text);
	}
	assert_true(read > 1000 && refused > 1000);
	buffer_free(&json);
	kept_marks_view_free(marks);
	read_aggregate_free(&f);
}

/* Each allocation of writing and of reading fails once: that is said, or all is there. */
static void every_allocation_fails_once(void **state)
{
	struct profile p = sample_profile(false);
	struct format_options options = {.total = true, .views = &views};
	const struct profile *one = &p;
	struct profile_marks *marks;
	struct read_aggregate f;
	struct conversion *c;
	struct buffer json;
	struct error err;
	unsigned n, all;
	uint32_t count;

	(void)state;
	if (!OWN_ALLOCATOR) {
		print_message("AddressSanitizer has its own allocator: run without it\n");
		skip();
	}
	seed = 5;
	p.marks = marks = make_marks(&f, 20, 4);
	allocations = 0;
	json = json_of(&p);
	for (all = allocations, n = 1; n <= all; n++) {
		struct buffer out = BUFFER_INIT;

		fail_at = n;
		format_write(format_by_name("json"), &one, 1, &options, &out, NULL);
		fail_at = 0;
		assert_true(out.failed ? out.failed == ENOMEM :
			    out.length == json.length && memcmp(out.data, json.data, json.length) == 0);
		buffer_free(&out);
	}
	allocations = 0;
	c = read_json(json.data, json.length, &err);
	readers_free(c);
	for (all = allocations, n = 1; n <= all; n++) {
		fail_at = n;
		c = read_json(json.data, json.length, &err);
		fail_at = 0;
		if (!c) {
			assert_true(err.text[0]);
			continue;
		}
		check_same(marks, convert_profiles(c, &count)[0]->marks);
		readers_free(c);
	}
	buffer_free(&json);
	kept_marks_view_free(marks);
	read_aggregate_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_come_back), cmocka_unit_test(steps_are_told_by_their_begin),
		cmocka_unit_test(years_that_never_were_are_left_out), cmocka_unit_test(what_cannot_be_is_refused), cmocka_unit_test(many_are_refused),
		cmocka_unit_test(cut_or_damaged), cmocka_unit_test(every_allocation_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
