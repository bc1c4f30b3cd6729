/*
 * A virtual thread's frames in a chunk on the heap: found on each way that JVMs have, and nothing shown where the way
 * has something wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "agent/hooks/faults.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "fake_stack.h"

/* Offsets of the fake objects. */
enum { MARK = 0, CLASS = 8, SUPER = 40, TAIL = 16, CONT = 16, PARENT = 16, CHUNK_SIZE = 24, CHUNK_SP = 28, BOTTOM = 32,
       STACK = 40, ENTRY_PARENT = 8, ENTRY_CONT = 16, CONT_ENTRY = 704, VTHREAD = 712, ACTIVE = 0, COLLECTIONS = 4 };

#define CHUNK_WORDS 400u
#define SHIFT 4 /* of coloured pointers */

static struct fake_jvm jvm;
static struct {
	uintptr_t enter, alpha, beta, special;         /* Method* */
	uintptr_t enter_pc, alpha_pc, special_pc;      /* return addresses in them */
	uintptr_t barrier;                             /* code of the stub */
	uintptr_t cont, thread, entry, heap, classes;  /* objects; classes: Klass of chunks */
	uintptr_t inner, outer;                        /* chunks */
	uintptr_t return_pc, bad, slot;                /* variables of the JVM */
	size_t shift;
	struct fake_stack s;                           /* on the carrier's stack */
	struct stub_set *stubs;
} t;

static uintptr_t holder_of(uintptr_t m)
{
	const struct layout *l = &jvm.zone.layout;
	uintptr_t pool = *fake_at(*fake_at(m + (uintptr_t)l->method_const) + (uintptr_t)l->const_pool);

	return *fake_at(pool + (uintptr_t)l->pool_holder);
}

static uintptr_t object(uint32_t bytes, uintptr_t class)
{
	uintptr_t o = fake_room(&jvm, bytes);

	*fake_at(o + CLASS) = class;
	*fake_at(o + MARK) = 1;
	return o;
}

static uintptr_t code_of(uintptr_t method, int level)
{
	const struct fake_code code = {.method = method, .level = level, .frame_words = 6, .frame_complete = 9,
				       .scopes = {{0, method, 7}}, .pcs = {{64, 1}}};

	return fake_nmethod(&jvm, &code) + 64;
}

static void put32(uintptr_t at, uint32_t value)
{
	memcpy((void *)at, &value, sizeof(value));
}

/* A chunk in the memory of the stack, that ends at END. */
static uintptr_t chunk_at(uintptr_t end, uintptr_t parent)
{
	uintptr_t c = end - CHUNK_WORDS * 8 - STACK;

	*fake_at(c + MARK) = 1;
	*fake_at(c + CLASS) = t.classes;
	*fake_at(c + PARENT) = parent;
	put32(c + CHUNK_SIZE, CHUNK_WORDS);
	put32(c + CHUNK_SP, CHUNK_WORDS);
	put32(c + BOTTOM, CHUNK_WORDS);
	return c;
}

static struct fake_stack bottom_of(uintptr_t chunk)
{
	return (struct fake_stack){.jvm = &jvm, .sp = chunk + STACK + CHUNK_WORDS * 8, .pc = 0};
}

/* The frames of S are those of CHUNK. LINK: how far to the fp of the innermost one, if that is interpreted. */
static void freeze(uintptr_t chunk, const struct fake_stack *s)
{
	*fake_at(s->sp - 8) = s->pc;
	*fake_at(s->sp - 16) = (s->fp - (s->sp - 16)) / 8;
	put32(chunk + CHUNK_SP, (uint32_t)((s->sp - chunk - STACK) / 8));
}

/* METHOD is interpreted in a chunk: what its frame says of places is relative. BELOW: so is what it was called by. */
static void frozen_interpreted(struct fake_stack *s, uintptr_t method, uint32_t bci, bool below)
{
	uintptr_t callers = s->fp, sender = s->sp, fp;

	stack_interpreted(s, method, bci, 2);
	fp = s->fp;
	*fake_at(fp) = below ? (callers - fp) / 8 : 0x77;
	*fake_at(fp - 8) = (sender - fp) / 8;
	*fake_at(fp + (uintptr_t)((intptr_t)(jvm.zone.layout.bcp_slot + 1) * 8)) = (sender - 8 - fp) / 8;
}

static void lay_out(void)
{
	struct layout *l = &jvm.zone.layout;

	l->oop_class = CLASS;
	l->klass_super = SUPER;
	l->thread_cont_entry = CONT_ENTRY;
	l->thread_vthread = VTHREAD;
	l->heap_active = ACTIVE;
	l->heap_collections = COLLECTIONS;
	l->cont_return_pc = (uintptr_t)&t.return_pc;
	l->frozen = (struct frozen_layout){
		.at = {.thread_cont = CONT, .cont_tail = TAIL, .chunk_parent = PARENT, .chunk_size = CHUNK_SIZE,
		       .chunk_sp = CHUNK_SP, .chunk_bottom = BOTTOM, .chunk_argsize = -1,
		       .continuation = holder_of(t.enter)},
		.stack = STACK, .heap = t.heap, .bad = &t.bad, .address_shift = &t.shift,
	};
	l->frozen.at.chunk = t.classes;
	l->frozen.at.thread = holder_of(t.beta);
	atomic_store(&l->frozen.ready, true);
	atomic_store(&l->enter_special, fake_blob_of(&jvm, t.special_pc - 64));
}

static void make_code(void)
{
	t.enter = fake_method(&jvm, "jdk/internal/vm/Continuation", "enter", "()V", 50);
	t.special = fake_method(&jvm, "jdk/internal/vm/Continuation", "enterSpecial", "()V", 0);
	t.alpha = fake_method(&jvm, "pkg/A", "alpha", "()V", 100);
	t.beta = fake_method(&jvm, "pkg/B", "beta", "()V", 100);
	t.enter_pc = code_of(t.enter, 4);
	t.alpha_pc = code_of(t.alpha, 4);
	t.special_pc = code_of(t.special, 0);
	t.barrier = fake_stub(&jvm, 0, -1, (const uint8_t[]){0x90}, 1);
	t.stubs = calloc(1, sizeof(*t.stubs) + sizeof(t.stubs->stubs[0]));
	t.stubs->count = 1;
	t.stubs->stubs[0] = (struct stub){.start = t.barrier, .end = t.barrier + 16, .name = "barrier", .frozen = true};
	atomic_store(&jvm.zone.stubs, t.stubs);
}

/* enter() and alpha() in the outer chunk, beta(), interpreted, twice in the inner one, alpha() runs. */
static int set_up(void **state)
{
	struct fake_stack s;

	struct error err;

	(void)state;
	memset(&t, 0, sizeof(t));
	assert_int_equal(faults_install(&err), 0);
	stack_open_store();
	fake_open(&jvm, FAKE_YOUNG);
	make_code();
	t.return_pc = t.special_pc;
	t.shift = SHIFT;
	t.bad = 1;
	t.heap = fake_room(&jvm, 64);
	t.classes = fake_room(&jvm, 64);
	t.cont = object(64, holder_of(t.enter));
	t.thread = object(64, holder_of(t.beta));
	t.outer = chunk_at(jvm.stack_high - 64, 0);
	t.inner = chunk_at(t.outer - 64, t.outer);
	t.entry = t.inner - 512;
	*fake_at(t.cont + TAIL) = t.inner;
	*fake_at(t.entry + ENTRY_PARENT) = 0;
	*fake_at(t.entry + ENTRY_CONT) = t.cont;
	*fake_at(jvm.java_thread + CONT_ENTRY) = t.entry;
	lay_out();

	s = bottom_of(t.outer);
	stack_compiled(&s, t.enter_pc, 6);
	stack_compiled(&s, t.alpha_pc, 6);
	freeze(t.outer, &s);
	s = bottom_of(t.inner);
	frozen_interpreted(&s, t.beta, 11, false);
	frozen_interpreted(&s, t.beta, 22, true);
	freeze(t.inner, &s);
	t.s = (struct fake_stack){.jvm = &jvm, .sp = t.entry, .pc = t.barrier};
	stack_compiled(&t.s, t.alpha_pc - 1, 6);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	faults_remove();
	free(t.stubs);
	fake_close(&jvm);
	stack_close_store();
	return 0;
}

#define C2(m) frame_java(FRAME_C2, m, 7)
#define WRAPPER(m) frame_java(FRAME_WRAPPER, m, 7)
#define I(bci) frame_java(FRAME_INTERPRETED, t.beta, bci)

static void is_whole(void)
{
	const uint64_t expected[] = {C2(t.alpha), I(22), I(11), C2(t.alpha), C2(t.enter),
				     WRAPPER(t.special), frame_other(OTHER_VIRTUAL, 0)};
	static struct walked w;

	stack_walk(&jvm, &t.s, NULL, &w);
	if (w.count != ARRAY_LEN(expected) || !w.root || memcmp(w.frame, expected, sizeof(expected)))
		fail_msg("%u frames, root %d, the last %llx", w.count, w.root,
			 (unsigned long long)w.frame[w.count - 1]);
}

/* FRAMES are shown, and then why there are no more. */
static void ends(enum walk_end why, uint32_t frames)
{
	static struct walked w;

	stack_walk(&jvm, &t.s, NULL, &w);
	if (w.root || w.count != frames + 1 || w.frame[frames] != frame_other(OTHER_END, why))
		fail_msg("%u frames, root %d, the last %llx; expected %u and %u", w.count, w.root,
			 (unsigned long long)w.frame[w.count - 1], frames, why);
}

static void whole(void **state)
{
	(void)state;
	is_whole();
}

static void empty_chunks(void **state)
{
	uintptr_t end = t.entry - 4096, first = chunk_at(end, t.inner);

	(void)state;
	*fake_at(t.cont + TAIL) = first;
	is_whole();
	/* And for ever. */
	*fake_at(first + PARENT) = first;
	ends(END_moving, 1);
}

static void frames_for_ever(void **state)
{
	static struct walked w;

	(void)state;
	*fake_at(t.outer + PARENT) = t.inner;
	jvm.zone.depth = 100;
	stack_walk(&jvm, &t.s, NULL, &w);
	assert_int_equal(w.count, 100);
	assert_true(w.frame[99] == frame_other(OTHER_END, END_truncated));
}

static void forwarded(void **state)
{
	(void)state;
	jvm.zone.layout.frozen.mover = MOVES_FORWARDED;
	is_whole();
	/* An old copy, of which only the mark word is looked at. */
	*fake_at(t.entry + ENTRY_CONT) = object(64, 0);
	*fake_at(*fake_at(t.entry + ENTRY_CONT) + MARK) = t.cont | 3;
	is_whole();
}

static uintptr_t coloured(uintptr_t o)
{
	return o << SHIFT | 2;
}

static void colours(void **state)
{
	struct frozen_layout *z = &jvm.zone.layout.frozen;

	(void)state;
	z->mover = MOVES_COLOURED;
	t.slot = coloured(t.thread);
	*fake_at(jvm.java_thread + VTHREAD) = (uintptr_t)&t.slot;
	*fake_at(t.thread + CONT) = coloured(t.cont);
	*fake_at(t.cont + TAIL) = coloured(t.inner);
	*fake_at(t.inner + PARENT) = coloured(t.outer);
	*fake_at(t.outer + PARENT) = 7; /* NULL, of another colour */
	is_whole();
	*fake_at(t.cont + TAIL) |= 1;
	ends(END_moving, 1);
	*fake_at(t.cont + TAIL) = coloured(t.inner);
	*fake_at(t.inner + PARENT) |= 1;
	ends(END_moving, 3);
	*fake_at(t.inner + PARENT) = coloured(t.outer);
	*fake_at(t.entry + ENTRY_CONT) = 0x8888; /* stale, or another continuation's entry */
	ends(END_moving, 1);
	*fake_at(t.entry + ENTRY_CONT) = t.cont;
	t.slot = coloured(t.cont); /* the carrier's own thread, say */
	ends(END_moving, 1);
	/* Bits of the address. */
	z->mover = MOVES_MARKED;
	z->address_shift = NULL;
	t.slot = t.thread;
	*fake_at(t.thread + CONT) = t.cont;
	*fake_at(t.cont + TAIL) = t.inner;
	*fake_at(t.inner + PARENT) = t.outer;
	*fake_at(t.outer + PARENT) = 0;
	is_whole();
}

static void narrow(void **state)
{
	struct frozen_layout *z = &jvm.zone.layout.frozen;
	uintptr_t base = (uintptr_t)jvm.memory & ~0xfffull;

	(void)state;
	z->narrow_oops = true;
	z->oop_base = base;
	z->oop_shift = 3;
	*fake_at(t.cont + TAIL) = 0xffffffff00000000ull | (t.inner - base) >> 3;
	put32(t.inner + PARENT, (uint32_t)((t.outer - base) >> 3));
	is_whole();
	z->narrow_classes = true;
	z->class_base = base;
	z->class_shift = 0;
	jvm.zone.layout.oop_narrow_class = CLASS;
	put32(t.cont + CLASS, (uint32_t)(holder_of(t.enter) - base));
	put32(t.inner + CLASS, (uint32_t)(t.classes - base));
	put32(t.outer + CLASS, (uint32_t)(t.classes - base));
	is_whole();
	z->class_in_mark = true;
	z->mark_shift = 32;
	*fake_at(t.cont + MARK) = (holder_of(t.enter) - base) << 32 | 1;
	*fake_at(t.inner + MARK) = *fake_at(t.outer + MARK) = (t.classes - base) << 32 | 1;
	is_whole();
}

static void freezing(void **state)
{
	(void)state;
	*fake_at(jvm.java_thread + 512) = t.entry; /* the last Java frame: the entry */
	ends(END_freezing, 1);
}

/* alpha() calls doYield(): it is on the stack, and, once the chunk's sp is set, there, too. */
static void yielding(void **state)
{
	uintptr_t yield = fake_method(&jvm, "jdk/internal/vm/Continuation", "doYield", "()I", 0);
	const struct layout *l = &jvm.zone.layout;
	uint64_t expected[] = {WRAPPER(yield), C2(t.alpha), I(22), I(11), C2(t.alpha),
			       C2(t.enter), WRAPPER(t.special),
			       frame_other(OTHER_VIRTUAL, 0)};
	uintptr_t pool = *fake_at(*fake_at(yield + (uintptr_t)l->method_const) + (uintptr_t)l->const_pool);
	struct fake_stack s = bottom_of(t.inner);
	static struct walked w;
	int frozen;

	(void)state;
	*fake_at(pool + (uintptr_t)l->pool_holder) = holder_of(t.enter);
	t.s.pc = t.alpha_pc;
	stack_compiled(&t.s, code_of(yield, 0) - 1, 6);
	*fake_at(jvm.java_thread + 512) = t.entry;
	for (frozen = 0; frozen < 2; frozen++) {
		stack_walk(&jvm, &t.s, NULL, &w);
		assert_int_equal(w.count, ARRAY_LEN(expected));
		assert_true(w.root);
		assert_memory_equal(w.frame, expected, sizeof(expected));
		frozen_interpreted(&s, t.beta, 11, false);
		frozen_interpreted(&s, t.beta, 22, true);
		*fake_at(s.sp - 16) = (s.fp - (s.sp - 16)) / 8;
		stack_compiled(&s, t.alpha_pc, 6);
		*fake_at(s.sp + 6 * 8 - 16) = (s.fp = *fake_at(s.sp + 6 * 8 - 16), (s.fp - (s.sp + 32)) / 8);
		freeze(t.inner, &s);
	}
}

static void thawing(void **state)
{
	const uint64_t expected[] = {frame_pc(FRAME_NATIVE, t.barrier + 1), frame_other(OTHER_END, END_freezing), I(22),
				     I(11), C2(t.alpha), C2(t.enter), WRAPPER(t.special),
				     frame_other(OTHER_VIRTUAL, 0)};
	static struct walked w;

	(void)state;
	t.s.pc = t.barrier + 1;
	t.s.sp = t.entry - 64;
	stack_walk(&jvm, &t.s, NULL, &w);
	assert_int_equal(w.count, ARRAY_LEN(expected));
	assert_memory_equal(w.frame, expected, sizeof(expected));
	/* In the stub that a thread is brought back by, from its first instruction on; it has no return address. */
	t.stubs->stubs[0].frozen = false;
	t.stubs->stubs[0].thaws = true;
	t.stubs->barrier = t.barrier;
	for (t.s.pc = t.barrier; t.s.pc < t.barrier + 2; t.s.pc++) {
		stack_walk(&jvm, &t.s, NULL, &w);
		assert_int_equal(w.count, ARRAY_LEN(expected));
		assert_int_equal(w.frame[0], frame_pc(FRAME_NATIVE, t.s.pc));
		assert_memory_equal(w.frame + 1, expected + 1, sizeof(expected) - sizeof(*expected));
	}
	t.s.pc = t.barrier + 1;
	/* All of it is on its way. */
	put32(t.inner + CHUNK_SP, CHUNK_WORDS);
	put32(t.outer + CHUNK_SP, CHUNK_WORDS);
	ends(END_freezing, 1);
}

static void absent(void **state)
{
	(void)state;
	*fake_at(jvm.java_thread + CONT_ENTRY) = 0;
	ends(END_freezing, 1);
	*fake_at(jvm.java_thread + CONT_ENTRY) = t.entry;
	/* A JDK without the empty struct. */
	*fake_at(t.entry + 8) = t.cont;
	*fake_at(t.entry + 16) = 0;
	is_whole();
	atomic_store(&jvm.zone.layout.frozen.ready, false);
	ends(END_frozen, 1);
}

static void wrong(void **state)
{
	(void)state;
	*fake_at(t.heap + ACTIVE) = 1;
	ends(END_moving, 1);
	*fake_at(t.heap + ACTIVE) = 0;
	*fake_at(t.cont + CLASS) = t.classes;
	ends(END_moving, 1);
	*fake_at(t.cont + CLASS) = t.heap;
	*fake_at(t.heap + SUPER) = holder_of(t.enter); /* a class below Continuation */
	is_whole();
	put32(t.inner + CHUNK_SP, CHUNK_WORDS + 1);
	ends(END_moving, 1);
	put32(t.inner + CHUNK_SP, 0);
	ends(END_bad_frozen, 1);
}

static void not_whole(void **state)
{
	(void)state;
	/* The outermost method is none that enterSpecial calls. */
	*fake_at(t.outer + STACK + (CHUNK_WORDS - 7) * 8) = t.alpha_pc;
	ends(END_bad_frozen, 5);
	*fake_at(t.outer + STACK + (CHUNK_WORDS - 7) * 8) = t.barrier;
	ends(END_bad_frozen, 4);
	/* Where enterSpecial goes on, but in the heap. */
	*fake_at(t.outer + STACK + (CHUNK_WORDS - 7) * 8) = t.special_pc;
	ends(END_bad_frozen, 4);
	*fake_at(t.outer + STACK + (CHUNK_WORDS - 7) * 8) = 0x1234;
	ends(END_bad_frozen, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(empty_chunks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(frames_for_ever, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forwarded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(colours, set_up, tear_down),
		cmocka_unit_test_setup_teardown(narrow, set_up, tear_down),
		cmocka_unit_test_setup_teardown(freezing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(yielding, set_up, tear_down),
		cmocka_unit_test_setup_teardown(thawing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(absent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_whole, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
