/* The window that two functions open and shut: its times, and what a thread's breakpoints say of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "agent/sample/window_look.h"
#include "agent/zone/window.h"
#include "agent/zone/zone.h"

static void opens_and_shuts(void **state)
{
	struct window w = {.gates = true};
	struct window_note note;
	uint32_t i;

	assert_true(window_keeps_out(&w));
	window_shut(&w, 50, 7); /* without effect */
	window_open(&w, 100);
	assert_false(window_keeps_out(&w));
	window_open(&w, 150); /* it is open since 100 */
	window_shut(&w, 400, 7);
	assert_true(window_keeps_out(&w));
	window_open(&w, 1000);
	window_shut(&w, 1010, 7);
	window_shut(&w, 2000, 7);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.total, 310);
	assert_int_equal(w.longest, 300);
	assert_true(window_noted(&w, 1, &note));
	assert_true(note.since == 100 && note.took == 300 && note.thread == 7);
	assert_true(window_noted(&w, 2, &note));
	assert_int_equal(note.took, 10);
	assert_false(window_noted(&w, 3, &note));
	for (i = 3; i <= 3 + WINDOW_NOTES; i++) {
		window_open(&w, 100 * i);
		window_shut(&w, 100 * i + i % 100, i);
	}
	assert_false(window_noted(&w, 3, &note)); /* newer ones took its place */
	assert_true(window_noted(&w, 4, &note) && note.thread == 4 && note.took == 4);
	assert_true(window_noted(&w, 3 + WINDOW_NOTES, &note));
	w.gates = false; /* nostop */
	assert_false(window_keeps_out(&w));
}

/* A thread with breakpoints as events 1 (begin) and 2 (end) behind event 0; pipes stand for their counts. */
static struct thread_record record;
static int begin_pipe[2], end_pipe[2];

static void arm(uint32_t e, int pipe_ends[2])
{
	assert_int_equal(pipe(pipe_ends), 0);
	record.sources[e].fd = pipe_ends[0];
	record.sources[e].period = 1;
	atomic_store(&record.sources[e].arm, ARM_PERF);
}

static void set_up(void)
{
	memset(&zone.window, 0, sizeof(zone.window));
	memset(&record, 0, sizeof(record));
	zone.window.gates = true;
	zone.event_count = 3;
	zone.events[0].role = WINDOW_NONE;
	zone.events[1].role = WINDOW_BEGIN;
	zone.events[2].role = WINDOW_END;
	arm(1, begin_pipe);
	arm(2, end_pipe);
}

static void tear_down(void)
{
	close(begin_pipe[0]);
	close(begin_pipe[1]);
	close(end_pipe[0]);
	close(end_pipe[1]);
}

/* The kernel has counted so many; EVENT sent the signal. */
static void look(uint64_t begins, uint64_t ends, uint32_t event, uint64_t time)
{
	assert_int_equal(write(begin_pipe[1], &begins, 8), 8);
	assert_int_equal(write(end_pipe[1], &ends, 8), 8);
	window_look(&record, event, time);
}

static void breakpoints(void **state)
{
	set_up();
	look(0, 0, 0, 10); /* a sample of event 0 */
	assert_true(window_keeps_out(&zone.window));
	look(1, 0, 1, 20);
	assert_false(window_keeps_out(&zone.window));
	look(1, 0, 0, 25);
	assert_false(window_keeps_out(&zone.window));
	look(1, 1, 0, 30); /* its signal was merged into one that was pending */
	assert_true(window_keeps_out(&zone.window));
	assert_int_equal(zone.window.total, 10);
	/* both behind one signal, which names the first */
	look(2, 2, 1, 40);
	assert_true(window_keeps_out(&zone.window));
	assert_int_equal(zone.window.count, 2);
	look(3, 3, 2, 50);
	assert_false(window_keeps_out(&zone.window));
	look(4, 4, 2, 60);
	assert_false(window_keeps_out(&zone.window));
	assert_int_equal(zone.window.count, 3);
	tear_down();
}

/* What is called all the time is left alone for a while, each time longer. */
static void rests(void **state)
{
	struct record_source *s = &record.sources[1];
	uint64_t i, time = NS_PER_S;

	set_up();
	s->burst_began = time;
	atomic_store(&zone.raised[1], 0);
	for (i = 1; i <= 64; i++) {
		assert_int_equal(s->rests_until, 0);
		look(i, 0, 1, time += NS_PER_MS);
	}
	assert_int_equal(s->rests_until, time + NS_PER_S);
	assert_int_equal(zone.raised[1], 1);
	atomic_store(&s->rests_until, 0); /* the engine wakes it */
	for (; i <= 128; i++)
		look(i, 0, 1, time += 3 * NS_PER_MS);
	assert_int_equal(s->rests_until, 0); /* not too often */
	for (; i <= 192; i++)
		look(i, 0, 1, time += NS_PER_MS);
	assert_int_equal(s->rests_until, time + 2 * NS_PER_S);
	for (; i <= 192 + 20 * 64; i++)
		look(i, 0, 1, time += NS_PER_MS);
	assert_int_equal(s->rests_until, time + 64 * NS_PER_S);
	assert_int_equal(zone.raised[1], 22);
	tear_down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_and_shuts),
		cmocka_unit_test(breakpoints),
		cmocka_unit_test(rests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
