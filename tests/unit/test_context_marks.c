/* What a program marks: types, and a ring that several threads write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "agent/context/marks.h"
#include "common/base/base.h"

static void types_have_numbers(void **state)
{
	char name[MARKS_LONGEST + 2];
	int i;

	assert_false(marks_are_used());
	assert_int_equal(marks_type(NULL), -EINVAL);
	assert_int_equal(marks_type(""), -EINVAL);
	memset(name, 'x', sizeof(name));
	name[MARKS_LONGEST + 1] = '\0';
	assert_int_equal(marks_type(name), -EINVAL);
	name[MARKS_LONGEST] = '\0';
	assert_int_equal(marks_type(name), 1);
	assert_true(marks_are_used());
	for (i = 2; i <= MARKS_TYPES; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		assert_int_equal(marks_type(name), i);
	}
	assert_int_equal(marks_type("one more"), -ENOSPC);
	assert_int_equal(marks_type("type 7"), 7);
	assert_string_equal(marks_type_name(7), "type 7");
	assert_null(marks_type_name(0));
	assert_null(marks_type_name(MARKS_TYPES + 1));
}

/* ---- the ring ---- */

static char text[MARKS_LONGEST + 1];

static bool put(uint64_t number)
{
	uint32_t length = (uint32_t)(number * 7 % (MARKS_LONGEST + 1));

	return marks_put(&(struct mark){.time = number, .duration = 2 * number, .tid = (pid_t)(number % 1000),
					.type = (uint32_t)(number % 3), .length = length, .data = text});
}

struct seen {
	uint64_t first, next, count;
};

static void look(const struct mark *m, void *arg)
{
	struct seen *s = arg;

	if (!s->count)
		s->first = m->time;
	else
		assert_int_equal(m->time, s->next);
	s->next = m->time + 1;
	s->count++;
	assert_int_equal(m->duration, 2 * m->time);
	assert_int_equal(m->tid, m->time % 1000);
	assert_int_equal(m->type, m->time % 3);
	assert_int_equal(m->length, m->time * 7 % (MARKS_LONGEST + 1));
	assert_memory_equal(m->data, text, m->length);
}

static void are_read_in_order(void **state)
{
	uint64_t i, written = 0, lost;
	struct seen s = {0};
	int round;

	for (i = 0; i < MARKS_LONGEST; i++)
		text[i] = (char)(i * 31);
	assert_false(put(0));
	assert_int_equal(marks_each(look, &s), 0);
	marks_join();
	for (round = 0; round < 300; round++) { /* the ring's end comes by at each place of a mark */
		for (i = 0; i < (uint64_t)round; i++)
			assert_true(put(written++));
		assert_int_equal(marks_each(look, &s), 0);
		assert_int_equal(s.count, written);
	}
	/* who is late misses the first ones, and knows how many */
	marks_join();
	for (i = 0; i < 20000; i++)
		put(written++);
	s.count = 0;
	lost = marks_each(look, &s);
	assert_true(lost > 10000 && s.count > 2000);
	assert_int_equal(lost + s.count, 20000);
	assert_int_equal(s.next, written);
	s.count = 0;
	assert_int_equal(marks_each(look, &s), 0);
	assert_int_equal(s.count, 0);
	marks_leave();
	assert_true(put(written++));
	marks_leave();
	assert_false(put(written));
	assert_false(marks_are_heard());
	/* the next recording begins with an empty one, and what no one has read is not missed */
	marks_join();
	assert_int_equal(marks_each(look, &s), 0);
	assert_int_equal(s.count, 0);
	marks_leave();
}

static void too_long_is_refused(void **state)
{
	marks_join();
	assert_false(marks_put(&(struct mark){.length = MARKS_LONGEST + 1, .data = text}));
	assert_true(marks_put(&(struct mark){.length = 0, .data = NULL}));
	marks_leave();
}

/* ---- at the same time ---- */

#define WRITERS 4
#define EACH 100000

static void *writes(void *arg)
{
	uint64_t i, taken = 0;

	for (i = 0; i < EACH; i++)
		taken += marks_put(&(struct mark){.time = i, .tid = (pid_t)(uintptr_t)arg, .length = (uint32_t)(i % 100),
						  .data = text});
	return (void *)(uintptr_t)taken;
}

struct by_thread {
	uint64_t next[WRITERS], count;
};

static void in_order_of_each(const struct mark *m, void *arg)
{
	struct by_thread *t = arg;

	assert_true(m->time >= t->next[m->tid]);
	assert_int_equal(m->length, m->time % 100);
	t->next[m->tid] = m->time + 1;
	t->count++;
}

static void threads_write_while_one_reads(void **state)
{
	struct by_thread t = {.count = 0};
	pthread_t threads[WRITERS];
	uint64_t lost = 0;
	uintptr_t i;
	void *taken;

	marks_join();
	for (i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, writes, (void *)i), 0);
	while (lost + t.count < WRITERS * EACH / 2)
		lost += marks_each(in_order_of_each, &t);
	for (i = 0; i < WRITERS; i++) {
		pthread_join(threads[i], &taken);
		assert_int_equal((uintptr_t)taken, EACH);
	}
	lost += marks_each(in_order_of_each, &t);
	assert_int_equal(lost + t.count, WRITERS * EACH);
	marks_leave();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_have_numbers),
		cmocka_unit_test(are_read_in_order),
		cmocka_unit_test(too_long_is_refused),
		cmocka_unit_test(threads_write_while_one_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
