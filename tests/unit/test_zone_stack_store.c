/* The stack store: equal stacks are one, whichever threads write them and whatever grows meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "agent/zone/stack_store.h"
#include "common/base/hash.h"
#include "common/base/map.h"

#define DEPTH 2048

static struct stack_store store;

static int set_up(void **state)
{
	struct error err;

	return stack_store_open(&store, 256u << 20, &err);
}

static int tear_down(void **state)
{
	stack_store_close(&store);
	return 0;
}

/* Frame I of trace NUMBER. Neighbouring numbers share all but their last frame. */
static uint64_t frame_of(uint32_t number, uint32_t i, uint32_t length)
{
	return i + 1 == length ? hash_mix(number) : hash_mix(i + 1000003ull * length);
}

static const struct stack_trace *intern(struct stack_chunk *c, uint32_t number, uint32_t length)
{
	struct stack_trace_writer w;
	uint32_t i;

	if (!stack_trace_begin(&w, &store, c, DEPTH))
		return NULL;
	for (i = 0; i < length; i++)
		if (!stack_trace_put(&w, frame_of(number, i, length)))
			return NULL;
	return stack_trace_end(&w);
}

static bool is(const struct stack_trace *t, uint32_t number, uint32_t length)
{
	uint32_t i;

	if (!t || t->length != length)
		return false;
	for (i = 0; i < length; i++)
		if (t->frame[i] != frame_of(number, i, length))
			return false;
	return true;
}

static void equal_is_one(void **state)
{
	struct stack_chunk a = {0}, b = {0};
	const struct stack_trace *t = intern(&a, 1, 10), *u = intern(&a, 2, 10), *v = intern(&a, 1, 11);
	uint64_t *free_words = a.pos;

	assert_true(is(t, 1, 10));
	assert_true(is(u, 2, 10));
	assert_true(is(v, 1, 11));
	assert_ptr_equal(intern(&a, 1, 10), t);
	assert_ptr_equal(intern(&a, 2, 10), u);
	assert_ptr_equal(a.pos, free_words); /* a copy takes no room */
	assert_ptr_equal(intern(&b, 1, 10), t);
	assert_ptr_equal(intern(&b, 1, 11), v);
	assert_true(is(t, 1, 10));
}

/* Also one without frames: a walk in a store that is full to the depth. */
static void empty_trace(void **state)
{
	struct stack_chunk a = {0};
	const struct stack_trace *t = intern(&a, 1, 0);

	assert_non_null(t);
	assert_int_equal(t->length, 0);
	assert_ptr_equal(intern(&a, 2, 0), t);
}

static void deep(void **state)
{
	static const uint32_t lengths[] = {31, 32, 33, 508, 509, 510, 511, 512, 513, 1000, 2046, 2047, 2048};
	struct stack_chunk c = {0};
	size_t round, i;

	for (round = 0; round < 40; round++)
		for (i = 0; i < ARRAY_LEN(lengths); i++) {
			uint32_t number = (uint32_t)(round / 2 * 100 + i);
			const struct stack_trace *t = intern(&c, number, lengths[i]);

			if (!is(t, number, lengths[i]))
				fail_msg("trace of %u frames differs", lengths[i]);
			if (round % 2)
				assert_ptr_equal(intern(&c, number, lengths[i]), t);
		}
}

static void depth_limit(void **state)
{
	static const uint32_t limits[] = {1, 7, 100, 511, 700, 2048};
	struct stack_chunk c = {0};
	struct stack_trace_writer w;
	size_t i;

	for (i = 0; i < ARRAY_LEN(limits); i++) {
		uint32_t n = 0;

		assert_true(stack_trace_begin(&w, &store, &c, limits[i]));
		while (n < 3000 && stack_trace_put(&w, 77000 + n))
			n++;
		assert_int_equal(n, limits[i]);
		assert_true(w.full && !w.store_full);
		assert_false(stack_trace_put(&w, 1)); /* and so it stays */
		assert_int_equal(stack_trace_end(&w)->length, limits[i]);
	}
}

/* 200,000 traces: some share their 32-bit hash, many more their place in the index. */
static void many(void **state)
{
	enum { COUNT = 200000 };
	const struct stack_trace **t = malloc(COUNT * sizeof(*t));
	struct stack_chunk c = {0};
	struct map by_hash = {0};
	uint32_t i, collisions = 0, unshared = 0;
	bool fresh;

	for (i = 0; i < COUNT; i++) {
		t[i] = intern(&c, i, 3);
		assert_true(is(t[i], i, 3));
		map_put(&by_hash, t[i]->hash, &fresh);
		collisions += !fresh;
		if (i % 1000 == 0) {
			stack_store_prepare(&store);
			stack_store_reclaim(&store); /* no other thread reads */
		}
	}
	assert_true(collisions >= 1 && collisions < 30);
	for (i = 0; i < COUNT; i++) {
		const struct stack_trace *again = intern(&c, i, 3);

		assert_true(is(again, i, 3));
		unshared += again != t[i];
	}
	if (unshared * 500 > COUNT)
		fail_msg("%u of %u stay unshared", unshared, COUNT);
	assert_true(atomic_load(&store.arena[0].index)->mask + 1 >= 4 * COUNT);
	map_free(&by_hash);
	free(t);
}

/* The collector late: the index is full, and traces stay unshared but whole. */
static void full_index(void **state)
{
	enum { COUNT = 30000 };
	struct stack_chunk c = {0};
	uint32_t i;

	for (i = 0; i < COUNT; i++)
		if (!is(intern(&c, i, 2), i, 2))
			fail_msg("trace %u differs", i);
	assert_true(atomic_load(&store.arena[0].index)->mask < COUNT);
	assert_true(atomic_load(&store.arena[0].index)->used <= atomic_load(&store.arena[0].index)->mask + 1);
}

/* Private memory of this process that may be written. */
static size_t data_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	size_t kb = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmData: %zu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb * 1024;
}

/* A new generation: nothing is shared with the one before, which goes when it is told to. */
static void generations(void **state)
{
	struct stack_chunk a = {0}, b = {0};
	const struct stack_trace *old = intern(&a, 1, 10), *late;
	struct stack_trace_writer w;
	uint32_t i, g;

	assert_true(stack_trace_begin(&w, &store, &b, DEPTH));
	stack_trace_put(&w, frame_of(2, 0, 2));
	assert_true(stack_store_renew(&store));
	assert_false(stack_store_renew(&store)); /* not twice at once */
	/* who had begun before ends where he was */
	stack_trace_put(&w, frame_of(2, 1, 2));
	late = stack_trace_end(&w);
	assert_true(is(late, 2, 2) && is(old, 1, 10));
	assert_true(store.arena[0].base <= (uintptr_t)late && (uintptr_t)late < store.arena[0].base + store.size);
	assert_ptr_not_equal(intern(&a, 1, 10), old);
	assert_ptr_not_equal(intern(&b, 2, 2), late);
	assert_ptr_equal(intern(&a, 1, 10), intern(&b, 1, 10));
	stack_store_forget(&store);
	assert_int_equal(store.arena[0].base, 0);
	for (g = 0; g < 5; g++) {
		for (i = 0; i < 5000; i++) {
			assert_true(is(intern(&a, i, 20), i, 20));
			stack_store_prepare(&store);
			stack_store_reclaim(&store);
		}
		assert_true(stack_store_renew(&store));
		stack_store_forget(&store);
		assert_true(stack_store_bytes(&store) < 256 * 1024);
	}
	assert_true(is(intern(&a, 1, 20), 1, 20));
}

static void full_store(void **state)
{
	struct stack_store small;
	struct stack_chunk c = {0}, d = {0};
	struct stack_trace_writer w;
	struct error err;
	uint32_t i, stored = 0;

	assert_int_equal(stack_store_open(&small, 64 * 1024, &err), 0);
	/* While a long stack grows. */
	assert_true(stack_trace_begin(&w, &small, &c, 100000));
	for (i = 0; stack_trace_put(&w, i); i++)
		;
	assert_true(w.full && w.store_full && i >= 500 && i < 8192);
	assert_true(atomic_load(&small.arena[0].used) <= small.size);
	/* Short ones until the end. */
	for (i = 0; i < 100000 && stack_trace_begin(&w, &small, &d, DEPTH); i++) {
		stack_trace_put(&w, i);
		assert_int_equal(stack_trace_end(&w)->frame[0], i);
		stored++;
	}
	assert_true(stored > 100 && stored < 64 * 1024 / 24);
	assert_true(w.full && w.store_full);
	for (i = 0; i < 100; i++)
		assert_false(stack_trace_begin(&w, &small, &d, DEPTH));
	assert_true(atomic_load(&small.arena[0].used) <= small.size);
	stack_store_close(&small);
}

/*
 * Where memory that may be written counts (RLIMIT_DATA here, vm.overcommit_memory=2 in the large) a
 * store of 512 MB can be opened in 64, and is full before it asks for more than there is.
 */
static void little_memory(void **state)
{
	struct stack_chunk c = {0};
	struct stack_trace_writer w;
	struct rlimit old, few;
	struct stack_store s;
	struct error err;
	uint32_t i;
	int rc;

	assert_int_equal(getrlimit(RLIMIT_DATA, &old), 0);
	few = old;
	few.rlim_cur = data_bytes() + (64u << 20);
	assert_int_equal(setrlimit(RLIMIT_DATA, &few), 0);
	rc = stack_store_open(&s, 512u << 20, &err);
	for (i = 0; rc == 0 && i < 1u << 22 && stack_trace_begin(&w, &s, &c, DEPTH); i++) {
		stack_trace_put(&w, i);
		stack_trace_end(&w);
		if (i % 1024 == 0)
			stack_store_prepare(&s);
	}
	setrlimit(RLIMIT_DATA, &old);
	assert_int_equal(rc, 0);
	assert_true(i > 100000 && w.store_full);
	assert_true(atomic_load(&s.arena[0].used) <= 64u << 20);
	stack_store_close(&s);
}

/* ---- many threads ---- */

enum { THREADS = 4, TRACES = 12000, ROUNDS = 3 };

struct worker {
	pthread_t thread;
	uint32_t seed;
	const struct stack_trace *seen[TRACES];
	uint32_t wrong;
};

static uint32_t length_of(uint32_t number)
{
	return number % 500 == 0 ? 1500 : number % 37 + 1;
}

static _Atomic uint32_t at_work;

static void *work(void *arg)
{
	struct worker *w = arg;
	struct stack_chunk c = {0};
	uint32_t i, round;

	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < TRACES; i++) {
			/* Half of them in an order of its own, half side by side with the others. */
			uint32_t number = i % 2 ? i : (uint32_t)(hash_mix(i + w->seed) % TRACES);
			const struct stack_trace *t = intern(&c, number, length_of(number));

			w->wrong += !is(t, number, length_of(number));
			w->seen[number] = t;
		}
	atomic_fetch_sub(&at_work, 1);
	return NULL;
}

static void threads_and_growth(void **state)
{
	static struct worker workers[THREADS];
	struct stack_index *first = atomic_load(&store.arena[0].index);
	struct stack_chunk one = {0}, two = {0};
	uint32_t i, wrong = 0, unshared = 0;

	atomic_store(&at_work, THREADS);
	for (i = 0; i < THREADS; i++) {
		workers[i].seed = i * 7919;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	while (atomic_load(&at_work))
		stack_store_prepare(&store);
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		wrong += workers[i].wrong;
	}
	assert_int_equal(wrong, 0);
	assert_ptr_not_equal(atomic_load(&store.arena[0].index), first); /* it did grow under them */
	/*
	 * What was published while the index was replaced may be there twice; from now on nothing is,
	 * but for the few that find no slot within the probes.
	 */
	for (i = 0; i < 8; i++) {
		stack_store_reclaim(&store);
		stack_store_prepare(&store);
	}
	for (i = 0; i < TRACES; i++)
		unshared += intern(&one, i, length_of(i)) != intern(&two, i, length_of(i));
	assert_in_range(unshared, 0, TRACES / 100);
}

/* No growth to excuse anything: one pointer for all threads. */
static void threads_share(void **state)
{
	static struct worker workers[THREADS];
	uint32_t i, j;

	atomic_store(&at_work, THREADS);
	stack_store_close(&store);
	set_up(NULL);
	for (i = 0; i < THREADS; i++) {
		workers[i].seed = i;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	/* 12,000 traces in 8,192 slots: the first ones found room and are shared by all. */
	for (j = 1; j < 400; j += 2)
		for (i = 1; i < THREADS; i++)
			assert_ptr_equal(workers[0].seen[j], workers[i].seen[j]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(generations, set_up, tear_down),
		cmocka_unit_test_setup_teardown(equal_is_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(empty_trace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(deep, set_up, tear_down),
		cmocka_unit_test_setup_teardown(depth_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(full_index, set_up, tear_down),
		cmocka_unit_test_setup_teardown(full_store, set_up, tear_down),
		cmocka_unit_test(little_memory),
		cmocka_unit_test_setup_teardown(threads_and_growth, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_share, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
