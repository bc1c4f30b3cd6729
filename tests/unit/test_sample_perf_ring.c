/* Records of a perf event, as the kernel writes them, and as it never would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/perf_event.h>
#include <string.h>

#include "agent/sample/perf_ring.h"
#include "common/base/hash.h"
#include "common/base/map.h"
#include "cpu.h"

#define LARGEST 65536u
#define PAGE ((unsigned)shape->data)

/* Of kernels with pages of 4, 16 and 64 KB, and of rings of several pages. */
static const struct shape {
	uint64_t offset, data;
} shapes[] = {{4096, 4096}, {4096, 16384}, {16384, 16384}, {65536, 65536}};
static const struct shape *shape = &shapes[0];

static _Alignas(4096) uint8_t ring[2 * LARGEST + 64]; /* a guard behind the data */
static struct perf_event_mmap_page *const page = (void *)ring;

static void reset(uint64_t position)
{
	memset(ring, 0, sizeof(ring));
	memset(ring + shape->offset + shape->data, 0xee, 64);
	page->data_offset = shape->offset;
	page->data_size = shape->data;
	page->data_head = page->data_tail = position;
}

static void write_word(uint64_t word)
{
	memcpy(ring + shape->offset + page->data_head % shape->data, &word, 8);
	page->data_head += 8;
}

static void write_header(uint32_t type, uint64_t size)
{
	write_word(type | (uint64_t)(uint16_t)size << 48);
}

static void write_sample(uint64_t count, uint32_t chain)
{
	uint32_t i;

	write_header(PERF_RECORD_SAMPLE, 24 + 8 * chain);
	write_word(count);
	write_word(chain);
	for (i = 0; i < chain; i++)
		write_word(i == 0 ? (uint64_t)PERF_CONTEXT_KERNEL : 0xffffffff81000000ull + count + i);
}

/* The same with where the thread was, or came from. */
static void write_placed(bool kernel, uint64_t sp, uint64_t pc)
{
	write_word(PERF_RECORD_SAMPLE | (uint64_t)(kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) << 32 |
		   64ull << 48);
	write_word(1), write_word(2), write_word(10), write_word(20);
	write_word(PERF_SAMPLE_REGS_ABI_64);
	write_word(CPU_PERF_SP < CPU_PERF_PC ? sp : pc);
	write_word(CPU_PERF_SP < CPU_PERF_PC ? pc : sp);
}

/* All tests below, with rings of other shapes too. */
static int next_shape(void **state)
{
	shape = *state;
	return 0;
}

static void none(void **state)
{
	struct perf_reader r;

	reset(0);
	perf_ring_open(&r, ring, false);
	assert_false(perf_ring_next(&r));
	perf_ring_close(&r);
	assert_int_equal(page->data_tail, 0);
}

/* Counters that the kernel shared out: the count is scaled by the time they ran. */
static void scaled(void **state)
{
	struct perf_reader r;

	reset(0);
	write_header(PERF_RECORD_SAMPLE, 40 + 8);
	write_word(1000), write_word(4000), write_word(1000);
	write_word(1), write_word(0xffffffff81000001ull);
	write_header(PERF_RECORD_SAMPLE, 24); /* too short for one */
	write_word(1), write_word(0);
	perf_ring_open(&r, ring, true);
	assert_true(perf_ring_next(&r));
	assert_int_equal(r.count, 4000);
	assert_int_equal(r.chain_length, 1);
	assert_true(perf_ring_address(&r, 0) == 0xffffffff81000001ull);
	assert_false(perf_ring_next(&r));
	perf_ring_close(&r);
	assert_int_equal(perf_scaled(10, 5, 0), 10);
	assert_int_equal(perf_scaled(10, 5, 5), 10);
}

static void several(void **state)
{
	struct perf_reader r;
	uint32_t i;

	reset(0);
	write_sample(1000, 0);
	write_header(PERF_RECORD_LOST, 24);
	write_word(5);
	write_word(77);
	write_sample(2000, 4);
	write_header(PERF_RECORD_THROTTLE, 32);
	write_word(0), write_word(0), write_word(0);
	perf_ring_open(&r, ring, false);
	assert_true(perf_ring_next(&r));
	assert_int_equal(r.count, 1000);
	assert_int_equal(r.chain_length, 0);
	assert_true(perf_ring_next(&r));
	assert_int_equal(r.count, 2000);
	assert_int_equal(r.chain_length, 4);
	assert_int_equal(r.lost, 77);
	assert_true(perf_ring_address(&r, 0) == 0); /* a context marker is no address */
	for (i = 1; i < 4; i++)
		assert_true(perf_ring_address(&r, i) == 0xffffffff81000000ull + 2000 + i);
	assert_false(perf_ring_next(&r));
	assert_false(perf_ring_next(&r));
	perf_ring_close(&r);
	assert_true(page->data_tail == page->data_head);
}

/* Where the thread was, as far as the kernel tells; and whether it was in the kernel. */
static void places(void **state)
{
	struct perf_reader r;

	reset(PAGE - 24);
	write_placed(true, 0x7000, 0x4000);
	write_placed(false, 0x7008, 0x4004);
	write_sample(7, 2); /* one that does not tell */
	perf_ring_open(&r, ring, false);
	assert_true(perf_ring_next(&r) && r.in_kernel && r.placed && r.sp == 0x7000 && r.pc == 0x4000);
	assert_int_equal(r.chain_length, 2);
	assert_int_equal(perf_ring_address(&r, 1), 20);
	assert_true(perf_ring_next(&r) && !r.in_kernel && r.placed && r.sp == 0x7008 && r.pc == 0x4004);
	assert_true(perf_ring_next(&r) && !r.placed);
	assert_false(perf_ring_next(&r));
	assert_int_equal(r.lost, 0);
	assert_false(r.full);
	perf_ring_close(&r);
}

/* No sample fits any more: some may be missing. */
static void filled(void **state)
{
	struct perf_reader r;
	uint64_t n = 0;

	reset(8);
	while (page->data_head + 24 + 8 * 120 <= 8 + PAGE)
		write_sample(n++, 120);
	perf_ring_open(&r, ring, false);
	assert_true(r.full);
	while (perf_ring_next(&r))
		n--;
	assert_int_equal(n, 0);
	perf_ring_close(&r);
	write_sample(1, 120);
	perf_ring_open(&r, ring, false);
	assert_false(r.full);
}

/* A ring without room for data, as a kernel with large pages makes where too little was asked for. */
static void no_data(void **state)
{
	struct perf_reader r;

	reset(0);
	page->data_size = 0;
	page->data_head = 64;
	perf_ring_open(&r, ring, false);
	assert_false(perf_ring_next(&r));
	perf_ring_close(&r);
}

/* From every position in the page, also those where a record goes on at the page's begin. */
static void wrapped(void **state)
{
	uint64_t begin;

	for (begin = 0; begin <= 3 * PAGE; begin += PAGE / 512) {
		struct perf_reader r;
		uint32_t n, i;

		reset(begin);
		for (n = 0; n < 5; n++)
			write_sample(begin + n, 60 + n);
		perf_ring_open(&r, ring, false);
		for (n = 0; n < 5; n++) {
			assert_true(perf_ring_next(&r));
			assert_true(r.count == begin + n && r.chain_length == 60 + n);
			for (i = 1; i < r.chain_length; i++)
				assert_true(perf_ring_address(&r, i) ==
					    0xffffffff81000000ull + begin + n + i);
		}
		assert_false(perf_ring_next(&r));
		perf_ring_close(&r);
		assert_true(page->data_tail == page->data_head);
	}
}

/* A record not wholly written, or of a size that cannot be, ends the reading; the next one starts afresh. */
static void senseless_sizes(void **state)
{
	static const uint16_t sizes[] = {0, 1, 7, 8, 16, 23, 4000, 65528, 65535};
	struct perf_reader r;
	size_t i;

	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		reset(800);
		write_sample(1, 2);
		write_header(PERF_RECORD_SAMPLE, sizes[i]);
		write_word(9), write_word(9);
		perf_ring_open(&r, ring, false);
		assert_true(perf_ring_next(&r));
		assert_int_equal(r.count, 1);
		while (perf_ring_next(&r))
			assert_int_not_equal(r.count, 1);
		perf_ring_close(&r);
		assert_true(page->data_tail <= page->data_head);
		page->data_tail = page->data_head;
		write_sample(3, 0);
		perf_ring_open(&r, ring, false);
		assert_true(perf_ring_next(&r));
		assert_int_equal(r.count, 3);
	}
}

/* The chain's length is the record's own business only as far as its size goes. */
static void long_chain(void **state)
{
	struct perf_reader r;

	reset(0);
	write_header(PERF_RECORD_SAMPLE, 40);
	write_word(1);
	write_word(UINT64_MAX);
	write_word(0x10), write_word(0x20);
	perf_ring_open(&r, ring, false);
	assert_true(perf_ring_next(&r));
	assert_int_equal(r.chain_length, 2);
	assert_int_equal(perf_ring_address(&r, 1), 0x20);
}

/* Head before tail, or further ahead than the ring is large. */
static void senseless_positions(void **state)
{
	static const uint64_t heads[] = {0, 8, 1ull << 40, UINT64_MAX, UINT64_MAX - 7, 1ull << 63};
	struct perf_reader r;
	size_t i, steps;

	for (i = 0; i < ARRAY_LEN(heads); i++) {
		reset(0);
		memset(ring + shape->offset, 8, PAGE); /* small records everywhere */
		page->data_head = heads[i];
		page->data_tail = 4096;
		perf_ring_open(&r, ring, false);
		for (steps = 0; perf_ring_next(&r) && steps < 10000; steps++)
			;
		assert_true(steps <= PAGE / 8);
		perf_ring_close(&r);
	}
}

static void random_bytes(void **state)
{
	uint64_t round, seed = 42;

	for (round = 0; round < 80000000 / PAGE; round++) {
		struct perf_reader r;
		uint64_t i, steps = 0, sum = 0;

		reset(seed % 100000);
		for (i = 0; i < PAGE / 8; i++) {
			uint64_t word = seed = hash_mix(seed + 1);

			if (i % 3 == 0) /* often a plausible header */
				word = PERF_RECORD_SAMPLE | (word % 300) << 48;
			memcpy(ring + shape->offset + i * 8, &word, 8);
		}
		page->data_head += seed % (PAGE + 1);
		perf_ring_open(&r, ring, false);
		while (perf_ring_next(&r)) {
			assert_true(r.chain_length <= 256);
			for (i = 0; i < r.chain_length; i++)
				sum += perf_ring_address(&r, i);
			assert_true(++steps <= PAGE / 8);
		}
		perf_ring_close(&r);
		assert_true(page->data_tail <= page->data_head);
		assert_int_equal(ring[shape->offset + shape->data], 0xee);
		seed += sum & 1;
	}
}

#define TESTS(i) \
	cmocka_unit_test_prestate_setup_teardown(none, next_shape, NULL, (void *)&shapes[i]), \
	cmocka_unit_test_prestate_setup_teardown(scaled, next_shape, NULL, (void *)&shapes[i]), \
	cmocka_unit_test_prestate_setup_teardown(several, next_shape, NULL, (void *)&shapes[i]), \
	cmocka_unit_test_prestate_setup_teardown(places, next_shape, NULL, (void *)&shapes[i]), \
	cmocka_unit_test_prestate_setup_teardown(filled, next_shape, NULL, (void *)&shapes[i]), \
	cmocka_unit_test_prestate_setup_teardown(no_data, next_shape, NULL, (void *)&shapes[i]), \
	cmocka_unit_test_prestate_setup_teardown(wrapped, next_shape, NULL, (void *)&shapes[i]), \
	cmocka_unit_test_prestate_setup_teardown(senseless_sizes, next_shape, NULL, (void *)&shapes[i]), \
	cmocka_unit_test_prestate_setup_teardown(long_chain, next_shape, NULL, (void *)&shapes[i]), \
	cmocka_unit_test_prestate_setup_teardown(senseless_positions, next_shape, NULL, (void *)&shapes[i]), \
	cmocka_unit_test_prestate_setup_teardown(random_bytes, next_shape, NULL, (void *)&shapes[i])

int main(void)
{
	const struct CMUnitTest tests[] = {TESTS(0), TESTS(1), TESTS(2), TESTS(3)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
