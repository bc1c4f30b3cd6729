/* What engines keep, and what they give back while handlers may still look at it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <string.h>

#include "agent/sources/engine.h"
#include "agent/threads/records.h"
#include "common/os/os.h"
#include "harness.h"
#include "lib_threads.h"

static int tear_down(void **state)
{
	harness_abort();
	return 0;
}

/* ---- what a session was started with is gone (harness.c unmaps it) ---- */

#define BORN 60

static void *brief(void *arg)
{
	harness_burn(2 * NS_PER_MS);
	return arg;
}

/* Threads that are born when the caller's options are gone: arming them asks for everything that was given. */
static void options_do_not_outlive_the_start(void **state)
{
	static const char *const events[] = {"cpu", "ctimer", "wall", "page-faults,cpu", "cpu,wall"};
	static const char *const fails[] = {"", "ring", "perf", "fd"};
	void *library = harness_library("lib_threads.so");
	struct collector_counts facts = {.event = "test", .engine = "", .main_class = "", .jdk = ""};
	threads_start_fn *spawn;
	pthread_t threads[BORN];
	struct error err;
	size_t i, j;

	assert_non_null(library);
	spawn = (threads_start_fn *)dlsym(library, "threads_start");
	assert_non_null(spawn);
	for (i = 0; i < ARRAY_LEN(events) * ARRAY_LEN(fails); i++) {
		const char *fail = fails[i % ARRAY_LEN(fails)];
		const struct profile *p;

		if (harness_start_events(events[i / ARRAY_LEN(fails)], 0, 20, fail, &err))
			continue; /* page-faults have nothing to fall back to */
		for (j = 0; j < BORN; j++)
			assert_int_equal(spawn(&threads[j], brief, NULL), 0);
		collector_view_free(collector_view(harness_collector(), 0, &facts));
		for (j = 0; j < BORN; j++)
			pthread_join(threads[j], NULL);
		p = harness_stop();
		assert_true(p->taken >= p->stored);
		harness_end();
	}
	dlclose(library);
}

/* ---- threads that leave a session and come back while their handlers run ---- */

#define JUDGED 4

static atomic_bool enough;
static _Atomic pid_t tids[JUDGED];
static bool judged_with_fences;

static void *busy(void *arg)
{
	atomic_store((_Atomic pid_t *)arg, os_gettid());
	while (!atomic_load(&enough))
		harness_burn(NS_PER_MS);
	return NULL;
}

static void begin_busy(pthread_t *threads)
{
	unsigned i;

	atomic_store(&enough, false);
	for (i = 0; i < JUDGED; i++) {
		atomic_store(&tids[i], 0);
		assert_int_equal(pthread_create(&threads[i], NULL, busy, &tids[i]), 0);
	}
	for (i = 0; i < JUDGED; i++)
		while (!atomic_load(&tids[i]))
			os_sleep(NS_PER_MS);
}

static void end_busy(pthread_t *threads)
{
	unsigned i;

	atomic_store(&enough, true);
	for (i = 0; i < JUDGED; i++)
		pthread_join(threads[i], NULL);
}

/* All are armed again, and there are samples; the machine may be busy. */
static void wait_until_sampled(void)
{
	struct collector_totals t;
	struct engine_counts c;
	int i;

	for (i = 0; i < 60000; i++) {
		engine_count(0, &c);
		collector_totals(harness_collector(), &t);
		if (c.perf + c.timer >= JUDGED && t.stored)
			return;
		os_sleep(NS_PER_MS);
	}
	fail_msg("%u threads are armed, %llu samples stored", c.perf + c.timer, (unsigned long long)t.stored);
}

/* A filter by name hears again and again that a thread is no longer wanted, and that it is. */
static void judged(const char *events, const char *fail, unsigned ticks)
{
	struct holdings before;
	const struct profile *p;
	pthread_t threads[JUDGED];
	struct error err;
	unsigned i, j;

	holdings_take(&before);
	begin_busy(threads);
	if (harness_start_events(events, 50 * NS_PER_US, 1000, fail, &err) == 0) {
		if (judged_with_fences)
			atomic_store(&zone.fences, true);
		for (i = 0; i < ticks; i++) {
			for (j = 0; j < JUDGED; j++)
				records_judge(atomic_load(&tids[j]), (i + j) % 3 == 0);
			if (i % 4 == 0)
				os_sleep(100 * NS_PER_US);
		}
		for (j = 0; j < JUDGED; j++)
			records_judge(atomic_load(&tids[j]), true);
		wait_until_sampled();
		p = harness_stop();
		assert_true(p->stored > 0);
		harness_end();
	}
	end_busy(threads);
	holdings_compare(&before);
}

static void threads_leave_and_come_back(void **state)
{
	judged("cpu", "", 3000);
	judged("cpu,page-faults", "", 1000);
	judged("cpu", "ring", 1000);
	judged("ctimer", "", 1000);
}

/* The same with the fence of kernels without membarrier. */
static void without_membarrier(void **state)
{
	judged_with_fences = true;
	judged("cpu", "", 1000);
	judged_with_fences = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(threads_leave_and_come_back, tear_down),
		cmocka_unit_test_teardown(without_membarrier, tear_down),
		cmocka_unit_test_teardown(options_do_not_outlive_the_start, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
