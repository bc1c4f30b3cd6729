/* What engines keep, and what they give back while handlers may still look at it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <string.h>

#include "harness.h"
#include "lib_threads.h"
#include "os/os.h"

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
	struct collector_facts facts = {.event = "test", .engine = "", .main_class = "", .jdk = ""};
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(options_do_not_outlive_the_start, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
