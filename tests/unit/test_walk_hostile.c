/*
 * Walks over memory that is not what it should be: loads that fail one after the other, and
 * random registers, stacks and JVM data. No load leaves the fake JVM's memory unnoticed, every walk
 * ends, and ends in a frame that says why, or at the root.
 *
 * The walker is compiled into this file, with loads of its own: plain C, so that sanitizers see
 * them, which fail outside of the fake memory and when told to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "load_test.h"

#include "agent/walk/codecache.c"
#define put put_interpreted
#include "agent/walk/walk_interpreted.c"
#undef put
#include "agent/walk/decode.c"
#include "agent/walk/walk.c"
#include "agent/walk/walk_frozen.c"
#include "agent/walk/walk_java.c"
#include "agent/walk/walk_native.c"
#define end_with end_stub_with
#include "walk_stub.c"
#include "interpreted_prologue.c"
#include "prologue.c"
#include "code_unwind.c"

#include "common/base/hash.h"
#include "common/base/map.h"
#include "fake_stack.h"

static struct fake_jvm jvm;
static uint64_t loads, fail_at, every;

static int may_load(uintptr_t address, unsigned width)
{
	loads++;
	if (loads == fail_at || (every && loads % every == 0))
		return 0;
	return address >= (uintptr_t)jvm.memory && address + width <= (uintptr_t)jvm.memory + FAKE_BYTES &&
	       address + width > address;
}

static uintptr_t a, b, native;
static uintptr_t alpha, beta, stub, leaf;
static struct image_set *images;
static struct decode_cache *cache;

/* One image of native code, with a rule of each kind, 16 bytes a rule. */
static const struct unwind_rule rules[] = {
	{CFA_SP, 0, FP_SAME, 0, 16, 0, -8, 0},      {CFA_SP, 0, FP_AT_CFA, 0, 64, -16, -8, 0},
	{CFA_FP, 0, FP_AT_CFA, 0, 16, -16, -8, 0},  {CFA_REG, 3, FP_SAME, 0, 8, 0, -8, 0},
	{CFA_PLT, 0, FP_SAME, 0, 11, 0, -8, 0},     {CFA_FP_DEREF, 1, FP_AT_FP, 0, -8, 0, -8, 0},
	{CFA_SP_DEREF, 1, FP_SAME, 0, 16, 0, -8, 0},{CFA_SIGNAL, 0, FP_SAME, 0, 0, 0, -8, 0},
	{CFA_UNKNOWN, 0, FP_SAME, 0, 0, 0, -8, 0},  {CFA_END, 0, FP_SAME, 0, 0, 0, -8, 0},
	{CFA_SP, 0, FP_LOST, 0, -40, 0, -8, 0},     {200, 0, 200, 0, 8, 8, -8, 0},
	{CFA_BASE, 0, FP_SAME, 0, 16, 0, -8, -16},
};
static uint32_t row_start[ARRAY_LEN(rules)], bucket[2];
static uint16_t row_rule[ARRAY_LEN(rules)];
static struct image image = {.path = "/lib/fake.so", .name = "fake.so"};

static void make_image(void)
{
	static struct {
		struct image_set set;
		const struct image *one[1];
	} s;
	uint32_t i;

	for (i = 0; i < ARRAY_LEN(rules); i++) {
		row_start[i] = i * 16;
		row_rule[i] = (uint16_t)i;
	}
	bucket[0] = 0;
	bucket[1] = ARRAY_LEN(rules) - 1;
	image.start = jvm.meta;
	image.end = jvm.meta + 16 * ARRAY_LEN(rules);
	image.unwind = (struct unwind_table){ARRAY_LEN(rules), 1, row_start, row_rule, bucket, rules,
					     ARRAY_LEN(rules)};
	s.one[0] = &image;
	s.set.count = 1;
	s.set.images = s.one;
	images = &s.set;
}

static void open_jvm(enum fake_shape shape)
{
	const struct fake_code first = {
		.level = 4, .frame_words = 6, .frame_complete = 9, .method = 0,
		.pcs = {{64, 3}, {100, 2}, {180, 1}}, .deopt = 220, .orig_pc = 8,
	}, second = {.level = 0, .frame_words = 4, .frame_complete = 5, .pcs = {{40, 1}, {80, 2}}};
	static const uint8_t framed[] = {0x55, 0x48, 0x89, 0xe5, 0x90, 0xc9, 0xc3};
	struct fake_code code = first;

	fake_open(&jvm, shape);
	make_image();
	jvm.meta_used += 4096; /* the image's place */
	a = fake_method(&jvm, "pkg/A", "alpha", "()V", 100);
	b = fake_method(&jvm, "pkg/B", "beta", "(I)I", 50);
	native = fake_method(&jvm, "pkg/N", "nat", "()V", 0);
	code.method = a;
	code.scopes[0] = (struct fake_scope){0, a, 7};
	code.scopes[1] = (struct fake_scope){1, b, 3};
	code.scopes[2] = (struct fake_scope){2, a, 9};
	alpha = fake_nmethod(&jvm, &code);
	code = second;
	code.method = b;
	code.scopes[0] = (struct fake_scope){0, b, 11};
	code.scopes[1] = (struct fake_scope){0, b, 22};
	beta = fake_nmethod(&jvm, &code);
	stub = fake_stub(&jvm, 8, 4, NULL, 0);
	leaf = fake_stub(&jvm, 0, -1, framed, sizeof(framed));
	atomic_store(&jvm.zone.images, images);
	cache = calloc(1, sizeof(*cache) + (1 << 20));
	cache->size = 1 << 20;
	loads = fail_at = every = 0;
}

static void close_jvm(void)
{
	free(cache);
	fake_close(&jvm);
}

/* Everything at once: interpreted, inlined, stubs, native code with an anchor, a deoptimised frame. */
static void full_stack(struct fake_stack *s)
{
	int i;

	stack_begin(s, &jvm);
	for (i = 0; i < 20; i++) {
		stack_interpreted(s, a, 5, 1);
		stack_interpreted(s, b, 6, 0);
		stack_compiled(s, alpha + 100, 6);
		stack_compiled(s, beta + 40, 4);
		stack_compiled(s, beta + 40, 4);
	}
	stack_compiled(s, alpha + 100, 6);
	stack_compiled(s, stub + 16, 8);
	stack_compiled(s, beta + 40, 4);
	stack_reenter(s, false);
	stack_interpreted(s, native, 0, 0);
	stack_compiled(s, alpha + 220, 6);
	*fake_at(s->sp + 8) = alpha + 64;
	stack_compiled(s, alpha + 64, 6);
	stack_compiled(s, alpha + 64, 6);
	stack_interpreted(s, b, 7, 2);
	stack_native(s, jvm.meta + 5, 30);
	*fake_at(s->sp + 8) = jvm.meta + 35; /* CFA_SP 16, then CFA_FP without a frame: bad_native */
}

static struct walked w;

static void check_end(const char *what, uint64_t n)
{
	uint64_t last = w.count ? w.frame[w.count - 1] : 0;
	bool says = frame_kind_of(last) == FRAME_OTHER && (uint32_t)last < WALK_ENDS;
	uint32_t i, gaps = 0;

	if (w.root == says || (!w.root && !w.count))
		fail_msg("%s %llu: root %d, %u frames, last %llx", what, (unsigned long long)n, w.root,
			 w.count, (unsigned long long)last);
	/* In the middle at most one: where the walk went on at the last Java frame. */
	for (i = 0; i + 1 < w.count; i++)
		if (frame_kind_of(w.frame[i]) == FRAME_OTHER && gaps++)
			fail_msg("%s %llu: frame %u of %u is %llx", what, (unsigned long long)n, i, w.count,
				 (unsigned long long)w.frame[i]);
	if (loads > 3000000)
		fail_msg("%s %llu: %llu loads", what, (unsigned long long)n, (unsigned long long)loads);
}

/* All methods there are; a failing load must not make up others. */
static void check_methods(uint64_t n)
{
	uint32_t i;

	for (i = 0; i < w.count; i++)
		if (frame_is_java(w.frame[i])) {
			uintptr_t m = frame_method(w.frame[i]);

			if (m != a && m != b && m != native)
				fail_msg("load %llu fails: frame %u names %llx", (unsigned long long)n, i,
					 (unsigned long long)m);
		}
}

/*
 * Of a walk that claims the root no caller is missing: what cannot be read may cost inlined frames
 * and positions (the debug information) or native frames (the last Java frame is then the way on).
 */
static uint32_t callers(const struct walked *from, uintptr_t *methods)
{
	uint32_t i, n = 0;

	for (i = 0; i < from->count; i++)
		if (frame_is_java(from->frame[i]) && frame_kind_of(from->frame[i]) != FRAME_INLINED)
			methods[n++] = frame_method(from->frame[i]);
	return n;
}

static void check_whole(const struct walked *good, uint64_t n)
{
	static uintptr_t expected[STACK_MAX], got[STACK_MAX];
	uint32_t count = callers(good, expected);

	if (w.root && (callers(&w, got) != count || memcmp(got, expected, count * sizeof(*got)) != 0))
		fail_msg("load %llu fails: root, but %u callers of %u", (unsigned long long)n,
			 callers(&w, got), count);
}

static void one_load_fails(struct fake_stack *s, const struct walk_regs *regs, bool cached)
{
	static struct walked good;
	uint64_t n, all;

	atomic_store(&jvm.zone.cache, cached ? cache : NULL);
	loads = fail_at = 0;
	stack_walk(&jvm, s, regs, &w);
	all = loads;
	good = w;
	assert_true(w.root);
	assert_true(all > 10);
	for (n = 1; n <= all; n++) {
		if (cached)
			memset(cache, 0, offsetof(struct decode_cache, size));
		loads = 0;
		fail_at = n;
		stack_walk(&jvm, s, regs, &w);
		check_end("failing load", n);
		check_methods(n);
		/* A method at its entry is only known by its register: unreadable, it is none. */
		if (!regs)
			check_whole(&good, n);
	}
	for (n = 1; n <= all; n++) {
		loads = fail_at = 0;
		every = n;
		stack_walk(&jvm, s, regs, &w);
		check_end("every", n);
		check_methods(n);
	}
	every = 0;
}

static void failing_loads(void **state)
{
	enum fake_shape shape;

	for (shape = 0; shape < FAKE_SHAPES; shape++) {
		struct fake_stack s;
		struct walk_regs r = {0};

		open_jvm(shape);
		full_stack(&s);
		one_load_fails(&s, NULL, false);
		one_load_fails(&s, NULL, true);
		/* The same with other innermost frames. */
		stack_begin(&s, &jvm);
		stack_interpreted(&s, a, 5, 1);
		stack_compiled(&s, beta + 30, 4);
		one_load_fails(&s, NULL, true);
		s.pc = beta + 40;
		stack_compiled(&s, stub + 16, 8);
		one_load_fails(&s, NULL, true);
		stack_begin(&s, &jvm);
		stack_interpreted(&s, a, 5, 1);
		*fake_at(s.sp - 8) = s.pc;
		r = (struct walk_regs){.pc = fake_interpreter(&jvm, 64), .sp = s.sp - 8, .fp = s.fp,
				       .bcp = s.sp, .sender_sp = s.sp, .method = b};
		one_load_fails(&s, &r, false);
		close_jvm();
	}
}

/* ---- random ---- */

static uint64_t random_state = 20;

static uint64_t draw(void)
{
	return random_state = hash_mix(random_state + 0x9e3779b97f4a7c15ull);
}

/* A value that leads somewhere, more often than not. */
static uint64_t interesting(void)
{
	uint64_t r = draw();

	switch (r >> 8 & 15) {
	case 0: return jvm.stack_low + r % (FAKE_STACK_WORDS * 8);
	case 1: return jvm.stack_low + r % FAKE_STACK_WORDS * 8;
	case 2: return jvm.stack_high - r % 4096 / 8 * 8;
	case 3: return alpha + r % 256;
	case 4: return beta + r % 128;
	case 5: return (r & 1 ? stub : leaf) + r % 64;
	case 6: return fake_interpreter(&jvm, (uint32_t)(r % 16384));
	case 7: return jvm.code + r % FAKE_CODE_BYTES;
	case 8: return jvm.meta + r % 200;
	case 9: return r & 1 ? a : r & 2 ? b : native;
	case 10: return jvm.meta + r % (192 * 1024) / 8 * 8;
	case 11: return jvm.call_stub;
	case 12: return r % 4096;
	case 13: return jvm.java_thread + r % 1024;
	case 14: return UINT64_MAX - r % 64;
	default: return r;
	}
}

static void random_registers(struct walk_regs *r, ucontext_t *all)
{
	int i;

	for (i = 0; i < NGREG; i++)
		all->uc_mcontext.gregs[i] = (greg_t)interesting();
	r->pc = interesting();
	r->sp = draw() % 4 ? jvm.stack_high - 8 - draw() % 2000 * 8 : interesting();
	r->fp = draw() % 2 ? r->sp + draw() % 64 * 8 : interesting();
	r->bcp = r->sender_sp = interesting();
	r->method = interesting();
	r->ret = interesting();
	r->all = draw() % 8 ? all : NULL;
}

/* Overwrite some of the JVM's own data. */
static void damage(uint64_t times)
{
	while (times--) {
		uint64_t r = draw(), value = interesting();
		static const uint8_t sizes[] = {1, 2, 4, 8};
		uintptr_t at = r & 1 ? jvm.code + draw() % ((uint64_t)jvm.segments * 128)
			     : r & 2 ? jvm.meta + draw() % (jvm.meta_used - jvm.meta)
			     : r & 4 ? jvm.segmap + draw() % 2048
				     : (r & 8 ? alpha : beta) - 144 + draw() % 600;
		unsigned size = sizes[r >> 4 & 3];

		if (draw() % 2)
			value = draw() >> draw() % 64;
		memcpy((void *)at, &value, size);
	}
}

static void random_walks(void **state)
{
	const uint32_t walks = 120000;
	static uint8_t pristine[FAKE_BYTES];
	uint64_t roots = 0, deepest = 0, frames = 0;
	enum fake_shape shape;
	uint32_t i, j;

	for (shape = 0; shape < FAKE_SHAPES; shape++) {
		struct fake_stack s;

		open_jvm(shape);
		full_stack(&s);
		memcpy(pristine, jvm.memory, FAKE_BYTES);
		for (i = 0; i < walks / FAKE_SHAPES; i++) {
			ucontext_t all;
			struct walk_regs r;

			if (i % 64 == 0) {
				memcpy(jvm.memory, pristine, FAKE_BYTES);
				memset(cache, 0, offsetof(struct decode_cache, size));
			}
			/* The part of the stack that walks begin in: a few or many words of it are wrong. */
			memcpy(jvm.stack + FAKE_STACK_WORDS - 2000,
			       pristine + FAKE_BYTES - 2000 * 8, 2000 * 8);
			for (j = (uint32_t)(draw() % 4 ? draw() % 8 : draw() % 400); j > 0; j--)
				jvm.stack[FAKE_STACK_WORDS - 1 - draw() % 2000] = interesting();
			if (i % 4 == 3)
				damage(i % 16);
			random_registers(&r, &all);
			if (draw() % 4) { /* from the place where the good walk begins */
				r.pc = s.pc;
				r.sp = s.sp;
				r.fp = s.fp;
			}
			jvm.record.stack_high = draw() % 8 ? jvm.stack_high : 0;
			jvm.zone.depth = (uint32_t)(draw() % 8 ? 2048 : 1 + draw() % 40);
			atomic_store(&jvm.record.java_thread, draw() % 2 ? jvm.java_thread : interesting());
			atomic_store(&jvm.zone.cache, draw() % 2 ? cache : NULL);
			loads = 0;
			every = draw() % 16 ? 0 : 1 + draw() % 100;
			stack_walk(&jvm, NULL, &r, &w);
			check_end("walk", i);
			roots += w.root;
			frames += w.count;
			deepest = MAX(deepest, w.count);
		}
		close_jvm();
	}
	/* They went somewhere. */
	assert_true(roots > walks / 50 && roots < walks);
	assert_true(deepest > 100 && frames > 2 * walks);
}

static int open_store(void **state)
{
	stack_open_store();
	return 0;
}

static int close_store(void **state)
{
	stack_close_store();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failing_loads), cmocka_unit_test(random_walks),
	};

	return cmocka_run_group_tests(tests, open_store, close_store);
}
