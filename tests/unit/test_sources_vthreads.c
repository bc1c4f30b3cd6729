/* Virtual threads that are parked: a thread that mounts one waits for none, though their time is being counted out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "agent/sample/handler.h"
#include "agent/sources/engine.h"
#include "agent/sources/wall/vthreads.h"
#include "agent/sources/wall/wall.h"
#include "agent/threads/records.h"
#include "common/os/os.h"
#include "harness.h"

#define THREADS 100000
#define STOPS 40          /* moments at which the flush stands still */
#define FIRST_ABSENT 1000000

static _Atomic bool stop, stand, stands;
static _Atomic uint32_t flushes;

static void told(const struct sample *s, const struct trace_context *trace_context, void *arg)
{
	(void)s;
	(void)trace_context;
	(void)arg;
}

static void on_signal(int signo)
{
	(void)signo;
	atomic_store(&stands, true);
	while (atomic_load(&stand))
		;
	atomic_store(&stands, false);
}

/* In place of the collector. */
static void *flush(void *arg)
{
	while (!atomic_load(&stop)) {
		vthreads_parked_tell_open(false, told, NULL);
		vthreads_parked_tell_done(told, NULL);
		atomic_fetch_add(&flushes, 1);
	}
	return arg;
}

static void begin(void)
{
	struct error err;

	if (harness_start(&engine_wall, 10 * NS_PER_MS, 256, NULL, &err))
		fail_msg("%s", err.text);
	assert_non_null(records_found(os_gettid(), handler_thread_pointer()));
	assert_int_equal(vthreads_parked_start(0, &err), 0);
	vthreads_parked_open();
	assert_false(vthreads_parked_any());
}

static void end(void)
{
	vthreads_parked_halt();
	harness_stop();
	harness_end();
}

static void stop_at_any_place(pthread_t flusher, void (*do_meanwhile)(uint32_t))
{
	uint32_t i, before;

	for (i = 0; i < STOPS; i++) {
		before = atomic_load(&flushes);
		atomic_store(&stand, true);
		pthread_kill(flusher, SIGUSR1);
		while (!atomic_load(&stands))
			;
		do_meanwhile(i);
		atomic_store(&stand, false);
		while (atomic_load(&stands) || (i % 4 == 0 && atomic_load(&flushes) == before))
			;
	}
}

/* All are mounted in the end, and as many that were never noted. */
static void mount(uint32_t i)
{
	uint64_t id;

	for (id = 1 + i; id <= THREADS; id += STOPS) {
		vthreads_parked_end(id);
		vthreads_parked_end(FIRST_ABSENT + id);
	}
}

/* The flush stands still, wherever it is: with a place in its hand, or between two of them. */
static void no_thread_waits_for_a_flush(void **state)
{
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t flusher;
	uint64_t id;

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	begin();
	for (id = 1; id <= THREADS; id++)
		vthreads_parked_begin(id, NULL, NULL);
	assert_true(vthreads_parked_any());
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&flusher, NULL, flush, NULL), 0);
	alarm(100);
	stop_at_any_place(flusher, mount);
	atomic_store(&stop, true);
	pthread_join(flusher, NULL);
	alarm(0);
	vthreads_parked_tell_done(told, NULL); /* for which the queue, which is not drained here, had no room */
	assert_false(vthreads_parked_any());
	end();
}

/* Parked again just when it was: its place is its own, and is free once it runs. */
static void park_again(uint32_t i)
{
	uint64_t id;

	for (id = 1; id <= 100; id++) {
		vthreads_parked_end(id);
		vthreads_parked_begin(id, NULL, NULL);
		vthreads_parked_begin(id, NULL, NULL);
	}
	if (i == STOPS - 1)
		for (id = 1; id <= 100; id++)
			vthreads_parked_end(id);
}

static void places_come_free(void **state)
{
	pthread_t flusher;

	(void)state;
	begin();
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&flusher, NULL, flush, NULL), 0);
	alarm(100);
	stop_at_any_place(flusher, park_again);
	atomic_store(&stop, true);
	pthread_join(flusher, NULL);
	alarm(0);
	vthreads_parked_tell_done(told, NULL);
	assert_false(vthreads_parked_any());
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_thread_waits_for_a_flush),
		cmocka_unit_test(places_come_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
