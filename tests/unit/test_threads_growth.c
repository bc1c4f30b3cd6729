/*
 * What this process has of memory, mappings and descriptors does not grow with the threads that have come and gone
 * while it is profiled. There is no JVM in it: all that grows is the profiler's. What the aggregate and the store of
 * traces hold is taken off; the aggregate has a test of its own (test_collect_growth.c).
 *
 * JSTROBE_SOAK=1: 200,000 threads for each event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/held.h"
#include "agent/threads/records.h"
#include "common/os/os.h"
#include "entries.h"
#include "harness.h"
#include "lib_threads.h"

#define AT_ONCE 32           /* threads */
#define FEW 4                /* threads that stay: this one, and ours */
#define RECORDS 256          /* in use at a time, the collector may come as late as it likes */
#define STEPS 8              /* what the first ones bring is not growth */
#define FIRST 2
#define MOST (256u << 10)    /* bytes in all later steps, and … */
#define A_THREAD 4           /* … so many for each thread: as much as a word of it */
#define PATIENCE (60 * NS_PER_S)

struct has {
	size_t anonymous, addresses; /* bytes */
	unsigned mappings, descriptors;
};

static size_t number_in(const char *path, const char *word)
{
	FILE *f = fopen(path, "r");
	size_t length = strlen(word), sum = 0;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, word, length) == 0)
			sum += strtoul(line + length, NULL, 10) << 10;
	fclose(f);
	return sum;
}

static unsigned lines_of(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned n = 0;
	int ch;

	assert_non_null(f);
	while ((ch = fgetc(f)) != EOF)
		n += ch == '\n';
	fclose(f);
	return n;
}

static unsigned records_in_use(void)
{
	uint32_t i, count = atomic_load(&zone.records.count);
	unsigned n = 0;

	for (i = 0; i < count; i++)
		n += atomic_load(&zone.records.records[i].state) != RECORD_FREE;
	return n;
}

static void until_few(unsigned most)
{
	uint64_t end = os_monotonic() + PATIENCE;

	while (records_in_use() > most) {
		assert_true(os_monotonic() < end);
		os_sleep(NS_PER_MS);
	}
}

static struct has look(void)
{
	struct collector *c = harness_collector();
	struct has h = {.mappings = lines_of("/proc/self/maps"), .descriptors = descriptors()};
	size_t held;

	pthread_mutex_lock(&c->lock);
	held = held_bytes(c) + stack_store_bytes(&zone.store);
	h.anonymous = number_in("/proc/self/smaps_rollup", "Anonymous:");
	h.addresses = number_in("/proc/self/status", "VmSize:");
	pthread_mutex_unlock(&c->lock);
	/* it comes and goes: a result is made anew from time to time, and its memory lies at addresses of its own */
	h.anonymous -= MIN(held, h.anonymous);
	h.addresses -= MIN(held, h.addresses);
	return h;
}

static void *visit(void *arg)
{
	(void)arg;
	harness_burn(20 * NS_PER_US);
	return NULL;
}

static threads_start_fn *start_thread;

static void some_threads(void)
{
	pthread_t threads[AT_ONCE];
	unsigned i;

	for (i = 0; i < AT_ONCE; i++)
		assert_int_equal(start_thread(&threads[i], visit, NULL), 0);
	for (i = 0; i < AT_ONCE; i++)
		pthread_join(threads[i], NULL);
}

/* As many records as there will be at a time come into use, as the collector stands still. */
static void fill_records(void)
{
	struct collector *c = harness_collector();
	unsigned i;

	pthread_mutex_lock(&c->lock);
	for (i = 0; i < 4 * RECORDS / AT_ONCE && atomic_load(&zone.records.count) < RECORDS; i++)
		some_threads();
	pthread_mutex_unlock(&c->lock);
	/* they are met at their start, and not at one of the looks for them */
	assert_true(atomic_load(&zone.records.count) >= RECORDS);
	until_few(FEW);
}

/* COUNT threads, some at a time, never so many that records are in use that were not before. */
static void crowd(unsigned count)
{
	for (; count; count -= MIN(count, AT_ONCE)) {
		until_few(RECORDS - AT_ONCE);
		some_threads();
	}
}

/* Descriptors go when their threads are gone; `wall` keeps one open for a thread that lives (wall_waits.c). */
static void until_closed(unsigned most)
{
	uint64_t end = os_monotonic() + PATIENCE;

	while (descriptors() > most) {
		assert_true(os_monotonic() < end);
		os_sleep(NS_PER_MS);
	}
}

static unsigned a_step(void)
{
	return getenv("JSTROBE_SOAK") && getenv("JSTROBE_SOAK")[0] == '1' ? 25000 : 1000;
}

static void threads(void **state)
{
	unsigned count = a_step(), i, before;
	void *library = harness_library("lib_threads.so");
	struct has first = {0}, last = first;
	struct error err;
	size_t most;

	if (!library)
		skip();
	start_thread = (threads_start_fn *)dlsym(library, "threads_start");
	assert_non_null(start_thread);
	if (harness_start_events(*state, NS_PER_MS, 0, NULL, &err)) {
		print_message("%s: not tested: %s\n", (const char *)*state, err.text);
		skip();
	}
	until_few(FEW);
	before = descriptors() + FEW;
	fill_records();
	for (i = 0; i < STEPS; i++) {
		crowd(count);
		until_few(FEW);
		until_closed(before);
		last = look();
		if (i == FIRST - 1)
			first = last;
	}
	print_message("%s: %u threads: %+zd bytes, %+zd of addresses, %+d mappings, %+d descriptors\n",
		      (const char *)*state, (STEPS - FIRST) * count, (ssize_t)(last.anonymous - first.anonymous),
		      (ssize_t)(last.addresses - first.addresses), (int)(last.mappings - first.mappings),
		      (int)(last.descriptors - first.descriptors));
	harness_stop();
	harness_end();
#ifndef __SANITIZE_ADDRESS__ /* it keeps what is given back */
	most = MOST + A_THREAD * (STEPS - FIRST) * count;
	assert_true(last.anonymous <= first.anonymous + most);
	assert_true(last.addresses <= first.addresses + most);
#endif
}

static int end(void **state)
{
	(void)state;
	harness_abort();
	return 0;
}

int main(void)
{
	static char cpu[] = "cpu", ctimer[] = "ctimer", wall[] = "wall", both[] = "cpu,wall", itimer[] = "itimer",
		    faults[] = "page-faults";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate_setup_teardown(threads, NULL, end, cpu),
		cmocka_unit_test_prestate_setup_teardown(threads, NULL, end, ctimer),
		cmocka_unit_test_prestate_setup_teardown(threads, NULL, end, itimer),
		cmocka_unit_test_prestate_setup_teardown(threads, NULL, end, wall),
		cmocka_unit_test_prestate_setup_teardown(threads, NULL, end, both),
		cmocka_unit_test_prestate_setup_teardown(threads, NULL, end, faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
