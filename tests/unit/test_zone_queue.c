/* A thread's queue: the sizing rule, wrap-around, and growing while samples come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "agent/zone/queue.h"
#include "agent/zone/thread_record.h"

static void sizing_rule(void **state)
{
	/* Capacity and losses of each drain: ratios 56, 0.82, 0.43, 0.21, 0.08, 0.10. */
	static const struct { uint32_t capacity; uint64_t lost; uint32_t next; } steps[] = {
		{1, 56, 56},   {56, 46, 224},   {224, 96, 448},
		{448, 94, 896}, {896, 72, 1792}, {1792, 179, 2000},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(steps); i++)
		assert_int_equal(queue_next_capacity(steps[i].capacity, steps[i].lost), steps[i].next);
}

static void sizing_borders(void **state)
{
	assert_int_equal(queue_next_capacity(100, 0), 100);
	assert_int_equal(queue_next_capacity(100, 1), 100);   /* r > 0.01 */
	assert_int_equal(queue_next_capacity(100, 2), 200);
	assert_int_equal(queue_next_capacity(100, 50), 200);  /* r > 0.5 */
	assert_int_equal(queue_next_capacity(100, 51), 400);
	assert_int_equal(queue_next_capacity(100, 200), 400); /* r > 2 */
	assert_int_equal(queue_next_capacity(100, 201), 800);
	assert_int_equal(queue_next_capacity(100, 800), 800); /* r > 8 */
	assert_int_equal(queue_next_capacity(100, 899), 800);
	assert_int_equal(queue_next_capacity(100, 900), 900);
	assert_int_equal(queue_next_capacity(100, 2100), 2000);
	assert_int_equal(queue_next_capacity(20, UINT64_MAX / 100), 2000);
	assert_int_equal(queue_next_capacity(2000, 1000000), 2000);
	assert_int_equal(queue_next_capacity(3000, 1000000), 3000); /* asked for so: never smaller */
}

static struct queue *make(uint32_t capacity)
{
	struct queue *q = calloc(1, queue_bytes(capacity));

	assert_non_null(q);
	q->capacity = capacity;
	return q;
}

static void order_and_fullness(uint32_t capacity, uint64_t begin)
{
	struct queue *q = make(capacity);
	uint64_t in = 0, out = 0;
	struct sample s = {0};
	uint32_t round, i;

	atomic_store(&q->head, begin);
	atomic_store(&q->tail, begin);
	assert_false(queue_pop(q, &s));
	for (round = 0; round < 200; round++) {
		for (i = 0; i < capacity + 2; i++) {
			s.time = in;
			assert_int_equal(queue_push(q, &s), in - out < capacity);
			in += in - out < capacity;
		}
		assert_int_equal(queue_fill(q), capacity);
		for (i = 0; i < round % capacity + 1; i++) {
			assert_true(queue_pop(q, &s));
			assert_int_equal(s.time, out);
			out++;
		}
		assert_int_equal(queue_fill(q), in - out);
	}
	free(q);
}

static void push_and_pop(void **state)
{
	assert_int_equal(sizeof(struct sample), 48);
	assert_int_equal(queue_bytes(QUEUE_START) - queue_bytes(0), 960);
	order_and_fullness(1, 0);
	order_and_fullness(20, 0);
	order_and_fullness(7, 12345);
}

/* A wait's sample and its note go in together or not at all. */
static void pairs(void **state)
{
	struct sample s = {.time = 1}, note = {.time = 2}, out;
	struct queue *q = make(5);

	assert_true(queue_push_pair(q, &s, &note));
	assert_true(queue_push_pair(q, &s, &note));
	assert_false(queue_push_pair(q, &s, &note));
	assert_int_equal(queue_fill(q), 4);
	assert_true(queue_push(q, &s));
	assert_true(queue_pop(q, &out));
	assert_int_equal(out.time, 1);
	assert_true(queue_pop(q, &out));
	assert_int_equal(out.time, 2);
	assert_true(queue_push_pair(q, &s, &note)); /* around the end of the memory */
	while (queue_pop(q, &out))
		;
	assert_int_equal(out.time, 2);
	free(q);
}

/* head and tail pass 2^32 after 50 days at 1 kHz. */
static void counters_wrap(void **state)
{
	order_and_fullness(64, UINT32_MAX - 1000);
	order_and_fullness(1, UINT32_MAX - 100);
	order_and_fullness(20, UINT32_MAX - 1000);
	order_and_fullness(2000, UINT32_MAX - 100);
}

/* ---- handed over while in use ---- */

#define SAMPLES 400000u
#define QUEUES 20 /* at least, one after the other */

static struct thread_record record;
static _Atomic bool done;
static _Atomic uint32_t grown;
static uint64_t full; /* producer's */

/* As handler.c does. */
static struct queue *current_queue(struct thread_record *r)
{
	struct queue *next = atomic_load_explicit(&r->next, memory_order_acquire);

	if (next) {
		atomic_store_explicit(&r->current, next, memory_order_release);
		atomic_store_explicit(&r->next, NULL, memory_order_release);
		return next;
	}
	return atomic_load_explicit(&r->current, memory_order_relaxed);
}

static void *produce(void *arg)
{
	struct sample s = {0};

	for (s.time = 1; s.time <= SAMPLES; s.time++) {
		if (!queue_push(current_queue(&record), &s)) {
			record_lose(&record, 0, LOSS_queue_full, s.time);
			full++;
		}
		/* However slow the other side is, each queue has its share. */
		while (s.time % 64 == 0 && s.time > atomic_load(&grown) * (uint64_t)(SAMPLES / QUEUES))
			sched_yield();
	}
	atomic_store(&done, true);
	return NULL;
}

static uint64_t got, last, weight_got;

static void empty(struct queue *q)
{
	struct sample s;

	while (queue_pop(q, &s)) {
		assert_true(s.time > last); /* in order: none twice */
		last = s.time;
		weight_got += s.time;
		got++;
	}
}

static void handed_over(void **state)
{
	uint32_t capacity = 1;
	pthread_t thread;
	bool ended;

	record.draining = make(capacity);
	atomic_store(&record.current, record.draining);
	assert_int_equal(pthread_create(&thread, NULL, produce, NULL), 0);
	do {
		struct queue *now;

		ended = atomic_load(&done);
		empty(record.draining);
		now = atomic_load_explicit(&record.current, memory_order_acquire);
		if (now != record.draining) {
			empty(record.draining);
			free(record.draining);
			record.draining = now;
			empty(now);
		}
		if (!atomic_load(&record.next) && atomic_load(&record.current) == record.draining) {
			capacity = capacity % 500 + 1; /* any other size: it is handed over again and again */
			atomic_store_explicit(&record.next, make(capacity), memory_order_release);
			atomic_fetch_add(&grown, 1);
		}
	} while (!ended);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&grown) >= QUEUES);
	assert_true(got > 0);
	assert_int_equal(got + full, SAMPLES);
	assert_int_equal(full, atomic_load(&record.lost[0].count[LOSS_queue_full]));
	assert_true(weight_got + atomic_load(&record.lost[0].weight[LOSS_queue_full]) ==
		    (uint64_t)SAMPLES * (SAMPLES + 1) / 2);
	free(atomic_load(&record.next));
	free(record.draining);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizing_rule),  cmocka_unit_test(sizing_borders),
		cmocka_unit_test(push_and_pop), cmocka_unit_test(pairs), cmocka_unit_test(counters_wrap),
		cmocka_unit_test(handed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
