/*
 * Suspects of a leak, from made-up bytes of two halves; who asks for native memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/base/base.h"
#include "profile/model/askers.h"
#include "common/base/square_root.h"
#include "profile/model/leaks.h"

enum { MAIN, PUT, RESIZE, NODES, BYTES, FILL };

static const struct profile_frame frames[] = {
	[MAIN] = {.class_name = "com/acme/Shop", .name = "serve", .kind = FRAME_C2},
	[PUT] = {.class_name = "com/acme/Cache", .name = "put", .kind = FRAME_C2},
	[RESIZE] = {.class_name = "java/util/HashMap", .name = "resize", .kind = FRAME_C2},
	[NODES] = {.name = "java.util.HashMap$Node[]", .kind = FRAME_OTHER},
	[BYTES] = {.name = "byte[]", .kind = FRAME_OTHER},
	[FILL] = {.class_name = "com/acme/Cache", .name = "fill", .kind = FRAME_C2},
};
static const uint32_t resized[] = {MAIN, PUT, RESIZE, NODES}, put[] = {MAIN, PUT, BYTES};
static const uint32_t filled[] = {MAIN, FILL, BYTES}, bare[] = {BYTES};

/* Bytes of the two halves, and the variances of these. */
#define GROWTH(a, b, u, v) {.halves = {a, b}, .variance = {u, v}}
#define HOUR 3600000000000ull
#define STACK(list, bytes) {.frames = list, .depth = ARRAY_LEN(list), .thread = PROFILE_NO_THREAD, .weight = bytes, \
			    .samples = 1, .state = THREAD_NONE}

static struct profile made(const struct profile_stack *stacks, const struct profile_growth *growth, uint32_t count)
{
	return (struct profile){.event = "live", .engine = "live", .frames = frames, .frame_count = ARRAY_LEN(frames),
				.stacks = stacks, .stack_count = count, .growth = growth, .growth_of = stacks,
				.growth_span = HOUR / 2, .survivors = true, .weight_kind = WEIGHT_BYTES};
}

/* Stacks of one place are summed up; the smaller half counts, twice in the session's time; the fastest is first. */
static void rates(void **state)
{
	const struct profile_stack stacks[] = {STACK(put, 300), STACK(resized, 5000), STACK(put, 700)};
	const struct profile_growth growth[] = {GROWTH(100, 200, 25, 9), GROWTH(2000, 3000, 0, 0), GROWTH(400, 300, 0, 100)};
	struct profile p = made(stacks, growth, ARRAY_LEN(stacks));
	struct leaks l;

	(void)state;
	assert_int_equal(leaks_find(&l, &p), 0);
	assert_int_equal(l.count, 2);
	assert_string_equal(name_text(&l.names, l.rows[0].class), "java.util.HashMap$Node[]");
	assert_string_equal(name_text(&l.names, l.rows[0].place), "java.util.HashMap.resize");
	assert_string_equal(name_text(&l.names, l.rows[0].caller), "com.acme.Cache.put");
	assert_true(fabs(l.rows[0].rate - 8000) < 1e-6 && l.rows[0].there == 5000);
	assert_string_equal(name_text(&l.names, l.rows[1].place), "com.acme.Cache.put");
	assert_int_equal(l.rows[1].caller, l.rows[1].place);
	assert_int_equal(l.rows[1].there, 1000);
	assert_true(fabs(l.rows[1].rate - 2000) < 1e-6); /* 500 and 500: the first, in a quarter of an hour */
	/* by the variance of the half that counts, the first of two alike */
	assert_true(fabs(l.rows[1].least - 4 * (500 - 2 * sqrt(25))) < 1e-6);
	assert_true(fabs(l.rows[1].most - 4 * (500 + 2 * sqrt(25))) < 1e-6);
	leaks_free(&l);
}

/* All that a file can say fits the integers in which it is told. */
static void no_faster_than_64_bits(void **state)
{
	const struct profile_stack stacks[] = {STACK(put, 300)};
	const struct profile_growth growth[] = {GROWTH(UINT64_MAX, UINT64_MAX, 1e39, 1e39)};
	struct profile p = made(stacks, growth, ARRAY_LEN(stacks));
	struct leaks l;

	(void)state;
	p.growth_span = 1;
	assert_int_equal(leaks_find(&l, &p), 0);
	assert_int_equal(l.count, 0); /* so much may be chance */
	leaks_free(&l);
	p.growth = (struct profile_growth[]){GROWTH(UINT64_MAX, UINT64_MAX, 9, 9)};
	assert_int_equal(leaks_find(&l, &p), 0);
	assert_int_equal(l.count, 1);
	assert_true(l.rows[0].rate <= 1e18 && l.rows[0].least <= 1e18 && l.rows[0].most <= 1e18);
	leaks_free(&l);
}

/* A cache that was filled, one that is renewed, and what may be chance. */
static void no_suspects(void **state)
{
	const struct profile_stack stacks[] = {STACK(put, 500), STACK(filled, 500), STACK(resized, 200),
					       STACK(bare, 10)};
	const struct profile_growth growth[] = {GROWTH(500, 0, 0, 0), GROWTH(0, 500, 0, 0), GROWTH(100, 100, 2600, 2600),
						GROWTH(5, 5, 0, 0)};
	struct profile p = made(stacks, growth, ARRAY_LEN(stacks));
	struct leaks l;

	(void)state;
	assert_int_equal(leaks_find(&l, &p), 0);
	assert_int_equal(l.count, 0);
	leaks_free(&l);
	/* other stacks than those whose growth is known: a filter was at work */
	p.growth_of = stacks + 1;
	assert_int_equal(leaks_find(&l, &p), 0);
	assert_int_equal(l.count, 0);
	leaks_free(&l);
	p.growth = NULL;
	assert_int_equal(leaks_find(&l, &p), 0);
	leaks_free(&l);
}

/* One large object in each half is no sure growth, though each is a sample for sure; many of them are. */
static void few_large_ones(void **state)
{
	const struct profile_stack stacks[] = {STACK(put, 32 << 20)};
	struct profile_growth growth = {.example = 0};
	struct profile p = made(stacks, &growth, ARRAY_LEN(stacks));
	struct leaks l;
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++)
		leaks_grow(&growth, 16 << 20, i);
	assert_int_equal(leaks_find(&l, &p), 0);
	assert_int_equal(l.count, 0);
	leaks_free(&l);
	for (i = 0; i < 8; i++)
		leaks_grow(&growth, 16 << 20, i % 2);
	assert_int_equal(leaks_find(&l, &p), 0);
	assert_int_equal(l.count, 1);
	/* 5 a half, in a quarter of an hour each */
	assert_true(fabs(l.rows[0].rate / (16 << 20) - 20) < 1e-6);
	assert_true(fabs(l.rows[0].least / (16 << 20) - 4 * (5 - 2 * sqrt(5))) < 1e-6);
	leaks_free(&l);
}

enum { SHOP, BUFFER, UNSAFE, STUB, MALLOC, GROW, MATCH, READ_BYTES };

static const struct profile_frame natives[] = {
	[SHOP] = {.class_name = "com/acme/Shop", .name = "serve", .kind = FRAME_C2},
	[BUFFER] = {.class_name = "java/nio/DirectByteBuffer", .name = "<init>", .kind = FRAME_C2},
	[UNSAFE] = {.class_name = "jdk/internal/misc/Unsafe", .name = "allocateMemory", .kind = FRAME_C2},
	[STUB] = {.name = "Unsafe_AllocateMemory0", .kind = FRAME_NATIVE},
	[MALLOC] = {.name = "os::malloc", .kind = FRAME_NATIVE},
	[GROW] = {.name = "Arena::grow", .kind = FRAME_NATIVE},
	[MATCH] = {.name = "Matcher::match", .kind = FRAME_NATIVE},
	[READ_BYTES] = {.name = "readBytes", .kind = FRAME_NATIVE},
};
static const uint32_t buffer[] = {SHOP, BUFFER, UNSAFE, STUB, MALLOC}, arena[] = {MATCH, GROW, MALLOC};
static const uint32_t only[] = {MALLOC};

/* Native memory: no class, and the place is who asks, not who hands on. */
static void native(void **state)
{
	const struct profile_stack stacks[] = {STACK(buffer, 900), STACK(arena, 70), STACK(only, 10)};
	const struct profile_growth growth[] = {GROWTH(400, 500, 0, 0), GROWTH(40, 30, 0, 0), GROWTH(5, 5, 0, 0)};
	struct profile p = made(stacks, growth, ARRAY_LEN(stacks));
	struct leaks l;

	(void)state;
	p.survivors = false;
	p.frames = natives;
	p.frame_count = ARRAY_LEN(natives);
	assert_int_equal(leaks_find(&l, &p), 0);
	assert_int_equal(l.count, 3);
	assert_int_equal(l.rows[0].class, LEAK_NO_CLASS);
	assert_string_equal(name_text(&l.names, l.rows[0].place), "java.nio.DirectByteBuffer.<init>");
	assert_string_equal(name_text(&l.names, l.rows[0].caller), "com.acme.Shop.serve");
	assert_string_equal(name_text(&l.names, l.rows[1].place), "Matcher::match");
	assert_int_equal(l.rows[1].caller, l.rows[1].place);
	assert_string_equal(name_text(&l.names, l.rows[2].place), "os::malloc");
	leaks_free(&l);
}

/* All native memory by who asked for it and for whom, the most first; equal ones are one row. */
static void askers(void **state)
{
	static const uint32_t direct[] = {SHOP, BUFFER, UNSAFE, STUB, MALLOC}, read[] = {SHOP, READ_BYTES}, none[] = {0};
	const struct profile_stack stacks[] = {STACK(arena, 70), STACK(buffer, 500), STACK(only, 10), STACK(read, 200),
					       STACK(direct, 400), {.frames = none, .weight = 5, .samples = 1}};
	struct profile p = {.event = "nativemem", .engine = "nativemem", .frames = natives,
			    .frame_count = ARRAY_LEN(natives), .stacks = stacks, .stack_count = ARRAY_LEN(stacks),
			    .weight_kind = WEIGHT_BYTES};
	static const struct {
		const char *place, *caller;
		uint64_t weight, samples;
	} rows[] = {
		{"java.nio.DirectByteBuffer.<init>", "com.acme.Shop.serve", 900, 2},
		{"readBytes", "com.acme.Shop.serve", 200, 1},
		{"Matcher::match", "Matcher::match", 70, 1},
		{"os::malloc", "os::malloc", 10, 1},
	};
	struct askers a;
	uint32_t i;

	(void)state;
	assert_int_equal(askers_find(&a, &p, STYLE_TEXT), 0);
	assert_int_equal(a.count, ARRAY_LEN(rows) + 1);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_string_equal(name_text(&a.names, a.rows[i].place), rows[i].place);
		assert_string_equal(name_text(&a.names, a.rows[i].caller), rows[i].caller);
		assert_int_equal(a.rows[i].weight, rows[i].weight);
		assert_int_equal(a.rows[i].samples, rows[i].samples);
	}
	assert_int_equal(a.rows[i].place, a.names.no_frames);
	assert_int_equal(a.rows[i].weight, 5);
	askers_free(&a);
}

/* Objects by their class and the program's method that they were made for; where there is none, who made them. */
static void makers(void **state)
{
	static const uint32_t jdk[] = {SHOP, BUFFER, STUB}, own[] = {SHOP, STUB}, alone[] = {BUFFER, STUB}, bare[] = {STUB};
	const struct profile_stack stacks[] = {STACK(jdk, 500), STACK(own, 300), STACK(alone, 100), STACK(bare, 50)};
	struct profile p = {.event = "alloc", .engine = "alloc", .frames = natives, .frame_count = ARRAY_LEN(natives),
			    .stacks = stacks, .stack_count = ARRAY_LEN(stacks), .weight_kind = WEIGHT_BYTES, .objects = 9};
	static const struct {
		const char *caller;
		uint64_t weight, samples;
	} rows[] = {{"com.acme.Shop.serve", 800, 2}, {"java.nio.DirectByteBuffer.<init>", 100, 1}, {NULL, 50, 1}};
	struct askers a;
	uint32_t i;

	(void)state;
	assert_int_equal(askers_find(&a, &p, STYLE_TEXT), 0);
	assert_int_equal(a.count, ARRAY_LEN(rows));
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(a.rows[i].place, a.names.of_frame[STUB]);
		if (rows[i].caller)
			assert_string_equal(name_text(&a.names, a.rows[i].caller), rows[i].caller);
		else
			assert_int_equal(a.rows[i].caller, a.rows[i].place);
		assert_int_equal(a.rows[i].weight, rows[i].weight);
		assert_int_equal(a.rows[i].samples, rows[i].samples);
	}
	askers_free(&a);
}

static const char *text(struct buffer *b)
{
	buffer_putc(b, '\0');
	assert_int_equal(b->failed, 0);
	b->length = 0;
	return b->data;
}

/* Each place's chance is its own, so that of all together is less than their sum; the time ends with the interval. */
static void when_the_heap_is_full(void **state)
{
	const struct profile_stack stacks[] = {STACK(put, 800 << 20), STACK(resized, 800 << 20)};
	const double variance = (double)(30 << 20) * (30 << 20) / 4; /* two errors: 30 MB */
	const double other = (double)(40 << 20) * (40 << 20) / 4;
	struct profile_growth growth[] = {GROWTH(400 << 20, 500 << 20, variance, 0), GROWTH(400 << 20, 400 << 20, other, 0)};
	struct profile p = made(stacks, growth, ARRAY_LEN(stacks));
	struct buffer b = BUFFER_INIT;
	struct leaks_full full;
	struct leaks l;

	(void)state;
	p.growth_span = 2 * HOUR;
	p.counted = 1000 << 20;
	assert_int_equal(leaks_find(&l, &p), 0);
	assert_false(leaks_fill(&l, &p, &full)); /* how large the heap may be is not known */
	p.heap_most = 1800 << 20;
	assert_true(leaks_fill(&l, &p, &full));
	assert_true(full.free == 800 << 20 && fabs(l.rate - (800 << 20)) < 1);
	assert_true(fabs(full.soonest - 800.0 / 850) < 1e-6 && fabs(full.latest - 800.0 / 750) < 1e-6);
	leaks_put_full(&b, &l, &p);
	assert_string_equal(text(&b), "At this rate the heap is full in 56 min 28 s to 64 min 00 s: 800 MB of 1.8 GB were free "
				      "at its last collection");
	p.counted = p.heap_most + 1;
	leaks_put_full(&b, &l, &p);
	assert_string_equal(text(&b), "The heap is full: 1.8 GB were in use at its last collection");
	p.heap_most = 1ull << 43; /* 8 TB, 800 MB an hour: 1.2 years */
	leaks_put_full(&b, &l, &p);
	assert_string_equal(text(&b), "");
	p.counted = p.heap_most - (7400ull << 30);
	leaks_put_full(&b, &l, &p);
	assert_string_equal(text(&b), "");
	p.counted = p.heap_most - (700ull << 30);
	leaks_put_full(&b, &l, &p);
	assert_string_equal(text(&b), "At this rate the heap is full in 35 days to 39 days: 700 GB of 8.0 TB were free at its "
				      "last collection");
	p.counted = p.heap_most - (6900ull << 30);
	growth[0].variance[0] = growth[1].variance[0] = (double)(100 << 20) * (100 << 20);
	leaks_free(&l);
	assert_int_equal(leaks_find(&l, &p), 0);
	leaks_put_full(&b, &l, &p);
	assert_non_null(strstr(text(&b), " at the soonest: 6.7 TB of 8.0 TB were free"));
	/* native memory has no such end */
	p.survivors = false;
	assert_false(leaks_fill(&l, &p, &full));
	leaks_free(&l);
	/* nor what may be chance */
	p = made(stacks, growth, ARRAY_LEN(stacks));
	growth[0].variance[0] = growth[1].variance[0] = 1e18;
	p.counted = 1000 << 20;
	p.heap_most = 1800 << 20;
	assert_int_equal(leaks_find(&l, &p), 0);
	assert_false(leaks_fill(&l, &p, &full));
	leaks_free(&l);
	buffer_free(&b);
}

/* The root of sums of squares of bytes, from the smallest to those of a heap of terabytes. */
static void roots(void **state)
{
	double x;

	(void)state;
	assert_true(square_root(0) == 0);
	for (x = 1e-6; x < 1e28; x *= 7)
		assert_true(fabs(square_root(x) / sqrt(x) - 1) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates),
		cmocka_unit_test(no_faster_than_64_bits),
		cmocka_unit_test(no_suspects),
		cmocka_unit_test(few_large_ones),
		cmocka_unit_test(native),
		cmocka_unit_test(askers),
		cmocka_unit_test(makers),
		cmocka_unit_test(when_the_heap_is_full),
		cmocka_unit_test(roots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
