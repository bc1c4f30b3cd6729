/* What of two profiles is listed: changes beyond chance, where they are, and not those who only call them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "profile/model/compare/compare.h"
#include "profile/writers/format.h"

enum { RUN, SERVE, PLAN, PRICE, PARSE, HASH, COMPILE, KERNEL, FRAMES };

static const struct profile_frame frames[] = {
	[RUN] = {"java/lang/Thread", "run", "()V", NULL, 0, FRAME_C2},
	[SERVE] = {"demo/Shop", "serve", "()V", NULL, 0, FRAME_C2},
	[PLAN] = {"demo/Shop", "plan", "()V", NULL, 0, FRAME_C2},
	[PRICE] = {"demo/Shop", "price", "()V", NULL, 0, FRAME_C2},
	[PARSE] = {"demo/Shop", "parse", "()V", NULL, 0, FRAME_C1},
	[HASH] = {"java/util/HashMap", "hash", "()I", NULL, 0, FRAME_INLINED},
	[COMPILE] = {NULL, "Compile::Optimize", NULL, "libjvm.so", 0, FRAME_NATIVE},
	[KERNEL] = {NULL, "clear_page", NULL, NULL, 0, FRAME_KERNEL},
};
static const uint32_t price[] = {RUN, SERVE, PLAN, PRICE}, parse[] = {RUN, SERVE, PARSE}, hash[] = {RUN, SERVE, PLAN, PRICE, HASH};
static const uint32_t parse_hash[] = {RUN, SERVE, PARSE, HASH}, compile[] = {COMPILE}, fault[] = {RUN, SERVE, PARSE, KERNEL};
static const uint32_t plan_fault[] = {RUN, SERVE, PLAN, KERNEL};

#define MS 1000000ull
#define STACK(list, n) {.frames = list, .depth = ARRAY_LEN(list), .thread = PROFILE_NO_THREAD, .samples = n, .weight = (n) * MS}

static struct profile made(const struct profile_stack *stacks, uint32_t count, uint64_t seconds)
{
	return (struct profile){.event = "cpu", .weight_kind = WEIGHT_CPU, .duration = seconds * 1000 * MS, .frames = frames,
				.frame_count = FRAMES, .stacks = stacks, .stack_count = count};
}

static struct comparison compared(const struct profile *before, const struct profile *after, double a, double b)
{
	struct comparison c = {.profiles = {before, after}, .by_weight = true, .per = {a, b}};

	assert_int_equal(compare_build(&c, STYLE_TEXT | STYLE_ANY_TYPE), 0);
	return c;
}

static const struct compare_row *row(const struct comparison *c, const char *name)
{
	uint32_t i;

	for (i = 0; i < c->count; i++)
		if (strcmp(c->rows[i].name, name) == 0)
			return &c->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static uint32_t listed(const struct comparison *c)
{
	uint32_t i, n = 0;

	for (i = 0; i < c->count; i++)
		n += (c->rows[i].self.verdict == VERDICT_CHANGED) + (c->rows[i].total.verdict == VERDICT_CHANGED);
	return n;
}

/* One method does more: it alone is listed, those who call it are said to change by it. */
static void a_change_has_one_place(void **state)
{
	const struct profile_stack a[] = {STACK(price, 500), STACK(parse, 3000), STACK(hash, 100)};
	const struct profile_stack b[] = {STACK(price, 1100), STACK(parse, 2950), STACK(hash, 103)};
	const struct profile before = made(a, 3, 4), after = made(b, 3, 4);
	struct comparison c = compared(&before, &after, 0, 0);
	const struct compare_row *r = row(&c, "demo.Shop.price"), *plan = row(&c, "demo.Shop.plan");

	assert_int_equal(c.by, BY_SECOND);
	assert_int_equal(listed(&c), 1);
	assert_int_equal(r->self.verdict, VERDICT_CHANGED);
	assert_true(fabs(r->self.change.before - 0.125e9) < 1 && fabs(r->self.change.after - 0.275e9) < 1);
	assert_true(r->self.change.low > 0 && r->self.change.high > r->self.change.low);
	assert_int_equal(plan->total.verdict, VERDICT_EXPLAINED);
	assert_string_equal(c.rows[plan->explained_by].name, "demo.Shop.price");
	assert_int_equal(r->total.verdict, VERDICT_EXPLAINED);
	assert_string_equal(c.rows[0].name, "demo.Shop.price");
	compare_free(&c);
	/* a fall is seen as the rise was */
	c = compared(&after, &before, 0, 0);
	assert_int_equal(listed(&c), 1);
	assert_true(row(&c, "demo.Shop.price")->self.change.high < 0);
	compare_free(&c);
}

/* Nothing of what it calls has changed enough by itself: the caller in which all meets is listed. */
static void a_caller_of_many(void **state)
{
	static const char names[40][4] = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "b0", "b1", "b2", "b3", "b4",
					  "b5", "b6", "b7", "b8", "b9", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9",
					  "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"};
	struct profile_frame more[FRAMES + 40];
	struct profile_stack a[41] = {STACK(parse, 9000)}, b[41] = {STACK(parse, 9000)};
	uint32_t lists[40][4], i;
	struct profile before = made(a, 41, 10), after = made(b, 41, 10);
	struct comparison c;

	memcpy(more, frames, sizeof(frames));
	for (i = 0; i < 40; i++) {
		more[FRAMES + i] = (struct profile_frame){"demo/Many", names[i], NULL, NULL, 0, FRAME_C2, 0};
		memcpy(lists[i], (uint32_t[]){RUN, SERVE, PLAN, FRAMES + i}, sizeof(lists[i]));
		a[i + 1] = (struct profile_stack)STACK(lists[i], 30);
		b[i + 1] = (struct profile_stack)STACK(lists[i], 48);
	}
	before.frames = after.frames = more;
	before.frame_count = after.frame_count = FRAMES + 40;
	c = compared(&before, &after, 0, 0);
	assert_int_equal(listed(&c), 1);
	assert_int_equal(row(&c, "demo.Shop.plan")->total.verdict, VERDICT_CHANGED);
	compare_free(&c);
}

/* What bursts by nature needs more than a method: a compilation, pages that the kernel clears. */
static void bursts(void **state)
{
	const struct profile_stack a[] = {STACK(parse, 4000), STACK(compile, 20), STACK(fault, 20), STACK(price, 40)};
	const struct profile_stack b[] = {STACK(parse, 4000), STACK(compile, 100), STACK(fault, 100), STACK(price, 120)};
	const struct profile before = made(a, 4, 4), after = made(b, 4, 4);
	struct comparison c = compared(&before, &after, 0, 0);

	assert_int_equal(listed(&c), 1);
	assert_int_equal(row(&c, "demo.Shop.price")->self.verdict, VERDICT_CHANGED);
	compare_free(&c);
}

/* All do twice as much: no method has changed by itself. By unit of work nothing has. */
static void all_alike(void **state)
{
	const struct profile_stack a[] = {STACK(parse, 2000), STACK(price, 1000), STACK(hash, 500)};
	const struct profile_stack b[] = {STACK(parse, 4100), STACK(price, 1950), STACK(hash, 990)};
	const struct profile before = made(a, 3, 4), after = made(b, 3, 4);
	struct comparison c = compared(&before, &after, 0, 0);

	assert_int_equal(listed(&c), 0);
	assert_true(c.change.beyond && c.change.low > 0);
	compare_free(&c);
	c = compared(&before, &after, 1000, 2000);
	assert_int_equal(c.by, BY_UNIT);
	assert_int_equal(listed(&c), 0);
	assert_false(c.change.beyond);
	assert_true(fabs(c.change.before - 3.5 * MS) < 1);
	compare_free(&c);
}

/* Without times, shares are compared; what is new or gone counts as what it is. */
static void new_and_gone(void **state)
{
	const struct profile_stack a[] = {STACK(parse, 3000), STACK(parse_hash, 300), STACK(plan_fault, 3)};
	const struct profile_stack b[] = {STACK(parse, 3000), STACK(price, 300)};
	const struct profile before = made(a, 3, 0), after = made(b, 2, 0);
	struct comparison c = compared(&before, &after, 0, 0);

	assert_int_equal(c.by, BY_SHARE);
	assert_int_equal(row(&c, "java.util.HashMap.hash")->self.verdict, VERDICT_CHANGED);
	assert_true(row(&c, "java.util.HashMap.hash")->self.change.after == 0);
	assert_int_equal(row(&c, "demo.Shop.price")->self.verdict, VERDICT_CHANGED);
	assert_int_equal(row(&c, "clear_page_[k]")->self.verdict, VERDICT_CHANCE);
	compare_free(&c);
}

static void nothing(void **state)
{
	const struct profile_stack a[] = {STACK(parse, 3000)};
	const struct profile one = made(a, 1, 4), none = made(a, 0, 0);
	struct comparison c = compared(&one, &one, 0, 0);

	assert_int_equal(listed(&c), 0);
	compare_free(&c);
	c = compared(&one, &none, 0, 0);
	assert_int_equal(c.by, BY_SHARE);
	compare_free(&c);
	c = compared(&none, &none, 0, 0);
	assert_int_equal(c.count, 0);
	compare_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_has_one_place), cmocka_unit_test(a_caller_of_many), cmocka_unit_test(bursts),
		cmocka_unit_test(all_alike), cmocka_unit_test(new_and_gone), cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
