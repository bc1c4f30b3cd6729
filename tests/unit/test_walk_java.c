/*
 * Stacks of a JVM made of plain memory, in all layouts, walked and compared word by word: with
 * an empty cache, none, and a warm one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/hooks/faults.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "fake_stack.h"

static struct fake_jvm jvm;
static struct decode_cache *cache;
static enum fake_shape shape;

/* Methods of all tests. */
static uintptr_t a, b, c, native;

static void new_cache(void)
{
	size_t bytes = sizeof(*cache) + 65536;

	if (cache)
		munmap(cache, sizeof(*cache) + cache->size);
	cache = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(cache, MAP_FAILED);
	cache->size = 65536;
}

static int set_up(void **state)
{
	stack_open_store();
	fake_open(&jvm, shape);
	new_cache();
	a = fake_method(&jvm, "pkg/A", "alpha", "()V", 100);
	b = fake_method(&jvm, "pkg/B", "beta", "(I)I", 50);
	c = fake_method(&jvm, "pkg/C", "gamma", "()J", 60000);
	native = fake_method(&jvm, "pkg/N", "nat", "()V", 0);
	return 0;
}

static int tear_down(void **state)
{
	fake_close(&jvm);
	stack_close_store();
	return 0;
}

#define I(m, bci) frame_java(FRAME_INTERPRETED, m, bci)
#define C1(m, bci) frame_java(FRAME_C1, m, bci)
#define C2(m, bci) frame_java(FRAME_C2, m, bci)
#define IN(m, bci) frame_java(FRAME_INLINED, m, bci)
#define WRAPPER(m) frame_java(FRAME_WRAPPER, m, FRAME_NO_BCI)
#define NATIVE(pc) frame_pc(FRAME_NATIVE, pc)
#define ENDS(why) frame_other(OTHER_END, END_##why)

static void compare(const struct walked *w, const char *how, const uint64_t *expected, uint32_t n, bool root)
{
	uint32_t i;

	for (i = 0; i < n && i < w->count; i++)
		if (w->frame[i] != expected[i])
			fail_msg("shape %d, %s: frame %u of %u is %llx, not %llx", shape, how, i, n,
				 (unsigned long long)w->frame[i], (unsigned long long)expected[i]);
	if (w->count != n || w->root != root)
		fail_msg("shape %d, %s: %u frames, root %d; expected %u, %d; the next is %llx", shape, how,
			 w->count, w->root, n, root,
			 (unsigned long long)(w->count > n ? w->frame[n] : expected[w->count]));
}

static void check(const struct fake_stack *s, const struct walk_regs *regs, const uint64_t *expected,
		  uint32_t n, bool root)
{
	static struct walked w;
	struct error err;

	assert_int_equal(faults_install(&err), 0);
	atomic_store(&jvm.zone.cache, NULL);
	stack_walk(&jvm, s, regs, &w);
	compare(&w, "without cache", expected, n, root);
	new_cache();
	atomic_store(&jvm.zone.cache, cache);
	stack_walk(&jvm, s, regs, &w);
	compare(&w, "cold", expected, n, root);
	stack_walk(&jvm, s, regs, &w);
	compare(&w, "warm", expected, n, root);
	faults_remove();
}

#define CHECK(s, regs, root, ...)                                                    \
	do {                                                                         \
		const uint64_t expected[] = {__VA_ARGS__};                           \
		check(s, regs, expected, ARRAY_LEN(expected), root);                 \
	} while (0)

/* alpha compiled by C2 with beta and gamma inlined at one place, beta alone at another. */
static uintptr_t compiled_alpha(void)
{
	const struct fake_code code = {
		.method = a, .level = 4, .frame_words = 6, .frame_complete = 9,
		.scopes = {{0, a, 7}, {1, b, 300}, {2, c, 59999}, {1, b, 2}, {0, a, -1}, {0, a, 40}},
		.pcs = {{30, 6}, {64, 3}, {100, 4}, {140, 5}, {180, 1}},
	};

	return fake_nmethod(&jvm, &code);
}

static uintptr_t compiled_beta(int level, uint32_t words)
{
	const struct fake_code code = {
		.method = b, .level = level, .frame_words = words, .frame_complete = 12,
		.scopes = {{0, b, 11}, {0, b, 22}},
		.pcs = {{40, 1}, {80, 2}},
	};

	return fake_nmethod(&jvm, &code);
}

static void inlining(void **state)
{
	uintptr_t alpha = compiled_alpha(), beta = compiled_beta(3, 4);
	struct fake_stack s;

	stack_begin(&s, &jvm);
	stack_compiled(&s, alpha + 180, 6);
	stack_compiled(&s, alpha + 64, 6);
	stack_compiled(&s, alpha + 100, 6);
	stack_compiled(&s, alpha + 140, 6);
	stack_compiled(&s, beta + 80, 4);
	/* The innermost is at its next instruction: described by the PcDesc behind it. */
	CHECK(&s, NULL, true, C1(b, FRAME_NO_BCI), C2(a, FRAME_NO_BCI), IN(b, 2), C2(a, 7), IN(c, 59999),
	      IN(b, 300), C2(a, 7), C2(a, 7));
	s.pc = beta + 79;
	CHECK(&s, NULL, true, C1(b, 22), C2(a, FRAME_NO_BCI), IN(b, 2), C2(a, 7), IN(c, 59999), IN(b, 300),
	      C2(a, 7), C2(a, 7));
	s.pc = beta + 41;
	CHECK(&s, NULL, true, C1(b, 22), C2(a, FRAME_NO_BCI), IN(b, 2), C2(a, 7), IN(c, 59999), IN(b, 300),
	      C2(a, 7), C2(a, 7));
}

/* The top frame's own inlining, at each of its pcs. */
static void top_position(void **state)
{
	uintptr_t alpha = compiled_alpha();
	struct fake_stack s;
	int pc;

	stack_begin(&s, &jvm);
	stack_compiled(&s, alpha, 6);
	for (pc = 12; pc < 64; pc++) {
		s.pc = alpha + (uintptr_t)pc;
		if (pc < 30)
			CHECK(&s, NULL, true, C2(a, 40));
		else
			CHECK(&s, NULL, true, IN(c, 59999), IN(b, 300), C2(a, 7));
	}
}

/* What was decoded at one pc is used at those around it, as far as the same scope describes them. */
static void neighbours(void **state)
{
	uintptr_t alpha = compiled_alpha();
	static struct walked w;
	struct fake_stack s;
	uint32_t used;
	int pc;

	atomic_store(&jvm.zone.cache, cache);
	stack_begin(&s, &jvm);
	stack_compiled(&s, alpha, 6);
	s.pc = alpha + 65;
	stack_walk(&jvm, &s, NULL, &w);
	used = atomic_load(&cache->used);
	assert_int_not_equal(used, 0);
	/* A call ends at 100. */
	for (pc = 65; pc <= 98; pc++) {
		s.pc = alpha + (uintptr_t)pc;
		stack_walk(&jvm, &s, NULL, &w);
		compare(&w, "near", (uint64_t[]){IN(b, 2), C2(a, 7)}, 2, true);
	}
	assert_int_equal(atomic_load(&cache->used), used);
	s.pc = alpha + 100;
	stack_walk(&jvm, &s, NULL, &w);
	assert_true(w.root && w.count == 1 && w.frame[0] == C2(a, FRAME_NO_BCI));
	assert_true(atomic_load(&cache->used) > used);
}

static void recursion(void **state)
{
	uintptr_t alpha = compiled_alpha(), beta = compiled_beta(4, 20);
	uint64_t expected[1500];
	struct fake_stack s;
	uint32_t n = 0, i;

	stack_begin(&s, &jvm);
	for (i = 0; i < 300; i++)
		stack_compiled(&s, beta + 40, 20);
	for (i = 0; i < 100; i++)
		stack_compiled(&s, alpha + 64, 6);
	stack_compiled(&s, beta + 20, 20);
	expected[n++] = C2(b, 11);
	for (i = 0; i < 100; i++) {
		expected[n++] = IN(c, 59999);
		expected[n++] = IN(b, 300);
		expected[n++] = C2(a, 7);
	}
	for (i = 0; i < 300; i++)
		expected[n++] = C2(b, 11);
	check(&s, NULL, expected, n, true);
}

static void depth_limit(void **state)
{
	uintptr_t alpha = compiled_alpha(), beta = compiled_beta(4, 20);
	uint64_t expected[64];
	struct fake_stack s;
	uint32_t i;

	stack_begin(&s, &jvm);
	for (i = 0; i < 40; i++)
		stack_compiled(&s, alpha + 64, 6);
	stack_compiled(&s, beta + 20, 20);
	expected[0] = C2(b, 11);
	for (i = 1; i < 20; i++)
		expected[i] = i % 3 == 1 ? IN(c, 59999) : i % 3 == 2 ? IN(b, 300) : C2(a, 7);
	for (i = 2; i < 20; i++) {
		uint64_t last = expected[i - 1];

		jvm.zone.depth = i;
		expected[i - 1] = ENDS(truncated);
		check(&s, NULL, expected, i, false);
		expected[i - 1] = last;
	}
}

static void mixed(void **state)
{
	uintptr_t alpha = compiled_alpha(), beta = compiled_beta(2, 4);
	struct fake_stack s;

	stack_begin(&s, &jvm);
	stack_interpreted(&s, a, 1, 2);
	stack_interpreted(&s, b, 49, 0);
	stack_compiled(&s, alpha + 100, 6);
	stack_compiled(&s, beta + 40, 4);
	stack_interpreted(&s, c, 59999, 3);
	stack_interpreted(&s, native, 0, 1);
	stack_compiled(&s, beta + 80, 4);
	stack_interpreted(&s, a, 99, 0);
	CHECK(&s, NULL, true, I(a, 99), C1(b, 22), I(native, FRAME_NO_BCI), I(c, 59999), C1(b, 11), IN(b, 2),
	      C2(a, 7), I(b, 49), I(a, 1));
}

/* Bytecode pointer: of the innermost frame in its register, and outside of the method: none. */
static void bytecode_pointers(void **state)
{
	struct walk_regs r = {0};
	struct fake_stack s;

	stack_begin(&s, &jvm);
	stack_interpreted(&s, a, 1, 2);
	*fake_at(s.fp + (uintptr_t)((intptr_t)jvm.zone.layout.bcp_slot * 8)) = 0x1234;
	stack_interpreted(&s, b, 5, 2);
	r.pc = s.pc, r.sp = s.sp, r.fp = s.fp;
	r.bcp = fake_bytecode(&jvm, b) + 33;
	CHECK(&s, &r, true, I(b, 33), I(a, FRAME_NO_BCI));
	r.bcp = fake_bytecode(&jvm, b) + 50; /* behind its end */
	CHECK(&s, &r, true, I(b, 5), I(a, FRAME_NO_BCI));
}

/* At the first instructions of an interpreted method its frame does not stand yet. */
static void before_interpreted_frame(void **state)
{
	struct walk_regs r = {0};
	struct fake_stack s;

	stack_begin(&s, &jvm);
	stack_interpreted(&s, a, 1, 2);
	/* Return address still on the stack. */
	*fake_at(s.sp - 8) = s.pc;
	r.pc = fake_interpreter(&jvm, 100);
	r.sp = s.sp - 8;
	r.fp = s.fp;
	r.bcp = r.sender_sp = s.sp;
	r.method = b;
	r.ret = 0x77;
	CHECK(&s, &r, true, I(b, 0), I(a, 1));
	/* Popped into rax, locals pushed. */
	r.sp = s.sp - 32;
	*fake_at(r.sp) = 0;
	r.ret = s.pc;
	CHECK(&s, &r, true, I(b, 0), I(a, 1));
	/* Pushed again, and rbp: the new frame's fp is set. */
	*fake_at(s.sp - 40) = s.pc;
	*fake_at(s.sp - 48) = s.fp;
	r.sp = r.fp = s.sp - 48;
	CHECK(&s, &r, true, I(b, 0), I(a, 1));
}

/* The last instructions of an interpreted method, at each of which its frame is gone: `leave` stands before them. */
static void interpreted_exit(void **state)
{
	static const struct {
		const char *of;
		uint8_t code[16];
		uint8_t at[6]; /* the instructions */
		unsigned steps, pop, set; /* the first one with the address popped, with sp set */
		int sender, ret;
	} exits[] = {
		{"a method", {0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5}, {0, 2, 5}, 3, 1, 2, REG_RBX, REG_R13},
		{"a native one", {0x5f, 0x49, 0x8b, 0xe3, 0xff, 0xe7}, {0, 1, 4}, 3, 1, 2, REG_R11, REG_RDI},
		{"a native one on 25",
		 {0x41, 0xc6, 0x47, 0x40, 0, 0x5f, 0x49, 0x8b, 0xe3, 0xff, 0xe7}, {0, 5, 6, 9}, 4, 2, 3,
		 REG_R11, REG_RDI},
		{"a loop",
		 {0x59, 0x48, 0x8b, 0xe2, 0x48, 0x83, 0xe4, 0xf0, 0x51, 0xff, 0xa3, 0x90, 0, 0, 0}, {0, 1, 4, 8}, 4,
		 1, 2, REG_RDX, REG_RCX},
		{"Reference.get, which has no frame, once it has loaded its field",
		 {0x48, 0x8b, 0x03, 0x49, 0x85, 0x47, 0x48, 0x74, 0, 0x5f, 0x49, 0x8b, 0xe5, 0xff, 0xe7}, {0, 3, 7, 9, 10, 13}, 6,
		 4, 5, REG_R13, REG_RDI},
	};
	uintptr_t alpha = compiled_alpha();
	unsigned e, i;

	for (e = 0; e < ARRAY_LEN(exits); e++)
		for (i = 0; i < exits[e].steps; i++) {
			ucontext_t all = {0};
			greg_t *g = all.uc_mcontext.gregs;
			struct walk_regs r = {.all = &all};
			struct fake_stack s;

			/* A compiled caller: its fp leads to no frame that could be taken for this one. */
			stack_begin(&s, &jvm);
			stack_compiled(&s, alpha + 180, 6);
			*fake_at(s.sp - 24) = s.pc; /* two locals lie between */
			r.pc = fake_interpreter(&jvm, 100) + exits[e].at[i];
			memcpy((void *)fake_interpreter(&jvm, 100), exits[e].code, sizeof(exits[e].code));
			r.fp = s.fp;
			r.sp = i >= exits[e].set ? s.sp : i >= exits[e].pop ? s.sp - 16 : s.sp - 24;
			g[exits[e].sender] = (greg_t)s.sp;
			g[exits[e].ret] = i >= exits[e].pop ? (greg_t)s.pc : 0x77;
			r.bcp = r.sender_sp = (uintptr_t)g[REG_R13];
			r.method = (uintptr_t)g[REG_RBX];
			print_message("%s, step %u\n", exits[e].of, i);
			CHECK(&s, &r, true, C2(a, 7));
		}
}

/*
 * An exception has taken an interpreted frame away: what looks for the handler in its compiled caller runs without a frame,
 * as JDK 25 has it (a soak found it: the caller was left out), at each instruction, and in the routine that it calls.
 */
static void interpreted_throw(void **state)
{
	static const uint8_t code[] = {
		0x41, 0xc6, 0x87, 0xbe, 0x03, 0, 0, 0,             /* 0 mov byte [r15+3be], 0; leave stands before it */
		0x5a, 0x48, 0x8b, 0xe3,                            /* 1 pop rdx; 2 mov rsp, rbx */
		0x49, 0x3b, 0xa7, 0x20, 0x06, 0, 0, 0x72, 0x0b,    /* 3 cmp rsp, [r15+620]; 4 jb */
		0x49, 0xc7, 0x87, 0x20, 0x06, 0, 0, 0, 0, 0, 0,    /* 5 mov qword [r15+620], 0 */
		0x49, 0x8b, 0x87, 0xd8, 0x04, 0, 0,                /* 6 mov rax, [r15+4d8] */
		0x49, 0xc7, 0x87, 0xd8, 0x04, 0, 0, 0, 0, 0, 0,    /* 7 mov qword [r15+4d8], 0 */
		0x50, 0x52, 0x48, 0x8b, 0xf2, 0x49, 0x8b, 0xff,    /* 8 push rax; 9 push rdx; 10 mov rsi, rdx; 11 mov rdi, r15 */
		0x40, 0xf6, 0xc4, 0x0f, 0x0f, 0x84, 0x12, 0, 0, 0, /* 12 test spl, 15; 13 je */
		0x48, 0x83, 0xec, 0x08, 0xe8, 0xf8, 0xe0, 0xc0, 0, /* 14 sub rsp, 8; 15 call */
		0x48, 0x83, 0xc4, 0x08, 0xe9, 0x05, 0, 0, 0,       /* 16 add rsp, 8; 17 jmp */
		0xe8, 0xea, 0xe0, 0xc0, 0,                         /* 18 call, with rsp aligned */
		0x48, 0x8b, 0xd8, 0x5a, 0x58, 0xff, 0xe3,          /* 19 mov rbx, rax; 20 pop rdx; 21 pop rax; 22 jmp rbx */
	};
	static const uint8_t at[] = {0, 8, 9, 12, 19, 21, 32, 39, 50, 51, 52, 55, 58, 62, 68, 72, 77, 81, 86, 91, 94, 95, 96};
	enum { POPPED = 2, SET = 3, RAX_PUSHED = 9, RDX_PUSHED = 10, SHIFTED = 15, BACK = 17, RDX_POPPED = 21, RAX_POPPED };
	uintptr_t alpha = compiled_alpha(), begin = fake_interpreter(&jvm, 100);
	unsigned i;

	assert_int_equal(at[22] + 2, sizeof(code));
	memcpy((void *)begin, code, sizeof(code));
	for (i = 0; i < ARRAY_LEN(at); i++) {
		ucontext_t all = {0};
		greg_t *g = all.uc_mcontext.gregs;
		struct walk_regs r = {.all = &all, .pc = begin + at[i]};
		struct fake_stack s;

		stack_begin(&s, &jvm);
		stack_compiled(&s, alpha + 180, 6);
		*fake_at(s.sp - 24) = i < POPPED ? s.pc : 0x55; /* two locals lie between */
		*fake_at(s.sp - 8) = *fake_at(s.sp - 16) = 0x66;
		if (i >= RDX_PUSHED)
			*fake_at(s.sp - 16) = s.pc;
		r.fp = s.fp;
		r.sp = i < POPPED ? s.sp - 24 : i < SET ? s.sp - 16 : i < RAX_PUSHED ? s.sp :
		       i < RDX_PUSHED ? s.sp - 8 : i < RDX_POPPED ? s.sp - 16 : i < RAX_POPPED ? s.sp - 8 : s.sp;
		if (i >= SHIFTED && i < BACK)
			r.sp -= 8;
		g[REG_RBX] = (greg_t)(i < BACK ? s.sp : 0x88);
		g[REG_RDX] = i >= POPPED && (i < SHIFTED || i >= RDX_POPPED) ? (greg_t)s.pc : 0x77;
		r.method = (uintptr_t)g[REG_RBX];
		print_message("step %u\n", i);
		CHECK(&s, &r, true, C2(a, 7));
	}
}

/* The same of the first method of a thread: what called it is all there is. No stack is without a frame. */
static void first_method_left(void **state)
{
	static const uint8_t code[] = {0x41, 0x5d, 0x48, 0x8b, 0xe3, 0x41, 0xff, 0xe5};
	ucontext_t all = {0};
	struct walk_regs r = {.all = &all, .pc = fake_interpreter(&jvm, 100) + 2};
	struct fake_stack s;

	stack_begin(&s, &jvm);
	memcpy((void *)fake_interpreter(&jvm, 100), code, sizeof(code));
	r.fp = s.fp;
	r.sp = s.sp - 16;
	r.method = s.sp; /* rbx */
	r.bcp = s.pc;    /* r13 */
	all.uc_mcontext.gregs[REG_RBX] = (greg_t)s.sp;
	all.uc_mcontext.gregs[REG_R13] = (greg_t)s.pc;
	CHECK(&s, &r, true, NATIVE(jvm.call_stub));
}

/* What lies where the innermost frame's return address should be is believed only if a call stands before it. */
static void broken_return(void **state)
{
	uintptr_t alpha = compiled_alpha(), beta = compiled_beta(3, 4);
	const uintptr_t wrong[] = {alpha + 33, jvm.meta + 64, 0, 8, UINT64_MAX - 7};
	struct fake_stack s;
	size_t i;

	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		stack_begin(&s, &jvm);
		stack_compiled(&s, alpha + 180, 6);
		stack_compiled(&s, beta + 79, 4);
		*fake_at(s.sp + 24) = wrong[i];
		CHECK(&s, NULL, false, C1(b, 22), ENDS(bad_compiled));
	}
}

/* A method that does not look like one ends the walk. */
static void broken_interpreted(void **state)
{
	static const uint64_t methods[] = {0, 1, 4096, 0xdeadbeef00ull, UINT64_MAX - 7, 1ull << 47};
	struct fake_stack s;
	size_t i;

	for (i = 0; i < ARRAY_LEN(methods); i++) {
		stack_begin(&s, &jvm);
		stack_interpreted(&s, a, 1, 2);
		*fake_at(s.fp - 24) = methods[i];
		stack_interpreted(&s, b, 5, 2);
		CHECK(&s, NULL, false, I(b, 5), ENDS(bad_interpreted));
	}
}

/* Java, native code, and Java again: over the anchor in the call wrapper. */
static void entries(void **state)
{
	uintptr_t alpha = compiled_alpha(), beta = compiled_beta(0, 6);
	struct fake_stack s;

	stack_begin(&s, &jvm);
	stack_interpreted(&s, a, 3, 0);
	stack_compiled(&s, beta + 40, 6); /* a native method's wrapper */
	stack_reenter(&s, false);
	stack_compiled(&s, alpha + 180, 6);
	stack_reenter(&s, true);
	stack_interpreted(&s, b, 4, 0);
	CHECK(&s, NULL, true, I(b, 4), C2(a, 7), frame_java(FRAME_WRAPPER, b, 11), I(a, 3));
}

static void broken_entry(void **state)
{
	struct fake_stack s, inner;
	uintptr_t wrapper;

	stack_begin(&s, &jvm);
	stack_interpreted(&s, a, 3, 0);
	stack_reenter(&s, false);
	wrapper = *fake_at(s.fp - 48);
	inner = s;
	stack_interpreted(&inner, b, 4, 0);
	*fake_at(wrapper + 32) = 8; /* an anchor below: it would lead in a circle */
	CHECK(&inner, NULL, false, I(b, 4), ENDS(bad_entry));
	*fake_at(wrapper + 32) = s.sp;
	*fake_at(wrapper + 48) = jvm.stack_low; /* no code */
	CHECK(&inner, NULL, false, I(b, 4), ENDS(bad_entry));
}

/* Native code that cannot be unwound: the thread's last Java frame goes on. */
static void last_java_frame(void **state)
{
	uintptr_t alpha = compiled_alpha();
	struct fake_stack s;

	stack_begin(&s, &jvm);
	stack_interpreted(&s, a, 3, 0);
	stack_compiled(&s, alpha + 100, 6);
	stack_native(&s, jvm.meta + 64, 20);
	CHECK(&s, NULL, true, NATIVE(jvm.meta + 64), ENDS(bad_native), IN(b, 2), C2(a, 7), I(a, 3));
	/* No last Java frame: the thread is not in native code. */
	*fake_at(jvm.java_thread + 512) = 0;
	CHECK(&s, NULL, false, NATIVE(jvm.meta + 64), ENDS(bad_native));
	atomic_store(&jvm.record.java_thread, 0);
	CHECK(&s, NULL, false, NATIVE(jvm.meta + 64), ENDS(bad_native));
}

/* A deoptimised method's frames are laid down, and not filled: what stands in them is of earlier calls. */
static void laid_down(void **state)
{
	uintptr_t stub = fake_stub(&jvm, 8, 4, NULL, 0);
	struct fake_stack s;

	stack_begin(&s, &jvm);
	stack_interpreted(&s, a, 3, 0);
	stack_compiled(&s, stub + 20, 8);
	stack_native(&s, jvm.meta + 64, 20);
	*fake_at(jvm.java_thread + 640) = jvm.meta;
	CHECK(&s, NULL, false, NATIVE(jvm.meta + 64), ENDS(bad_native), ENDS(bad_interpreted));
	*fake_at(jvm.java_thread + 640) = 0;
	CHECK(&s, NULL, true, NATIVE(jvm.meta + 64), ENDS(bad_native), I(a, 3));
}

static void deoptimised(void **state)
{
	const struct fake_code code = {
		.method = a, .level = 4, .frame_words = 8, .frame_complete = 9,
		.scopes = {{0, a, 7}, {1, b, 30}},
		.pcs = {{64, 2}, {100, 1}},
		.deopt = 200, .orig_pc = 24,
	};
	uintptr_t alpha = fake_nmethod(&jvm, &code), beta = compiled_beta(1, 4);
	struct fake_stack s;

	stack_begin(&s, &jvm);
	stack_compiled(&s, alpha + 200, 8); /* it was at 64 */
	*fake_at(s.sp + 24) = alpha + 64;
	stack_compiled(&s, alpha + 200, 8); /* and this one at 100 */
	*fake_at(s.sp + 24) = alpha + 100;
	stack_compiled(&s, beta + 20, 4);
	CHECK(&s, NULL, true, C1(b, 11), C2(a, 7), IN(b, 30), C2(a, 7));
}

/* A block of code so large that the segment map needs several hops. */
static void large_method(void **state)
{
	const struct fake_code code = {
		.method = a, .level = 4, .frame_words = 4, .frame_complete = 9, .size = 150000,
		.scopes = {{0, a, 7}, {0, a, 8}}, .pcs = {{100, 1}, {149000, 2}},
	};
	uintptr_t alpha = fake_nmethod(&jvm, &code), beta = compiled_beta(1, 4);
	struct fake_stack s;

	stack_begin(&s, &jvm);
	stack_compiled(&s, alpha + 149000, 4);
	stack_compiled(&s, alpha + 100, 4);
	stack_compiled(&s, beta + 20, 4);
	CHECK(&s, NULL, true, C1(b, 11), C2(a, 7), C2(a, 8));
}

/* Code that was freed, and addresses in between. */
static void no_method(void **state)
{
	uintptr_t alpha = compiled_alpha(), beta = compiled_beta(1, 4);
	struct fake_stack s;

	stack_begin(&s, &jvm);
	stack_compiled(&s, alpha + 64, 6);
	stack_compiled(&s, beta + 40, 4);
	stack_compiled(&s, beta + 20, 4);
	*(uint8_t *)(fake_blob_of(&jvm, alpha) - 16 + 8) = 0; /* not used any more */
	CHECK(&s, NULL, false, C1(b, 11), C1(b, 11), ENDS(unknown_nmethod));
	*(uint8_t *)(fake_blob_of(&jvm, alpha) - 16 + 8) = 1;
	*(uint8_t *)(jvm.segmap + (alpha + 64 - jvm.code) / 128) = 0xff;
	CHECK(&s, NULL, false, C1(b, 11), C1(b, 11), ENDS(unknown_nmethod));
}

/* A cached decoding is of the method that stood there: another one compiled to its place is decoded anew. */
static void cache_follows(void **state)
{
	uintptr_t alpha = compiled_alpha(), nm = fake_blob_of(&jvm, alpha);
	static struct walked w;
	struct fake_stack s;
	uint32_t id;

	stack_begin(&s, &jvm);
	stack_compiled(&s, alpha + 180, 6);
	stack_compiled(&s, alpha + 180, 6);
	s.pc = alpha + 179;
	atomic_store(&jvm.zone.cache, cache);
	stack_walk(&jvm, &s, NULL, &w);
	assert_true(w.count == 2 && w.frame[1] == C2(a, 7));
	memcpy(&id, (void *)(nm + (uintptr_t)jvm.zone.layout.nmethod_compile_id), 4);
	id += 1000;
	memcpy((void *)(nm + (uintptr_t)jvm.zone.layout.nmethod_compile_id), &id, 4);
	memset((void *)(nm + (uintptr_t)jvm.zone.layout.nmethod_comp_level), 0, 1);
	*(uint8_t *)(nm + (uintptr_t)jvm.zone.layout.nmethod_comp_level) = 2;
	stack_walk(&jvm, &s, NULL, &w);
	assert_true(w.root && w.count == 2 && w.frame[0] == C1(a, 7) && w.frame[1] == C1(a, 7));
}

/* Far more distinct pcs than the cache has room for. */
static void cache_overflows(void **state)
{
	uintptr_t alpha = compiled_alpha();
	static struct walked w;
	struct fake_stack s;
	uint32_t round, pc;

	atomic_store(&jvm.zone.cache, cache);
	stack_begin(&s, &jvm);
	stack_compiled(&s, alpha, 6);
	for (round = 0; round < 400; round++) {
		*(uint32_t *)(fake_blob_of(&jvm, alpha) + (uintptr_t)jvm.zone.layout.nmethod_compile_id) += 1;
		for (pc = 12; pc < 64; pc++) {
			s.pc = alpha + pc;
			stack_walk(&jvm, &s, NULL, &w);
			assert_true(w.root);
			assert_int_equal(w.count, pc < 30 ? 1 : 3);
			assert_true(w.frame[w.count - 1] == C2(a, pc < 30 ? 40 : 7));
		}
	}
	assert_true(atomic_load(&cache->used) + 200 > cache->size);
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(inlining), T(top_position), T(neighbours), T(recursion), T(depth_limit), T(mixed),
		T(bytecode_pointers), T(before_interpreted_frame), T(interpreted_exit), T(interpreted_throw),
		T(first_method_left),
		T(broken_return), T(broken_interpreted), T(entries), T(broken_entry), T(last_java_frame),
		T(laid_down), T(deoptimised), T(large_method), T(no_method), T(cache_follows),
		T(cache_overflows),
	};
	int failed = 0;

	for (shape = 0; shape < FAKE_SHAPES; shape++)
		failed += cmocka_run_group_tests_name(shape == FAKE_FIRST    ? "JDK 8"
						      : shape == FAKE_OLD    ? "JDK 17"
						      : shape == FAKE_MIDDLE ? "JDK 23"
									     : "JDK 25",
						      tests, NULL, NULL);
	return failed;
}
