/* A part of a result in JSON: of the time, of threads, in states; and of its marks. */
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

#include "saved_files.h"
#include "profile/model/profile_marks.h"
#include "profile/readers/read_aggregate.h"
#include "profile/readers/readers.h"
#include "profile/views/views.h"
#include "profile/writers/format.h"

#define HEAD(event, engine) "{\"schema\": 1, \"event\": \"" event "\", \"engine\": \"" engine "\", \"started_at\": " \
	"\"2026-11-21T11:46:36.000Z\", \"duration_ns\": 10000000000, \"weight\": {\"unit\": \"ns\"}," \
	"\"threads\": [{\"tid\": 1, \"name\": \"http-1\", \"samples\": 9, \"weight\": 90}, " \
	"{\"tid\": 2, \"name\": \"main\", \"samples\": 4, \"weight\": 40}],"
#define TIMES(columns) "\"times\": {\"step_ns\": 1000000000, \"steps\": 10, \"quantum\": 10, " columns "}"

/* one at 1, 5 and 9 s on http-1, three at 5 s on main */
static const char cpu[] = HEAD("cpu", "perf")
	"\"stacks\": [{\"frames\": [\"m\"], \"kinds\": [\"jit\"], \"samples\": 5, \"weight\": 50, \"objects\": 10, \"outside_tlab\": 50}, "
	"{\"frames\": [\"n\"], \"kinds\": [\"jit\"], \"samples\": 1, \"weight\": 10}],"
	TIMES("\"count\": 4, \"at\": [1,5,5,9], \"stack\": [0,0,1,0], \"thread\": [0,1,0,0], \"samples\": [1,3,1,1]") "}";
/* as `times` of sampled time are rounded: 30 of 31, 9 of 8, and one that weighs nothing there */
static const char rounded[] = HEAD("cpu", "perf")
	"\"stacks\": [{\"frames\": [\"m\"], \"kinds\": [\"jit\"], \"samples\": 3, \"weight\": 31, \"objects\": 7}, "
	"{\"frames\": [\"n\"], \"kinds\": [\"jit\"], \"samples\": 1, \"weight\": 8}, "
	"{\"frames\": [\"b\"], \"kinds\": [\"jit\"], \"samples\": 1, \"weight\": 1}],"
	"\"times\": {\"step_ns\": 1000000000, \"steps\": 10, \"quantum\": 1, \"count\": 5, \"at\": [1,5,5,7,9], "
	"\"stack\": [0,0,1,2,0], \"thread\": [0,1,0,0,0], \"weight\": [10,10,9,0,10]}}";
/* a wait from 2 to 6 s, five samples from 0 to 8 s, and one that is of no known stack or thread at 3 s */
static const char wall[] = HEAD("wall", "perf")
	"\"stacks\": [{\"frames\": [\"w\"], \"kinds\": [\"jit\"], \"samples\": 1, \"weight\": 40, \"state\": \"parked\", \"thread\": 1}, "
	"{\"frames\": [\"b\"], \"kinds\": [\"jit\"], \"samples\": 5, \"weight\": 50, \"state\": \"running\", \"thread\": 0}, "
	"{\"frames\": [\"c\"], \"kinds\": [\"jit\"], \"samples\": 1, \"weight\": 10, \"state\": \"runnable\", \"thread\": 0}],"
	TIMES("\"count\": 3, \"at\": [0,2,3], \"stack\": [1,0,null], \"thread\": [0,1,null], \"span\": [8,4,0], "
	      "\"samples\": [5,1,1], \"weight\": [5,4,1]") "}";
static const char no_times_at_all[] = HEAD("cpu", "perf")
	"\"stacks\": [{\"frames\": [\"m\"], \"kinds\": [\"jit\"], \"samples\": 5, \"weight\": 50}]}";

struct asked {
	const char *from, *to, *threads, *states;
};

static void ask(struct options *o, const void *arg)
{
	const struct asked *asked = arg;

	snprintf(o->from, sizeof(o->from), "%s", asked->from ? asked->from : "");
	snprintf(o->to, sizeof(o->to), "%s", asked->to ? asked->to : "");
	snprintf(o->filter, sizeof(o->filter), "%s", asked->threads ? asked->threads : "");
	snprintf(o->states, sizeof(o->states), "%s", asked->states ? asked->states : "");
}

static struct conversion *read_part(const char *text, const struct asked *asked, const char *format, struct error *err)
{
	return saved_file_read(text, strlen(text), format, ask, asked, err);
}

/* "m 2/20 n 1/10": samples and weights. */
static void put_stacks(const struct profile *p, char *to, size_t size)
{
	static const char names[] = "mnwbc";
	size_t n = 0;
	unsigned k;
	uint32_t i;

	to[0] = '\0';
	for (k = 0; names[k]; k++) {
		uint64_t samples = 0, weight = 0;

		for (i = 0; i < p->stack_count; i++) {
			const struct profile_stack *s = &p->stacks[i];

			if (s->depth && p->frames[s->frames[0]].name[0] == names[k]) {
				samples += s->samples;
				weight += s->weight;
			}
		}
		if (samples)
			n += (size_t)snprintf(to + n, size - n, "%c %d/%d ", names[k], (int)samples, (int)weight);
	}
	for (i = 0; i < p->stack_count; i++)
		if (!p->stacks[i].depth)
			n += (size_t)snprintf(to + n, size - n, "- %d/%d ", (int)p->stacks[i].samples,
					      (int)p->stacks[i].weight);
}

static void samples_of_a_part(void **state)
{
	static const struct {
		const char *text;
		struct asked asked;
		const char *stacks; /* "": nothing is left */
		uint64_t at;        /* of the first, s since the part's begin */
	} rows[] = {
		{cpu, {"0s", NULL, NULL, NULL}, "m 5/50 n 1/10 ", 1},
		{cpu, {"1s", "5s", NULL, NULL}, "m 1/10 ", 0},
		{cpu, {"1001ms", "5001ms", NULL, NULL}, "m 3/30 n 1/10 ", 3},
		{cpu, {"5s", NULL, NULL, NULL}, "m 4/40 n 1/10 ", 0},
		{cpu, {"-5s", NULL, NULL, NULL}, "m 4/40 n 1/10 ", 0},
		{cpu, {NULL, "-1s", NULL, NULL}, "m 4/40 n 1/10 ", 1},
		{cpu, {"2026-11-21T11:46:41Z", "2026-11-21T11:46:42Z", NULL, NULL}, "m 3/30 n 1/10 ", 0},
		{cpu, {"6s", "7s", NULL, NULL}, "", 0},
		{cpu, {"1s", "9999s", NULL, NULL}, "m 5/50 n 1/10 ", 0},
		{cpu, {NULL, NULL, "1", NULL}, "m 2/20 n 1/10 ", 1},
		{cpu, {NULL, NULL, "2", NULL}, "m 3/30 ", 5},
		{cpu, {NULL, NULL, "name:ma*", NULL}, "m 3/30 ", 5},
		{cpu, {"2s", NULL, "name:http-*", NULL}, "m 1/10 n 1/10 ", 3},
		{cpu, {NULL, NULL, "7", NULL}, "", 0},
		{cpu, {NULL, NULL, NULL, "default"}, "m 5/50 n 1/10 ", 1},
		{cpu, {NULL, NULL, NULL, "runnable"}, "", 0},
		{rounded, {NULL, NULL, NULL, NULL}, "m 3/31 n 1/8 b 1/1 ", 1},
		{rounded, {"0s", NULL, NULL, NULL}, "m 3/31 n 1/8 b 1/1 ", 1},
		{rounded, {NULL, "5s", NULL, NULL}, "m 1/10 ", 1},
		{rounded, {"5s", NULL, NULL, NULL}, "m 2/21 n 1/8 b 1/1 ", 0},
		{rounded, {NULL, NULL, "1", NULL}, "m 2/21 n 1/8 b 1/1 ", 1},
		{rounded, {NULL, NULL, "2", NULL}, "m 1/10 ", 5},
		{wall, {"0s", NULL, NULL, NULL}, "w 1/40 b 5/50 - 1/10 ", 0},
		{wall, {"3s", "5s", NULL, NULL}, "w 1/20 b 1/10 - 1/10 ", 0},
		{wall, {"5s", "9s", NULL, NULL}, "w 1/10 b 2/20 ", 0},
		{wall, {"6s", "8s", NULL, NULL}, "b 1/10 ", 0},
		{wall, {"7s", NULL, NULL, NULL}, "b 1/10 ", 1},
		{wall, {"1s", "2s", NULL, NULL}, "", 0},
		{wall, {NULL, NULL, "2", NULL}, "w 1/40 ", 2},
		{wall, {NULL, NULL, NULL, "parked"}, "w 1/40 ", 2},
		{wall, {NULL, NULL, NULL, "STATE_PARKED"}, "w 1/40 ", 2},
		{wall, {NULL, NULL, NULL, "runnable"}, "b 5/50 ", 0},
		{wall, {NULL, NULL, NULL, "running,p"}, "w 1/40 b 5/50 ", 0},
		{wall, {"4s", "5s", NULL, "p"}, "w 1/10 ", 0},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const struct profile *p;
		struct conversion *c;
		struct error err;
		char stacks[200];
		uint64_t samples = 0, m;
		uint32_t count;

		c = read_part(rows[i].text, &rows[i].asked, "html", &err);
		if (!c != !*rows[i].stacks)
			fail_msg("%u: %s", i, c ? "read" : err.text);
		if (!c) {
			assert_non_null(strstr(err.text, "is left by"));
			continue;
		}
		p = convert_profiles(c, &count)[0];
		put_stacks(p, stacks, sizeof(stacks));
		if (strcmp(stacks, rows[i].stacks) != 0)
			fail_msg("%u: %s, not %s", i, stacks, rows[i].stacks);
		assert_non_null(p->told);
		assert_true(p->moment_count && p->moments_of == p->stacks);
		for (m = 0; m < p->moment_count; m++)
			samples += p->moments[m].samples;
		assert_int_equal(samples, p->stored);
		assert_int_equal(p->moments[0].at * p->moment_step, rows[i].at * NS_PER_S);
		readers_free(c);
	}
}

/* Objects are in proportion; texts have no times, and are of the part as well. */
static void what_goes_with_samples(void **state)
{
	struct conversion *c;
	struct error err;
	uint32_t count;

	(void)state;
	c = read_part(cpu, &(struct asked){"5s", "9s", NULL, NULL}, "hot", &err);
	assert_non_null(c);
	assert_int_equal(convert_profiles(c, &count)[0]->objects, 6);
	assert_int_equal(convert_profiles(c, &count)[0]->outside, 30);
	assert_int_equal(convert_profiles(c, &count)[0]->duration, 4 * NS_PER_S);
	assert_int_equal(convert_profiles(c, &count)[0]->thread_count, 2);
	readers_free(c);
}

/* Of parts of objects: a whole number of them per stack, which together are those of the profile. */
static void objects_of_stacks_are_those_of_all(void **state)
{
	static const uint64_t parts[] = {READ_OBJECT_PARTS / 2, READ_OBJECT_PARTS / 2 + 1, 3 * READ_OBJECT_PARTS,
					 READ_OBJECT_PARTS * 5 / 8, READ_OBJECT_PARTS * 7 / 8, READ_OBJECT_PARTS * 5 / 8};
	struct read_aggregate f = {0};
	struct profile p = {0};
	uint64_t sum = 0;
	uint32_t family = read_aggregate_family(&f, "alloc", WEIGHT_BYTES, NULL), stack, i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(parts); i++) {
		uint32_t words[READ_FRAME_WORDS] = {0}, frame;

		words[READ_FRAME_LINE] = i + 1;
		frame = read_aggregate_frame(&f, words);
		stack = lists_add(&f.stacks, &frame, 1);
		read_aggregate_add(&f, family, stack, READ_NO_THREAD, THREAD_NONE, 1, 100);
		read_aggregate_add_objects(&f, family, stack, READ_NO_THREAD, THREAD_NONE, parts[i], 0);
	}
	assert_int_equal(read_aggregate_profile(&f, family, &p), 0);
	assert_int_equal(p.stack_count, ARRAY_LEN(parts));
	assert_int_equal(p.stacks[2].objects, 3); /* what is whole stays so */
	for (i = 0; i < p.stack_count; i++)
		sum += p.stacks[i].objects;
	assert_int_equal(p.objects, 6);
	assert_int_equal(sum, p.objects);
	read_aggregate_profile_free(&p);
	read_aggregate_free(&f);
}

static void without_times_it_is_refused(void **state)
{
	static const struct asked some[] = {
		{"1s", NULL, NULL, NULL}, {NULL, "1s", NULL, NULL}, {NULL, NULL, "1", NULL}, {NULL, NULL, NULL, "default"}};
	char both[3000];
	struct conversion *c;
	struct error err;
	uint32_t count;
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(some); i++) {
		assert_null(read_part(no_times_at_all, &some[i], "html", &err));
		assert_non_null(strstr(err.text, "this JSON has sums of its whole time; leave out"));
	}
	/* of several events those that have times are read */
	snprintf(both, sizeof(both), "{\"schema\": 1, \"profiles\": [%s, %s]}", cpu, strstr(no_times_at_all, "{"));
	memcpy(strstr(strstr(both, "5, \"weight\": 50}]}") - 400, "\"cpu\""), "\"xyz\"", 5);
	c = read_part(both, &some[0], "html", &err);
	if (!c)
		fail_msg("%s", err.text);
	convert_profiles(c, &count);
	assert_int_equal(count, 1);
	assert_non_null(strstr(readers_notes(c), "xyz: left out, as the file does not say when its samples were taken"));
	readers_free(c);
	/* groups are not known, and times are to be such */
	assert_null(read_part(cpu, &(struct asked){NULL, NULL, "group:main", NULL}, "html", &err));
	assert_null(read_part(cpu, &(struct asked){"5s", "4s", NULL, NULL}, "html", &err));
	assert_non_null(strstr(err.text, "is not before"));
	assert_null(read_part(cpu, &(struct asked){"soon", NULL, NULL, NULL}, "html", &err));
	assert_non_null(strstr(err.text, "is no time"));
}

/* All of the time is all that the file has, also where most marks are not told one by one. */
static void all_of_the_time(void **state)
{
	static const char marks[] = ", \"marks\": {\"duration_ns\": 10000000000, \"names\": [{\"kind\": \"span\", \"name\": \"s\", "
		"\"count\": 9, \"sum_ns\": 901, \"longest_ns\": 103, \"parts\": [0,4,1023,5], \"lengths\": [100,9]}]}}";
	static const struct asked some[] = {
		{NULL, NULL, NULL, NULL}, {"0s", NULL, NULL, NULL}, {NULL, "10s", NULL, NULL}, {"0s", "99s", NULL, NULL},
		{NULL, "9s", NULL, NULL}};
	char text[3000];
	unsigned i;

	(void)state;
	snprintf(text, sizeof(text), "%.*s%s", (int)strlen(cpu) - 1, cpu, marks);
	for (i = 0; i < ARRAY_LEN(some); i++) {
		const struct profile_mark_name *name;
		struct conversion *c;
		struct error err;
		uint32_t count;

		c = read_part(text, &some[i], "html", &err);
		if (!c)
			fail_msg("%u: %s", i, err.text);
		name = convert_profiles(c, &count)[0]->marks->names;
		if (i < ARRAY_LEN(some) - 1)
			assert_true(name->count == 9 && name->sum == 901 && name->longest == 103 && !name->estimated);
		else
			assert_true(name->count == 4 && name->sum == 400 && name->longest == 100 && name->estimated);
		readers_free(c);
	}
}

static void check_estimates_are_told(const struct profile *p)
{
	struct buffer out = BUFFER_INIT;

	format_write(format_by_name("json"), &p, 1, &(struct format_options){.views = &views}, &out, NULL);
	buffer_putc(&out, '\0');
	assert_int_equal(out.failed, 0);
	assert_non_null(strstr(out.data, "\"estimated\": true"));
	buffer_free(&out);
}

/* Those that are kept as they are, of others such a share; other types only where they lie in it as a whole. */
static void marks_of_a_part(void **state)
{
	static const char marks[] = ", \"marks\": {\"duration_ns\": 10000000000, \"names\": [{\"kind\": \"span\", \"name\": \"all\", "
		"\"count\": 3, \"sum_ns\": 4000000010, \"longest_ns\": 4000000000, \"lengths\": [10,1,4000000000,1]}, {\"kind\": "
		"\"span\", \"name\": \"many\", \"count\": 1001, \"sum_ns\": 1001000, \"longest_ns\": 5000, \"parts\": [0,400,511,100,"
		"1023,500], \"lengths\": [992,1000,4992,1]}], \"kept\": {\"count\": 4, \"at_ns\": [0,2000000000,5000000000,"
		"5000000000], \"duration_ns\": [10,4000000000,0,5000], \"name\": [0,0,0,1], \"thread\": [null,null,null,null], "
		"\"gc\": [null,null,null,null]}, \"events\": [{\"type\": \"in.It\", \"count\": 2, \"first_ns\": 3000000000, "
		"\"last_ns\": 4000000000}, {\"type\": \"across.It\", \"count\": 2, \"first_ns\": 1, \"last_ns\": 4000000000}, "
		"{\"type\": \"behind.It\", \"count\": 2, \"first_ns\": 9000000000, \"last_ns\": 9000000000}]}}";
	const struct profile_marks *m;
	char text[3000];
	struct conversion *c;
	struct error err;
	uint32_t count;

	(void)state;
	snprintf(text, sizeof(text), "%.*s%s", (int)strlen(cpu) - 1, cpu, marks);
	c = read_part(text, &(struct asked){"3s", "5500ms", NULL, NULL}, "html", &err);
	if (!c)
		fail_msg("%s", err.text);
	m = convert_profiles(c, &count)[0]->marks;
	assert_non_null(m);
	assert_int_equal(m->duration, 2500 * NS_PER_MS);
	assert_int_equal(m->item_count, 3);
	assert_int_equal(m->items[0].at, 0);
	assert_int_equal(m->items[0].duration, 2500 * NS_PER_MS);
	assert_int_equal(m->items[1].at, 2 * NS_PER_S);
	assert_int_equal(m->name_count, 2);
	assert_string_equal(m->names[0].name, "many");
	assert_int_equal(m->names[0].count, 101);
	assert_int_equal(m->names[0].longest, 5000);
	/* 100 of the 1000 that are not told one by one */
	assert_int_equal(m->names[0].sum, 5000 + (1001000 - 5000) / 10);
	assert_int_equal(m->names[0].steps[mark_step(992)], 100);
	assert_int_equal(m->names[0].steps[mark_step(5000)], 1);
	assert_true(m->names[0].estimated);
	assert_false(m->names[1].estimated);
	check_estimates_are_told(convert_profiles(c, &count)[0]);
	assert_int_equal(m->names[1].count, 2);
	assert_int_equal(m->names[1].sum, 2500 * NS_PER_MS);
	assert_int_equal(m->event_count, 1);
	assert_string_equal(m->events[0].type, "in.It");
	assert_int_equal(m->events[0].first, 0);
	assert_non_null(strstr(readers_notes(c), "of 1 types of events it has sums of more than the part"));
	readers_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_a_part), cmocka_unit_test(what_goes_with_samples),
		cmocka_unit_test(without_times_it_is_refused), cmocka_unit_test(marks_of_a_part),
		cmocka_unit_test(all_of_the_time), cmocka_unit_test(objects_of_stacks_are_those_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
