/* How selftest judges: what is allowed follows from the number of samples, and a result that is off by more fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/selftest/selftest.h"

static struct error err;

/* A result of cpu: 2,500 samples of 1 ms, of which SHARE per mille are in Shares.most of Shares.first. */
static struct measured cpu_result(unsigned share, const char *engine)
{
	struct measured m = {.count = 0};
	char json[1024];
	int n = snprintf(json, sizeof(json),
			 "{\"event\": \"cpu\", \"engine\": \"%s\", \"samples\": {\"taken\": 2503, \"stored\": 2500, \"lost\": "
			 "{\"queue_full\": 2, \"late\": 1}}, \"weight\": {\"unit\": \"ns\", \"total\": 2500000000, \"lost\": 0}, "
			 "\"stacks\": [{\"frames\": [\"selftest.Shares.first\", \"selftest.Shares.most\", \"selftest.Shares.most\"], "
			 "\"kinds\": [\"jit\", \"jit\", \"jit\"], \"samples\": %u, \"weight\": %u000000}, "
			 "{\"frames\": [\"clone\", \"selftest.Shares.first\"], \"samples\": %u, \"weight\": %u000000}]}",
			 engine, share * 2, share * 2, 2000 - share * 2, 2000 - share * 2);

	assert_int_equal(measured_read(&m, json, (size_t)n, &err), 0);
	return m;
}

static void knows(struct program *g, const char *name, uint64_t value, uint64_t parts)
{
	struct truth *t = &g->truths[g->truth_count++];

	strcpy(t->name, name);
	t->value = value;
	t->parts = parts;
}

static const struct check *judged(struct session *s, struct measured *m, const struct program *g, unsigned groups,
				  const char *name)
{
	struct circumstances c = {.groups = groups, .feature = 17};
	unsigned i;

	memset(s, 0, sizeof(*s));
	judge(s, m, g, &c);
	measured_free(m);
	for (i = 0; i < s->count; i++)
		if (strcmp(s->checks[i].name, name) == 0)
			return &s->checks[i];
	fail_msg("no check %s", name);
	return NULL;
}

static void shares_and_sums(void **state)
{
	/* 50 % of 2,000 samples: a standard error of 1.118 points, four of them and one more are 5.47 */
	static const struct {
		unsigned share;
		enum check_verdict verdict;
	} cases[] = {{500, CHECK_HOLDS}, {553, CHECK_HOLDS}, {447, CHECK_HOLDS}, {556, CHECK_FAILS}, {444, CHECK_FAILS}};
	struct program g = {.truth_count = 0};
	const struct check *c;
	struct session s;
	size_t i;

	knows(&g, "cpu.first", 2000000000, 1);
	knows(&g, "cpu.most", 1000000000, 1);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct measured m = cpu_result(cases[i].share, "perf");

		c = judged(&s, &m, &g, SHARES, "cpu.most");
		assert_int_equal(c->verdict, cases[i].verdict);
		assert_int_equal(c->samples, 2000);
		assert_true(c->error > 0.01117 && c->error < 0.01119);
	}
	/* what the program tells nothing of is not judged; nothing is lost without a name */
	assert_int_equal(s.count, 4);
	assert_string_equal(s.checks[2].name, "accounted");
	assert_true(s.checks[2].known == 2503 && s.checks[2].verdict == CHECK_HOLDS);
}

/* With a source for each thread the sum is right to two intervals and 1 %; with one for all it is chance. */
static void sums_by_engine(void **state)
{
	static const struct {
		const char *engine;
		uint64_t known;
		enum check_verdict verdict;
	} cases[] = {{"perf", 2030000000, CHECK_HOLDS}, {"perf", 2090000000, CHECK_FAILS}, {"ctimer", 1945000000, CHECK_FAILS},
		     {"itimer", 2250000000, CHECK_HOLDS}, {"itimer", 2700000000, CHECK_FAILS}};
	struct session s;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct program g = {.truth_count = 0};
		struct measured m = cpu_result(500, cases[i].engine);

		knows(&g, "cpu.first", cases[i].known, 1);
		assert_int_equal(judged(&s, &m, &g, SHARES, "cpu.first")->verdict, cases[i].verdict);
	}
}

/* Calls are exact; times within 3 %, and in sampled timing four times 1/√stamps. */
static void calls_and_times(void **state)
{
	static const struct {
		const char *timing;
		uint64_t calls, wall;
		enum check_verdict of_calls, of_time;
	} cases[] = {{"exact", 1000, 1000000000, CHECK_HOLDS, CHECK_HOLDS}, {"exact", 1001, 1060000000, CHECK_FAILS, CHECK_FAILS},
		     {"sampled", 1000, 1060000000, CHECK_HOLDS, CHECK_HOLDS}, {"sampled", 999, 1450000000, CHECK_FAILS, CHECK_FAILS}};
	struct session s;
	char json[512];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct program g = {.truth_count = 0};
		struct measured m = {.count = 0};
		int n = snprintf(json, sizeof(json), "{\"timing\": \"%s\", \"methods\": [{\"class\": \"selftest.Traced\", \"name\": "
				 "\"works\", \"signature\": \"(J)V\", \"invocations\": %llu, \"stamps\": 100, \"self_wall\": %llu, "
				 "\"waits\": {\"sleep\": 5}, \"min\": null}]}", cases[i].timing, (unsigned long long)cases[i].calls,
				 (unsigned long long)cases[i].wall);

		assert_int_equal(measured_read(&m, json, (size_t)n, &err), 0);
		knows(&g, "calls.works", 1000, 1000);
		knows(&g, "time.works", 1000000000, 1000);
		assert_int_equal(judged(&s, &m, &g, CALLS | TIMES, "calls.works")->verdict, cases[i].of_calls);
		assert_int_equal(s.checks[1].verdict, cases[i].of_time);
	}
}

/* A state that is not the thread's is no time of it; two results in one are told apart by their event. */
static void phases_and_waits(void **state)
{
	static const char json[] =
		"{\"schema\": 1, \"profiles\": [{\"event\": \"wall\", \"engine\": \"wall-marker\", \"samples\": {\"taken\": 1000, "
		"\"stored\": 1000, \"lost\": {}}, \"weight\": {\"total\": 2000000000, \"lost\": 0}, \"stacks\": ["
		"{\"frames\": [\"selftest.Waits$Pair.sleeps\"], \"samples\": 500, \"weight\": 1000000000, \"state\": \"sleeping\"}, "
		"{\"frames\": [\"selftest.Waits$Pair.parks\"], \"samples\": 500, \"weight\": 1000000000, \"state\": \"runnable\"}]}, "
		"{\"event\": \"lock\", \"engine\": \"lock\", \"samples\": {\"taken\": 100, \"stored\": 100, \"lost\": {}}, \"weight\": "
		"{\"total\": 500000000, \"lost\": 0}, \"owners\": [{\"name\": \"selftest-holder\", \"waits\": 9, \"time_ns\": "
		"100000000}], \"stacks\": [{\"frames\": [\"selftest.Locks.waits\", \"java.lang.Object\"], \"samples\": 100, "
		"\"weight\": 500000000, \"state\": \"waiting\"}]}]}";
	static const struct {
		const char *name;
		enum check_verdict verdict;
	} cases[] = {{"wall.sleeps", CHECK_HOLDS}, {"wall.parks", CHECK_FAILS}, {"lock.waits", CHECK_HOLDS},
		     {"lock.waits.count", CHECK_HOLDS}, {"lock.owned", CHECK_FAILS}};
	struct session s;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct program g = {.truth_count = 0};
		struct measured m = {.count = 0};

		assert_int_equal(measured_read(&m, json, sizeof(json) - 1, &err), 0);
		assert_int_equal(m.count, 2);
		knows(&g, "wall.sleeps", 1010000000, 60);
		knows(&g, "wall.parks", 1010000000, 60);
		knows(&g, "lock.waits", 505000000, 100);
		knows(&g, "lock.owned", 200000000, 9);
		assert_int_equal(judged(&s, &m, &g, WAITS | LOCKS, cases[i].name)->verdict, cases[i].verdict);
	}
}

/* SAMPLED ms of 600 samples of 5 ms, of a process that used 3.2 s; a quarter of them in the shorter threads. */
static struct measured brief_result(unsigned sampled, bool warns)
{
	struct measured m = {.count = 0};
	char json[1024];
	int n = snprintf(json, sizeof(json),
			 "{\"event\": \"cpu\", \"engine\": \"perf\", \"cpu_time_ns\": 3300000000, \"own_cpu_ns\": 100000000, "
			 "\"samples\": {\"taken\": 600, \"stored\": 600, \"lost\": {}}, \"weight\": {\"total\": %u000000, "
			 "\"lost\": 0, \"unsampled\": %u000000}, \"warns\": %s, \"stacks\": ["
			 "{\"frames\": [\"selftest.Brief.both\", \"selftest.Brief.shorter\"], \"samples\": 150, \"weight\": %u000000}, "
			 "{\"frames\": [\"selftest.Brief.both\", \"selftest.Brief.longer\"], \"samples\": 450, \"weight\": %u000000}]}",
			 sampled, sampled < 3200 ? 3200 - sampled : 0, warns ? "true" : "false", sampled / 4, sampled / 4 * 3);

	assert_int_equal(measured_read(&m, json, (size_t)n, &err), 0);
	return m;
}

/* 600 samples of 5 ms: a standard error of √(5 ms × 3 s) = 122 ms, four of them and 3 % are 580. Green needs 95 %. */
static void short_threads(void **state)
{
	static const struct {
		unsigned sampled;
		bool warns;
		enum check_verdict of_sum, of_warning;
	} cases[] = {{3000, false, CHECK_HOLDS, CHECK_HOLDS}, {3500, false, CHECK_HOLDS, CHECK_HOLDS},
		     {3800, false, CHECK_FAILS, CHECK_HOLDS}, {2900, true, CHECK_HOLDS, CHECK_HOLDS},
		     {2800, false, CHECK_HOLDS, CHECK_FAILS}, {2800, true, CHECK_HOLDS, CHECK_HOLDS},
		     {1500, true, CHECK_FAILS, CHECK_HOLDS}, {120, false, CHECK_FAILS, CHECK_FAILS}};
	struct session s;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct program g = {.truth_count = 0};
		struct measured m = brief_result(cases[i].sampled, cases[i].warns);
		unsigned groups = BRIEF | MISSED;

		knows(&g, "brief.both", 3000000000, 1000);
		knows(&g, "brief.shorter", 700000000, 500);
		assert_int_equal(judged(&s, &m, &g, groups, "brief.both")->verdict, cases[i].of_sum);
		m = brief_result(cases[i].sampled, cases[i].warns);
		assert_int_equal(judged(&s, &m, &g, groups, "brief.warns")->verdict, cases[i].of_warning);
		assert_string_equal(s.checks[1].name, "brief.shorter");
		assert_int_equal(s.checks[1].verdict, CHECK_HOLDS);
		assert_string_equal(s.checks[2].name, "brief.known");
		assert_int_equal(s.checks[2].verdict, CHECK_HOLDS);
	}
}

static void no_result(void **state)
{
	static const char *const texts[] = {"", "{", "jstrobe: no", "{\"stacks\": [{\"frames\": [3]}]}"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(texts); i++) {
		struct measured m = {.count = 0};

		assert_true(measured_read(&m, texts[i], strlen(texts[i]), &err) < 0);
		measured_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_and_sums), cmocka_unit_test(sums_by_engine), cmocka_unit_test(calls_and_times),
		cmocka_unit_test(phases_and_waits), cmocka_unit_test(short_threads), cmocka_unit_test(no_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
