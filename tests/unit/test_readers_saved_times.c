/* When samples were taken, in JSON: what was written is read again, and what does not fit its stacks is refused. */
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

#include "format_sample.h"
#include "saved_files.h"
#include "profile/readers/readers.h"
#include "profile/writers/format.h"

#define YEARS (10ull * 366 * 86400 * NS_PER_S)
#define MOST 4096

static uint64_t next_number(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 20) % below;
}

/* How a profile's moments are made. */
struct made {
	uint64_t step, quantum;
	uint32_t apart;     /* steps between two, at most */
	bool spans, several, unknown, other_threads, even;
};

/* P's samples, each at a time of its own or several together, in the order of time. */
static void give_times(struct profile *p, struct profile_moment *moments, const struct made *how, uint64_t seed)
{
	static uint64_t left[ARRAY_LEN(sample_stacks)];
	static struct profile_stack of_profile[4][ARRAY_LEN(sample_stacks)];
	static unsigned given;
	struct profile_stack *stacks = of_profile[given++ % ARRAY_LEN(of_profile)];
	uint32_t at = 0, i;

	/* stacks of its own, which weigh what their samples do */
	memcpy(stacks, p->stacks, p->stack_count * sizeof(*stacks));
	p->stacks = stacks;
	for (i = 0; i < p->stack_count; i++)
		stacks[i].weight = 0;

	for (i = 0; i < p->stack_count; i++)
		left[i] = p->stacks[i].samples;
	p->moments = moments;
	p->moments_of = p->stacks;
	p->moment_count = 0;
	p->moment_step = how->step;
	while (true) {
		uint32_t stack = (uint32_t)next_number(&seed, p->stack_count), tried = 0;
		struct profile_moment *m = &moments[p->moment_count];
		bool unknown = how->unknown && next_number(&seed, 7) == 0;

		while (!left[stack] && tried++ < p->stack_count)
			stack = (stack + 1) % p->stack_count;
		if (!left[stack])
			return;
		at += (uint32_t)next_number(&seed, how->apart);
		m->at = at;
		m->span = how->spans ? (uint32_t)next_number(&seed, 5) : 0;
		m->samples = how->several ? 1 + (uint32_t)next_number(&seed, left[stack]) : 1;
		m->weight = m->samples * (how->even ? 100 : 1 + next_number(&seed, 150)) * how->quantum;
		m->stack = unknown ? PROFILE_NO_STACK : stack;
		m->thread = unknown ? PROFILE_NO_THREAD : how->other_threads ?
			    (uint32_t)next_number(&seed, p->thread_count) : p->stacks[stack].thread;
		stacks[stack].weight += m->weight;
		left[stack] -= m->samples;
		p->moment_count++;
	}
}

/* A moment by what does not depend on how stacks and threads are numbered. */
struct told {
	uint64_t at, span, samples, weight;
	uint32_t depth;
	char thread[40];
};

static int by_all(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct told));
}

/* Moments of one step, stack, thread and length may have become one. */
static uint32_t tell(const struct profile *p, struct told *to)
{
	uint32_t i, count = 0;

	for (i = 0; i < p->moment_count; i++) {
		const struct profile_moment *m = &p->moments[i];

		memset(&to[i], 0, sizeof(to[i]));
		to[i].at = m->at * p->moment_step;
		to[i].span = m->span * p->moment_step;
		to[i].depth = m->stack == PROFILE_NO_STACK ? 0 : p->stacks[m->stack].depth;
		snprintf(to[i].thread, sizeof(to[i].thread), "%s",
			 m->thread == PROFILE_NO_THREAD ? "-" : p->threads[m->thread].name);
		to[i].samples = m->samples;
		to[i].weight = m->weight;
	}
	/* sums are left out of the order by what they sum up */
	for (i = 0; i < p->moment_count; i++) {
		uint32_t k;

		for (k = 0; k < count; k++)
			if (to[k].at == to[i].at && to[k].span == to[i].span && to[k].depth == to[i].depth &&
			    strcmp(to[k].thread, to[i].thread) == 0)
				break;
		if (k < count) {
			to[k].samples += to[i].samples;
			to[k].weight += to[i].weight;
		} else {
			to[count++] = to[i];
		}
	}
	qsort(to, count, sizeof(*to), by_all);
	return count;
}

/* The most that is possible for sums that the moments of READ have; and they lead nowhere else. */
static void check_bounds(const struct profile *read)
{
	uint64_t samples = 0, i;
	uint32_t before = 0;

	if (!read->moment_count)
		return;
	assert_true(read->moment_step && read->moments_of == read->stacks);
	for (i = 0; i < read->moment_count; i++) {
		const struct profile_moment *m = &read->moments[i];

		assert_true(m->stack == PROFILE_NO_STACK || m->stack < read->stack_count);
		assert_true(m->thread == PROFILE_NO_THREAD || m->thread < read->thread_count);
		assert_true(m->at >= before && ((uint64_t)m->at + m->span) * read->moment_step <= YEARS);
		before = m->at;
		samples += m->samples;
	}
	assert_true(samples <= read->stored);
}

static void check_same(const struct profile *p, const struct profile *read)
{
	static struct told direct[MOST], again[MOST];
	uint32_t count = tell(p, direct);

	check_bounds(read);
	assert_int_equal(tell(read, again), count);
	assert_memory_equal(direct, again, count * sizeof(*direct));
	assert_int_equal(read->moment_step, p->moment_step);
}

static void times_come_back(void **state)
{
	static const struct made kinds[] = {
		{1 << 20, 65536, 30, false, false, false, false, false},
		{1 << 20, 65536, 2, false, false, false, false, true},
		{NS_PER_MS, 1, 400, true, true, false, false, false},
		{1ull << 40, 7, 3, true, false, true, false, false},
		{1, 1000, 40000000, false, true, true, true, false},
		{12345, 1, 1, true, true, true, true, true},
	};
	static struct profile_moment moments[MOST];
	uint64_t seed;
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(kinds); i++)
		for (seed = 1; seed <= 20; seed++) {
			struct profile p = sample_profile(seed % 2);
			const struct profile *one = &p;
			struct buffer json;
			struct conversion *c;
			struct error err;
			uint32_t count;

			give_times(&p, moments, &kinds[i], seed);
			json = saved_file_json(&one, 1, NULL);
			c = saved_file_read(json.data, json.length, "html", NULL, NULL, &err);
			if (!c)
				fail_msg("%u: %s", i, err.text);
			check_same(&p, convert_profiles(c, &count)[0]);
			/* a column that says nothing is not there */
			assert_int_equal(strstr(json.data, "\"span\": [") != NULL, kinds[i].spans);
			if (!kinds[i].several)
				assert_null(strstr(json.data, "\"samples\": ["));
			if (!kinds[i].other_threads && p.stacks[0].thread != PROFILE_NO_THREAD)
				assert_null(strstr(json.data, "\"thread\": ["));
			assert_int_equal(strstr(json.data, "\"weight\": [") != NULL, !kinds[i].even);
			buffer_free(&json);
			readers_free(c);
		}
}

/* Each event of a session has its own. */
static void several_events(void **state)
{
	static const struct made how = {1 << 20, 1, 30, true, true, false, true, false};
	static struct profile_moment moments[3][MOST];
	static const char *const events[] = {"cpu", "wall", "lock"};
	struct profile p[3];
	const struct profile *all[3];
	struct buffer json;
	struct conversion *c;
	struct error err;
	uint32_t i, count;

	(void)state;
	for (i = 0; i < 3; i++) {
		p[i] = sample_profile(true);
		p[i].event = events[i];
		p[i].weight_kind = i ? WEIGHT_WALL : WEIGHT_CPU;
		give_times(&p[i], moments[i], &how, 50 + i);
		all[i] = &p[i];
	}
	p[1].moments = NULL; /* one of them does not know */
	json = saved_file_json(all, 3, NULL);
	c = saved_file_read(json.data, json.length, "html", NULL, NULL, &err);
	if (!c)
		fail_msg("%s", err.text);
	convert_profiles(c, &count);
	assert_int_equal(count, 3);
	for (i = 0; i < 3; i++) {
		const struct profile *read = convert_profiles(c, &count)[i];

		if (strcmp(read->event, "wall") == 0)
			assert_int_equal(read->moment_count, 0);
		else
			check_same(strcmp(read->event, "cpu") == 0 ? &p[0] : &p[2], read);
	}
	buffer_free(&json);
	readers_free(c);
}

#define HEAD "{\"schema\": 1, \"event\": \"cpu\", \"duration_ns\": 1000000000, \"weight\": {\"unit\": \"ns\"}," \
	     "\"threads\": [{\"tid\": 1, \"name\": \"a\", \"samples\": 3, \"weight\": 30}]," \
	     "\"stacks\": [{\"frames\": [\"m\"], \"kinds\": [\"jit\"], \"samples\": 2, \"weight\": 20, \"thread\": 0}," \
	     "{\"frames\": [\"n\"], \"kinds\": [\"jit\"], \"samples\": 1, \"weight\": 10, \"thread\": 0}],"
#define TIMES "\"times\": {\"step_ns\": 1000000, \"steps\": 1000, \"quantum\": 10, \"count\": 3, \"at\": [1,5,9]," \
	      "\"stack\": [0,1,0]}}"

static void what_does_not_fit_is_refused(void **state)
{
	static const struct {
		const char *from, *to, *because; /* NULL: it is read */
	} changes[] = {
		{"\"at\": [1,5,9]", "\"at\": [1,5,9]", NULL},
		{"\"at\": [1,5,9]", "\"more\": {\"a\": [1]}, \"at\": [0,0,999]", NULL},
		{"[0,1,0]", "[0,null,0]", NULL},
		{"[0,1,0]", "[0,1,0], \"thread\": [null,0,0], \"span\": [0,994,0], \"samples\": [1,1,1], \"weight\": [1,1,1]", NULL},
		{"[0,1,0]", "[0,1,0], \"weight\": [2,1,0]", NULL},
		{"[0,1,0]", "[0,null,0], \"weight\": [0,3,0]", NULL},
		{"[0,1,0]", "[0,1,0], \"weight\": [3,0,0]", "more weight than its stacks"},
		{"[0,1,0]", "[0,1,0], \"weight\": [0,1,0]", "less weight than its stacks"},
		{"\"count\": 3, \"at\": [1,5,9],\"stack\": [0,1,0]", "\"count\": 2, \"at\": [1,5],\"stack\": [0,1]",
		 "fewer samples than its stacks"},
		{"\"count\": 3, \"at\": [1,5,9],\"stack\": [0,1,0]", "\"count\": 2, \"at\": [1,5],\"stack\": [0,null]",
		 "fewer samples than its stacks"},
		{"\"at\": [1,5,9]", "\"at\": [1,5]", "columns that are not as long as `count` says"},
		{"\"at\": [1,5,9]", "\"at\": [1,5,9,10]", "columns that are not as long as `count` says"},
		{"\"count\": 3", "\"count\": 4", "columns that are not as long as `count` says"},
		{"\"count\": 3", "\"count\": 18446744073709551615", "columns that are not as long as `count` says"},
		{"\"at\": [1,5,9]", "\"at\": [1,9,5]", "times in no order"},
		{"\"at\": [1,5,9]", "\"at\": [1,5,1000]", "a time behind its last step"},
		{"\"at\": [1,5,9]", "\"at\": [1,5,4294967295]", "a number beyond any result"},
		{"\"at\": [1,5,9]", "\"at\": [1,5,-9]", "should be a number"},
		{"\"at\": [1,5,9]", "\"at\": [1,5,99999999999999999999]", "should be a number of 64 bits"},
		{"\"at\": [1,5,9]", "\"at\": [1,5,null]", "should be a number"},
		{"\"at\": [1,5,9],", "", "no `at`, or no `stack`"},
		{"\"at\": [1,5,9]", "\"at\": [1,5,9], \"at\": [1,5,9]", "a column twice"},
		{"\"at\": [1,5,9]", "\"at\": 5", "should be an array"},
		{"[0,1,0]", "[0,2,0]", "a stack that is not there"},
		{"[0,1,0]", "[0,4294967295,0]", "a number beyond any result"},
		{"[0,1,0]", "[0,1,1]", "more samples than its stacks"},
		{"[0,1,0]", "[0,1,0], \"samples\": [1,1,2]", "more samples than its stacks"},
		{"[0,1,0]", "[null,1,null], \"samples\": [2,1,1]", "more samples than its stacks"},
		{"[0,1,0]", "[0,1,0], \"thread\": [0,0,1]", "a thread that is not there"},
		{"[0,1,0]", "[0,1,0], \"span\": [0,995,0]", "a time behind its last step"},
		{"[0,1,0]", "[0,1,0], \"weight\": [1,1,11]", "more weight than its stacks"},
		{"[0,1,0]", "[0,1,0], \"weight\": [1,1,18446744073709551615]", "more weight than its stacks"},
		{"\"quantum\": 10", "\"quantum\": 0", "steps or weights of nothing"},
		{"\"quantum\": 10", "\"quantum\": 1000", "more weight than its stacks"},
		{"\"step_ns\": 1000000", "\"step_ns\": 0", "steps or weights of nothing"},
		{"\"step_ns\": 1000000,", "", "steps or weights of nothing"},
		{"\"steps\": 1000", "\"steps\": 4294967296", NULL},
		{"\"steps\": 1000", "\"steps\": 9", "a time behind its last step"},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(changes); i++) {
		char *text = saved_file_with(HEAD TIMES, changes[i].from, changes[i].to);
		struct conversion *c;
		struct error err;
		uint32_t count;

		c = saved_file_read(text, strlen(text), "html", NULL, NULL, &err);
		if ((c != NULL) != !changes[i].because)
			fail_msg("%s → %s: %s", changes[i].from, changes[i].to, c ? "read" : err.text);
		if (c) {
			check_bounds(convert_profiles(c, &count)[0]);
			assert_int_equal(convert_profiles(c, &count)[0]->moment_count, 3);
			readers_free(c);
		} else {
			if (!strstr(err.text, changes[i].because))
				fail_msg("%s → %s: %s", changes[i].from, changes[i].to, err.text);
			assert_int_equal(strstr(err.text, "`times` of cpu has ") != NULL, !strstr(changes[i].because, "should be"));
		}
		/* who does not show it need not know */
		c = strstr(changes[i].to, "\"at\": 5") ? NULL : saved_file_read(text, strlen(text), i % 2 ? "html" : "collapsed",
									   i % 2 ? saved_file_no_times : NULL, NULL, &err);
		if (c) {
			assert_int_equal(convert_profiles(c, &count)[0]->stored, 3);
			assert_int_equal(convert_profiles(c, &count)[0]->moment_count, 0);
			readers_free(c);
		}
		free(text);
	}
}

static void from_its_begin(struct options *o, const void *arg)
{
	(void)arg;
	strcpy(o->from, "0s");
}

/* We write such ourselves, of a recording whose clock jumped: the stacks are read, and it is said what is not. */
static void years_that_never_were_are_left_out(void **state)
{
	static const char *const changes[][2] = {
		{"\"step_ns\": 1000000", "\"step_ns\": 18446744073709551615"},
		{"\"step_ns\": 1000000", "\"step_ns\": 1000000000000000"},
		{"\"steps\": 1000", "\"steps\": 9223372036854775807"},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(changes); i++) {
		char *text = saved_file_with(HEAD TIMES, changes[i][0], changes[i][1]);
		struct conversion *c;
		struct error err;
		uint32_t count;

		c = saved_file_read(text, strlen(text), "html", NULL, NULL, &err);
		if (!c)
			fail_msg("%s: %s", changes[i][1], err.text);
		assert_int_equal(convert_profiles(c, &count)[0]->stored, 3);
		assert_int_equal(convert_profiles(c, &count)[0]->moment_count, 0);
		assert_non_null(strstr(readers_notes(c), "cpu: when its samples were taken is left out"));
		readers_free(c);
		/* of which no part can be taken */
		assert_null(saved_file_read(text, strlen(text), "html", from_its_begin, NULL, &err));
		assert_non_null(strstr(err.text, "this JSON has sums of its whole time"));
		free(text);
	}
}

static void all_events(struct options *o, const void *arg)
{
	(void)arg;
	snprintf(o->families, sizeof(o->families), "all");
}

/* Members of an object have no order, and "all" are all. */
static void in_front_of_stacks(void **state)
{
	static const char *const texts[] = {HEAD TIMES, "{\"schema\": 1, \"event\": \"cpu\", \"duration_ns\": 1000000000,"
		"\"weight\": {\"unit\": \"ns\"},\"times\": {\"step_ns\": 1000000, \"steps\": 1000, \"quantum\": 10, "
		"\"count\": 3, \"at\": [1,5,9],\"stack\": [0,1,0]}, \"threads\": [{\"tid\": 1, \"name\": \"a\", "
		"\"samples\": 3, \"weight\": 30}],\"stacks\": [{\"frames\": [\"m\"], \"kinds\": [\"jit\"], \"samples\": 2, "
		"\"weight\": 20, \"thread\": 0},{\"frames\": [\"n\"], \"kinds\": [\"jit\"], \"samples\": 1, \"weight\": 10, "
		"\"thread\": 0}]}"};
	const struct profile *p;
	struct conversion *c;
	struct error err;
	uint32_t count;
	unsigned i;

	(void)state;
	for (i = 0; i < 2 * ARRAY_LEN(texts); i++) {
		c = saved_file_read(texts[i / 2], strlen(texts[i / 2]), "html", i % 2 ? all_events : NULL, NULL, &err);
		if (!c)
			fail_msg("%s", err.text);
		p = convert_profiles(c, &count)[0];
		assert_int_equal(p->moment_count, 3);
		assert_int_equal(p->moments[2].at, 9);
		assert_int_equal(p->moments[2].thread, 0);
		readers_free(c);
	}
}

/* Where it says nothing of the stacks that were asked for, it is nothing. */
static void without_stacks(void **state)
{
	static const char *const texts[] = {
		"{\"schema\": 1, \"event\": \"cpu\"," TIMES, "{\"schema\": 1, \"times\": {\"at\": [null]}, \"stacks\": []}",
		"{\"schema\": 1, \"profiles\": [" HEAD "\"x\": 1}, {\"event\": \"other\"," TIMES "]}",
	};
	struct conversion *c;
	struct error err;
	uint32_t count;
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(texts); i++) {
		c = saved_file_read(texts[i], strlen(texts[i]), "html", NULL, NULL, &err);
		assert_int_equal(c != NULL, i == 2);
		assert_true(c || err.text[0]);
		if (!c)
			continue;
		assert_int_equal(convert_profiles(c, &count)[0]->moment_count, 0);
		readers_free(c);
	}
}

static void one_request(struct options *o, const void *arg)
{
	(void)arg;
	strcpy(o->trace_id, "0000000000000000000000000000000b");
}

/* Of what threads worked for, the moments are those of its stacks. */
static void of_one_context(void **state)
{
	static const char contexts[] = "\"contexts\": [{\"trace_id\": \"0000000000000000000000000000000a\"}, "
				       "{\"trace_id\": \"0000000000000000000000000000000b\"}], \"stacks\"";
	char *some = saved_file_with(HEAD TIMES, "\"stacks\"", contexts), *text, *more;
	const struct profile *p;
	struct conversion *c;
	struct error err;
	uint32_t count;

	(void)state;
	text = saved_file_with(some, "\"weight\": 20,", "\"weight\": 20, \"context\": 1,");
	more = saved_file_with(text, "[0,1,0]", "[0,null,0]");
	c = saved_file_read(more, strlen(more), "html", one_request, NULL, &err);
	if (!c)
		fail_msg("%s", err.text);
	p = convert_profiles(c, &count)[0];
	assert_int_equal(p->stored, 2);
	assert_int_equal(p->moment_count, 2);
	check_bounds(p);
	assert_int_equal(p->moments[1].at, 9);
	readers_free(c);
	free(some);
	free(text);
	free(more);
}

/* Cut anywhere it is refused; changed anywhere it is refused with a reason, or fits. */
static void cut_or_damaged(void **state)
{
	static const char bytes[] = "0123456789,[]{}:\"n -.e";
	static const struct made how = {1 << 20, 65536, 30, true, true, true, true, false};
	static struct profile_moment moments[MOST];
	struct profile p = sample_profile(true);
	const struct profile *one = &p;
	struct buffer json;
	struct conversion *c;
	struct error err;
	uint64_t seed = 11;
	uint32_t count, i, k, refused = 0, read = 0;
	size_t from;

	(void)state;
	give_times(&p, moments, &how, 3);
	json = saved_file_json(&one, 1, NULL);
	from = (size_t)(strstr(json.data, "\"times\"") - json.data);
	for (i = (uint32_t)from; i + 3 < json.length; i++) {
		assert_null(saved_file_read(json.data, i, "html", NULL, NULL, &err));
		assert_true(err.text[0]);
	}
	for (i = 0; i < 20000; i++) {
		char *text = malloc(json.length);
		uint32_t changes = 1 + (uint32_t)next_number(&seed, 3);

		memcpy(text, json.data, json.length);
		for (k = 0; k < changes; k++)
			text[from + next_number(&seed, json.length - from)] =
				bytes[next_number(&seed, k || i % 2 ? 10 : sizeof(bytes) - 1)];
		c = saved_file_read(text, json.length, "html", NULL, NULL, &err);
		if (c) {
			read++;
			check_bounds(convert_profiles(c, &count)[0]);
			readers_free(c);
		} else {
			refused++;
			assert_true(err.text[0]);
		}
		free(text);
	}
	assert_true(refused > 2000 && read > 2000);
	buffer_free(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_come_back), cmocka_unit_test(several_events),
		cmocka_unit_test(what_does_not_fit_is_refused), cmocka_unit_test(without_stacks), cmocka_unit_test(in_front_of_stacks),
		cmocka_unit_test(years_that_never_were_are_left_out), cmocka_unit_test(of_one_context), cmocka_unit_test(cut_or_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
