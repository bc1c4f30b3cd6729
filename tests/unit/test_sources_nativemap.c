/*
 * Mappings without a JVM: ranges against a table of pages, tickets of many threads in their order, and what the hooked
 * functions tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/sources/nativemap/map_calls.h"
#include "agent/sources/nativemap/map_changes.h"
#include "common/base/map_ranges.h"
#include "agent/sources/nativemap/native_maps.h"
#include "agent/sources/nativemap/nativemap.h"
#include "common/base/random.h"
#include "common/os/os.h"
#include "harness.h"
#include "lib_maps.h"

#define PAGE 4096u

/* ---- ranges ---- */

#define PAGES 500u

static uint32_t model[PAGES];
static uint64_t cut_pages;

static void forget(const struct map_range *r, void *arg)
{
	uint64_t i;

	for (i = r->start / PAGE; i < r->end / PAGE; i++) {
		assert_int_equal(model[i], r->owner);
		model[i] = 0;
		cut_pages++;
	}
}

static void compare(const struct map_ranges *r)
{
	uint64_t sum = 0, i, last = 0;
	size_t k;

	for (k = 0; k < r->count; k++) {
		assert_true(r->items[k].start >= last && r->items[k].end > r->items[k].start);
		last = r->items[k].end;
		for (i = r->items[k].start / PAGE; i < last / PAGE; i++, sum++)
			assert_int_equal(model[i], r->items[k].owner);
	}
	for (i = 0; i < PAGES; i++)
		sum -= model[i] != 0;
	assert_int_equal(sum, 0);
}

/* Any ranges over any others, cut anywhere: each page is of who came last. */
static void ranges_and_pages(void **state)
{
	struct map_ranges r = {0};
	uint64_t seed = 7, round, i;

	for (round = 0; round < 50000; round++) {
		uint64_t start = random_below(&seed, PAGES);
		uint64_t end = start + 1 + random_below(&seed, MIN(PAGES - start, 30u));
		uint32_t owner = 1 + (uint32_t)random_below(&seed, UINT32_MAX - 1), before = 0, gone = 0;

		for (i = start; i < end; i++)
			before += model[i] != 0;
		cut_pages = 0;
		assert_true(map_ranges_cut(&r, start * PAGE, end * PAGE, forget, NULL));
		for (i = start; i < end; i++)
			gone += model[i] == 0;
		assert_int_equal(cut_pages, before);
		assert_int_equal(gone, end - start);
		if (random_below(&seed, 3)) {
			assert_true(map_ranges_add(&r, &(struct map_range){start * PAGE, end * PAGE, 1, owner, false}));
			for (i = start; i < end; i++)
				model[i] = owner;
		}
		if (round % 100 == 0)
			compare(&r);
	}
	compare(&r);
	assert_true(map_ranges_cut(&r, 0, UINT64_MAX, forget, NULL));
	assert_int_equal(r.count, 0);
	assert_true(map_ranges_cut(&r, 0, UINT64_MAX, NULL, NULL));
	map_ranges_free(&r);
}

/* More than there is room for are refused, and those that are there stay. */
static void too_many_ranges(void **state)
{
	struct map_ranges r = {0};
	uint64_t i;

	for (i = 0; i < MAP_RANGES_LIMIT; i++)
		assert_true(map_ranges_add(&r, &(struct map_range){4 * i * PAGE, (4 * i + 3) * PAGE, 1, 1, false}));
	assert_false(map_ranges_add(&r, &(struct map_range){4 * i * PAGE, (4 * i + 1) * PAGE, 1, 1, false}));
	assert_false(map_ranges_cut(&r, PAGE, 2 * PAGE, NULL, NULL));
	assert_int_equal(r.count, MAP_RANGES_LIMIT);
	assert_int_equal(r.items[0].end, 3 * PAGE);
	assert_true(map_ranges_cut(&r, 0, 4 * PAGE, NULL, NULL));
	assert_true(map_ranges_cut(&r, 5 * PAGE, 6 * PAGE, NULL, NULL));
	map_ranges_free(&r);
}

/* ---- tickets ---- */

static uint64_t read_count, last_time;

static void in_order(const struct map_change *c, uint32_t owner, void *arg)
{
	read_count++;
	last_time = c->time;
	if (arg)
		*(uint32_t *)arg = owner;
}

static uint64_t begin(uint64_t time, enum map_what what)
{
	return map_change_begin(&(struct map_change){PAGE, 2 * PAGE, time, what, 0});
}

static void read_all(uint32_t *owner)
{
	read_count = 0;
	map_changes_gather();
	map_changes_read(in_order, owner);
}

/* What goes on holds back what has a later ticket; what has failed is not told. */
static void tickets(void **state)
{
	uint32_t owner = 0;
	uint64_t a, b, c;

	assert_true(map_changes_open());
	map_changes_clear();
	a = begin(1, MAP_GONE);
	b = begin(2, MAP_BROUGHT);
	c = begin(3, MAP_GONE);
	assert_true(a && b > a && c > b);
	map_change_own(b, 77);
	map_change_end(b, true);
	read_all(NULL);
	assert_int_equal(read_count, 0);
	map_change_end(a, false);
	read_all(&owner);
	assert_int_equal(read_count, 1);
	assert_int_equal(last_time, 2);
	assert_int_equal(owner, 77);
	map_change_end(c, true);
	map_change_own(a, 5); /* too late */
	read_all(NULL);
	assert_int_equal(read_count, 1);
	assert_int_equal(last_time, 3);
}

/* A thread that has left its function some other way holds nothing up for ever. */
static void left_behind(void **state)
{
	uint64_t lost, later;
	int i;

	map_changes_clear();
	lost = begin(1, MAP_GONE);
	later = begin(2, MAP_BROUGHT);
	map_change_end(later, true);
	read_all(NULL);
	assert_int_equal(read_count, 0);
	for (i = 0; i < 300 && !read_count; i++) {
		os_sleep(10 * NS_PER_MS);
		read_all(NULL);
	}
	assert_int_equal(read_count, 2);
	map_change_end(lost, true);
	read_all(NULL);
	assert_int_equal(read_count, 0);
}

/* More than there is room for between two looks are counted. */
static void no_room(void **state)
{
	uint64_t i, ticket, told = 0;

	map_changes_clear();
	for (i = 0; i < 20000; i++) {
		ticket = begin(i, MAP_BROUGHT);
		told += ticket != 0;
		if (ticket)
			map_change_end(ticket, true);
	}
	assert_in_range(told, 1000, 19999);
	read_count = 0;
	map_changes_gather();
	assert_int_equal(map_changes_read(in_order, NULL), 20000 - told);
	assert_int_equal(read_count, told);
	assert_true(begin(1, MAP_BROUGHT) != 0);
	map_changes_clear();
}

/* ---- mappings that change hands, all the way to ranges ---- */

static const struct map_functions *calls;

static int load(void **state)
{
	void *library = harness_library("lib_maps.so");
	map_functions_fn *get = library ? (map_functions_fn *)dlsym(library, "map_functions") : NULL;

	calls = get ? get() : NULL;
	return calls ? 0 : -1;
}

#define THREADS 4
#define SLOTS 64
#define ROUNDS 20000

static _Atomic(void *) slots[SLOTS];
static _Atomic bool over;
static _Atomic uint64_t brought_count, dropped;

static void brought(const struct map_call *call, const struct walk_caller *from)
{
	uint64_t ticket = map_change_begin(&(struct map_change){call->start, call->end, os_monotonic(),
							      call->accessible ? MAP_BROUGHT : MAP_RESERVED, 0});

	if (!ticket)
		dropped++;
	/* its sample has come */
	if (ticket && call->accessible)
		map_change_own(ticket, 3);
	if (ticket)
		map_change_end(ticket, true);
	brought_count++;
	errno = ESTALE; /* the hook keeps the caller's */
}

static uint64_t going(uint64_t start, uint64_t end)
{
	uint64_t ticket = map_change_begin(&(struct map_change){start, end, os_monotonic(), MAP_GONE, 0});

	dropped += !ticket;
	errno = ESTALE;
	return ticket;
}

static const struct map_told told = {brought, going, map_change_end};

static void *exchange(void *arg)
{
	uint64_t seed = random_seed((uintptr_t)arg), i;

	for (i = 0; i < ROUNDS; i++) {
		size_t size = PAGE * (1 + random_below(&seed, 4));
		char *p = calls->map(NULL, 4 * PAGE, PROT_READ, 0), *q;

		if (p == MAP_FAILED)
			return p;
		q = atomic_exchange(&slots[random_below(&seed, SLOTS)], p);
		if (q && (calls->unmap(q, size) || (size < 4 * PAGE && calls->unmap(q + size, 4 * PAGE - size))))
			return MAP_FAILED;
		if (i % 64 == 0)
			os_sleep(NS_PER_MS); /* the reader keeps up */
	}
	return NULL;
}

static void nothing(uint64_t time, uint32_t record, uint64_t address, uint64_t size, void *arg)
{
}

static void *reader(void *arg)
{
	while (!over) {
		native_maps_gather();
		native_maps_freed(true, nothing, NULL);
		os_sleep(NS_PER_MS);
	}
	return NULL;
}

static uint32_t sum_up(const struct block_there *b, void *arg)
{
	*(uint64_t *)arg += b->weight;
	return b->owner;
}

static uint64_t there(void)
{
	uint64_t bytes = 0;

	native_maps_gather();
	native_maps_freed(true, nothing, NULL);
	native_maps_each(sum_up, &bytes);
	return bytes;
}

/* In two parts, so that what is left of one lies between others for a moment. */
static void by_many_threads(void **state)
{
	pthread_t threads[THREADS], reads;
	uint64_t held = 0;
	uintptr_t i;
	void *failed;

	assert_true(native_maps_open());
	over = false;
	dropped = 0;
	assert_true(map_calls_install(&told));
	assert_int_equal(pthread_create(&reads, NULL, reader, NULL), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, exchange, (void *)(i + 1)), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	over = true;
	pthread_join(reads, NULL);
	for (i = 0; i < SLOTS; i++)
		held += slots[i] != NULL;
	if (!dropped)
		assert_int_equal(there(), held * 4 * PAGE);
	print_message("%llu mappings, %llu found no room\n", (unsigned long long)brought_count,
		      (unsigned long long)dropped);
	for (i = 0; i < SLOTS; i++)
		if (slots[i])
			calls->unmap(slots[i], 4 * PAGE);
	if (!dropped)
		assert_int_equal(there(), 0);
	map_calls_remove();
}

/* What was unmapped while there was no room for it is gone all the same. */
static void caught_up(void **state)
{
	char *p, *q;
	uint64_t t;

	assert_true(native_maps_open() && map_calls_install(&told));
	p = calls->map(NULL, 10 * PAGE, PROT_READ, 0);
	q = calls->map(NULL, 10 * PAGE, PROT_READ, 0);
	assert_int_equal(there(), 20 * PAGE);
	while ((t = begin(1, MAP_GONE)))
		map_change_end(t, true);
	assert_int_equal(calls->unmap(p, 4 * PAGE), 0);
	assert_int_equal(there(), 16 * PAGE);
	assert_int_equal(calls->unmap(p + 4 * PAGE, 6 * PAGE), 0);
	assert_int_equal(calls->unmap(q, 10 * PAGE), 0);
	assert_int_equal(there(), 0);
	map_calls_remove();
}

/* What each function does to the account, and errno. */
static void each_function(void **state)
{
	char *p, *q;

	assert_true(native_maps_open() && map_calls_install(&told));
	errno = EDOM;
	p = calls->map(NULL, 10 * PAGE - 1, PROT_READ | PROT_WRITE, 0);
	assert_int_equal(errno, EDOM);
	assert_int_equal(there(), 10 * PAGE);
	assert_int_equal(calls->unmap(p + 2 * PAGE, 3 * PAGE), 0);
	assert_int_equal(errno, EDOM);
	assert_int_equal(there(), 7 * PAGE);
	assert_int_equal(calls->unmap(p + 1, PAGE), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(there(), 7 * PAGE);
	assert_ptr_equal(calls->map(p + PAGE, 2 * PAGE, PROT_NONE, MAP_FIXED), p + PAGE);
	assert_int_equal(there(), 6 * PAGE);
	assert_int_equal(native_maps_reserved(), 2 * PAGE);
	q = calls->remap(p + 5 * PAGE, 5 * PAGE, 8 * PAGE, MREMAP_MAYMOVE);
	assert_ptr_not_equal(q, MAP_FAILED);
	assert_int_equal(there(), 9 * PAGE);
	q = calls->remap(q, 8 * PAGE, 2 * PAGE, 0);
	assert_int_equal(there(), 3 * PAGE);
	errno = 0;
	assert_ptr_equal(calls->remap(q, 2 * PAGE, (size_t)1 << 60, 0), MAP_FAILED);
	assert_true(errno == ENOMEM || errno == EINVAL);
	assert_int_equal(there(), 3 * PAGE);
	assert_int_equal(calls->unmap(q, 2 * PAGE), 0);
	assert_int_equal(calls->unmap(p, 5 * PAGE), 0); /* holes are no error */
	assert_int_equal(there(), 0);
	assert_int_equal(native_maps_reserved(), 0);
	assert_ptr_equal(calls->map(NULL, 0, PROT_READ, 0), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(there(), 0);
	map_calls_remove();
	brought_count = 0;
	p = calls->map(NULL, PAGE, PROT_READ, 0);
	calls->unmap(p, PAGE);
	assert_int_equal(brought_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_and_pages), cmocka_unit_test(too_many_ranges), cmocka_unit_test(tickets),
		cmocka_unit_test(left_behind), cmocka_unit_test(no_room), cmocka_unit_test(each_function),
		cmocka_unit_test(caught_up),
		cmocka_unit_test(by_many_threads),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
