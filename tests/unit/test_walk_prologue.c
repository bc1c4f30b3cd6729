/*
 * The innermost frame at every instruction: compiled methods while they build their frame and take
 * it down, as HotSpot's compilers write them, and stubs.
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

static struct fake_jvm jvm;
static uintptr_t a, b;

static int set_up(void **state)
{
	stack_open_store();
	fake_open(&jvm, FAKE_YOUNG);
	a = fake_method(&jvm, "pkg/A", "alpha", "()V", 100);
	b = fake_method(&jvm, "pkg/B", "beta", "(I)I", 50);
	return 0;
}

static int tear_down(void **state)
{
	stub_set_free((struct stub_set *)atomic_load(&jvm.zone.stubs));
	fake_close(&jvm);
	stack_close_store();
	return 0;
}

/* What an instruction does to the stack. */
enum does { NOTHING, DESCRIBED, /* that, behind a call which never returns and has debug information */ PUSH, SUB, SAVE, ADD, POP, RET, CLOBBER, LEAVE, MOVE, BODY };

struct insn {
	uint8_t length;
	uint8_t bytes[11];
	uint8_t does;
	uint16_t amount;
};

#define BANG {7, {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff}, NOTHING, 0}
#define PUSH_RBP {1, {0x55}, PUSH, 0}
#define SUB8(n) {4, {0x48, 0x83, 0xec, n}, SUB, n}
#define SUB32(n) {7, {0x48, 0x81, 0xec, (n) & 0xff, (n) >> 8, 0, 0}, SUB, n}
#define SAVE_RBP(n) {5, {0x48, 0x89, 0x6c, 0x24, n}, SAVE, n}
#define BARRIER {8, {0x41, 0x81, 0x7f, 0x20, 1, 0, 0, 0}, NOTHING, 0}
#define JNE {6, {0x0f, 0x85, 0x10, 0, 0, 0}, NOTHING, 0}
#define WORK(length) {length, {0x48, 0x8b, 0x44, 0x24, 0x08, 0x01, 0x02}, BODY, 0}
#define OVERWRITE_RBP {3, {0x48, 0x89, 0xc5}, CLOBBER, 0}
#define ADD8(n) {4, {0x48, 0x83, 0xc4, n}, ADD, n}
#define ADD32(n) {7, {0x48, 0x81, 0xc4, (n) & 0xff, (n) >> 8, 0, 0}, ADD, n}
#define POP_RBP {1, {0x5d}, POP, 0}
#define POLL {7, {0x49, 0x3b, 0xa7, 0x78, 3, 0, 0}, NOTHING, 0}
#define POLL_NEAR {4, {0x49, 0x3b, 0x67, 0x28}, NOTHING, 0}
#define JA {6, {0x0f, 0x87, 0x40, 0, 0, 0}, NOTHING, 0}
#define RETURN {1, {0xc3}, RET, 0}
#define POLL_11 {7, {0x4d, 0x8b, 0x97, 0x08, 1, 0, 0}, NOTHING, 0}
#define TEST_11 {3, {0x41, 0x85, 0x02}, NOTHING, 0}
#define POLL_8 {6, {0x85, 0x05, 0x10, 0x20, 0x30, 0x00}, NOTHING, 0}
/* Where the poll goes: JavaThread::_saved_exception_pc = its address, then the common handler. */
#define POLL_PC(does) {10, {0x49, 0xba, 0x10, 0x20, 0x30, 0x40, 0x50, 0x7f, 0, 0}, does, 0}
#define POLL_ON {5, {0xe9, 0x10, 0x20, 0x30, 0}, NOTHING, 0}
#define POLL_STUB(does) POLL_PC(does), {7, {0x4d, 0x89, 0x97, 0x58, 3, 0, 0}, NOTHING, 0}, POLL_ON
#define POLL_STUB_NEAR(does) POLL_PC(does), {4, {0x4d, 0x89, 0x57, 0x58}, NOTHING, 0}, POLL_ON
#define END_OF_CODE {0, {0}, NOTHING, 0}

struct sequence {
	const char *name;
	uint32_t frame_words;
	int complete;          /* number of instructions until the frame stands */
	uint32_t entry;        /* bytes before the verified entry */
	struct insn insn[20];
};

static const struct sequence methods[] = {
	{"C1", 8, 3, 0, {BANG, PUSH_RBP, SUB8(0x30), OVERWRITE_RBP, WORK(5), WORK(7), ADD8(0x30), POP_RBP,
			 POLL, JA, RETURN, END_OF_CODE}},
	{"C1 with barrier", 8, 5, 0, {BANG, PUSH_RBP, SUB8(0x30), BARRIER, JNE, OVERWRITE_RBP, WORK(5),
				      ADD8(0x30), POP_RBP, POLL, JA, RETURN, END_OF_CODE}},
	{"C1 large", 34, 3, 0, {BANG, PUSH_RBP, SUB32(0x100), OVERWRITE_RBP, WORK(5), ADD32(0x100), POP_RBP,
				POLL, JA, RETURN, END_OF_CODE}},
	{"C2 leaf", 4, 2, 0, {SUB8(0x18), SAVE_RBP(0x10), OVERWRITE_RBP, WORK(5), ADD8(0x10), POP_RBP, POLL,
			      JA, RETURN, END_OF_CODE}},
	{"C2 leaf with barrier", 4, 5, 0, {BANG, SUB8(0x18), SAVE_RBP(0x10), BARRIER, JNE,
					   WORK(5), ADD8(0x10), POP_RBP, POLL, JA, RETURN, END_OF_CODE}},
	{"C2", 6, 3, 0, {BANG, PUSH_RBP, SUB8(0x20), OVERWRITE_RBP, WORK(5), ADD8(0x20), POP_RBP, POLL, JA,
			 RETURN, END_OF_CODE}},
	{"C2 with the poll's stub", 6, 3, 0, {BANG, PUSH_RBP, SUB8(0x20), OVERWRITE_RBP, WORK(5), ADD8(0x20),
					      POP_RBP, POLL, JA, RETURN, POLL_STUB(NOTHING), END_OF_CODE}},
	{"C2 with the poll's stub behind an uncommon trap", 6, 3, 0,
	 {BANG, PUSH_RBP, SUB8(0x20), OVERWRITE_RBP, WORK(5), ADD8(0x20), POP_RBP, POLL, JA, RETURN,
	  POLL_STUB(DESCRIBED), END_OF_CODE}},
	{"C2 of 25 with the same", 4, 2, 0, {SUB8(0x18), SAVE_RBP(0x10), OVERWRITE_RBP, WORK(5), ADD8(0x10), POP_RBP,
					     POLL_NEAR, JA, RETURN, POLL_STUB_NEAR(DESCRIBED), END_OF_CODE}},
	{"C2 with barrier", 6, 5, 0, {BANG, PUSH_RBP, SUB8(0x20), BARRIER, JNE, OVERWRITE_RBP, WORK(5),
				      ADD8(0x20), POP_RBP, POLL, JA, RETURN, END_OF_CODE}},
	{"C2 of 25", 4, 2, 0, {SUB8(0x18), SAVE_RBP(0x10), OVERWRITE_RBP, WORK(5), ADD8(0x10), POP_RBP,
			       POLL_NEAR, JA, RETURN, POLL_STUB(NOTHING), END_OF_CODE}},
	{"C2 of 11", 6, 3, 0, {BANG, PUSH_RBP, SUB8(0x20), OVERWRITE_RBP, WORK(5), ADD8(0x20), POP_RBP,
			       POLL_11, TEST_11, RETURN, END_OF_CODE}},
	{"C2 of 8", 6, 3, 0, {BANG, PUSH_RBP, SUB8(0x20), OVERWRITE_RBP, WORK(5), ADD8(0x20), POP_RBP,
			      POLL_8, RETURN, END_OF_CODE}},
	{"behind an inline cache check", 6, 3, 24, {BANG, PUSH_RBP, SUB8(0x20), OVERWRITE_RBP, WORK(5),
						    ADD8(0x20), POP_RBP, POLL, JA, RETURN, END_OF_CODE}},
};

/* The machine: what sp, fp and the stack are before each instruction. */
struct machine {
	uintptr_t sp, fp;
};
static uint64_t stale; /* what the stack is full of below sp: a return address of earlier calls */

static void execute(struct machine *m, const struct insn *i)
{
	uint32_t n;

	switch (i->does) {
	case PUSH:
		m->sp -= 8;
		*fake_at(m->sp) = m->fp;
		break;
	case SUB:
		m->sp -= i->amount;
		for (n = 0; n < i->amount; n += 8) /* what was there before: return addresses of other calls */
			*fake_at(m->sp + n) = stale;
		break;
	case SAVE:
		*fake_at(m->sp + i->amount) = m->fp;
		break;
	case ADD:
		m->sp += i->amount;
		break;
	case POP:
		m->fp = *fake_at(m->sp);
		m->sp += 8;
		break;
	case CLOBBER:
		m->fp = 0x42;
		break;
	case MOVE:
		m->fp = m->sp;
		break;
	case LEAVE:
		m->sp = m->fp;
		m->fp = *fake_at(m->sp);
		m->sp += 8;
		break;
	}
}

static struct walked w;

static void walk_at(uintptr_t pc, const struct machine *m)
{
	struct fake_stack s = {&jvm, pc, m->sp, m->fp};
	struct error err;

	assert_int_equal(faults_install(&err), 0);
	stack_walk(&jvm, &s, NULL, &w);
	faults_remove();
}

static void expect(const char *what, uintptr_t offset, uint64_t top, uint64_t caller)
{
	if (!w.root || w.count != 2 || w.frame[0] != top || w.frame[1] != caller)
		fail_msg("%s at +%u: root %d, %u frames: %llx %llx", what, (unsigned)offset, w.root,
			 w.count, (unsigned long long)w.frame[0], (unsigned long long)w.frame[1]);
}

/*
 * The method's own frame: at its beginning as the first description says, but nothing inlined; from the last
 * description on nothing is known of where in it: that behind it in memory (250) is another place's.
 */
static void every_instruction(const struct sequence *q)
{
	struct fake_code code = {
		.method = b, .level = 4, .frame_words = q->frame_words, .entry = q->entry,
		.scopes = {{0, b, 11}, {1, a, 7}}, .pcs = {{250, 2}},
	};
	uint8_t bytes[128];
	struct fake_stack s;
	struct machine m;
	const struct insn *i;
	uintptr_t pc;
	unsigned n;

	memset(bytes, 0x90, sizeof(bytes));
	code.byte_count = q->entry;
	for (i = q->insn; i->length; i++) {
		if (i->does == DESCRIBED)
			code.pcs[1] = code.pcs[0], code.pcs[0].offset = (int)code.byte_count;
		memcpy(bytes + code.byte_count, i->bytes, i->length);
		code.byte_count += i->length;
		if (i - q->insn + 1 == q->complete)
			code.frame_complete = (int)code.byte_count;
	}
	code.bytes = bytes;
	pc = fake_nmethod(&jvm, &code);
	stack_begin(&s, &jvm);
	stack_interpreted(&s, a, 1, 0);
	/* The caller's expression stack, in which old return addresses are left from calls before. */
	for (n = 0; n < 8; n++)
		*fake_at(s.sp -= 8) = s.pc;
	/* The call: its return address is pushed. */
	m = (struct machine){s.sp - 8, s.fp};
	stale = s.pc;
	*fake_at(m.sp) = s.pc;
	if (q->entry) {
		walk_at(pc + 8, &m);
		expect(q->name, 8, frame_java(FRAME_C2, b, 11), frame_java(FRAME_INTERPRETED, a, 1));
		pc += q->entry;
	}
	for (i = q->insn; i->length; i++) {
		walk_at(pc, &m);
		expect(q->name, (uintptr_t)(i - q->insn), frame_java(FRAME_C2, b, i - q->insn < q->complete ? 11 : FRAME_NO_BCI),
		       frame_java(FRAME_INTERPRETED, a, 1));
		execute(&m, i);
		pc += i->length;
	}
}

static void compiled_methods(void **state)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(methods); i++)
		every_instruction(&methods[i]);
}

/* A body that ends with inlined code has that innermost, and only there. */
static void inlined_body(void **state)
{
	const uint8_t bytes[] = {0x55,                                      /* push rbp */
				 0x48, 0x83, 0xec, 0x20,                    /* sub rsp, 32 */
				 0x48, 0x8b, 0x44, 0x24, 0x08, 0x01, 0x02,  /* the body: 5, described at 12 */
				 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3};       /* add rsp, 32; pop rbp; ret */
	const struct fake_code code = {
		.method = b, .level = 4, .frame_words = 6, .frame_complete = 5, .bytes = bytes, .byte_count = sizeof(bytes),
		.scopes = {{0, b, 11}, {1, a, 7}}, .pcs = {{12, 2}, {250, 2}},
	};
	static const struct {
		uint8_t at;
		int8_t words; /* that sp lies below the return address */
		bool inlined;
		uint16_t bci;
	} places[] = {{0, 0, false, 11}, {1, 1, false, 11}, {5, 5, true, 11}, {10, 5, true, 11}, {12, 5, false, FRAME_NO_BCI},
		      {16, 1, false, FRAME_NO_BCI}, {17, 0, false, FRAME_NO_BCI}};
	uintptr_t method = fake_nmethod(&jvm, &code), ret;
	struct fake_stack s;
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(places); i++) {
		stack_begin(&s, &jvm);
		stack_interpreted(&s, a, 1, 0);
		*fake_at(ret = s.sp - 8) = s.pc;
		*fake_at(ret - 8) = s.fp;
		walk_at(method + places[i].at, &(struct machine){ret - 8u * (unsigned)places[i].words, s.fp});
		n = places[i].inlined;
		if (!w.root || w.count != 2 + n || (n && w.frame[0] != frame_java(FRAME_INLINED, a, 7)) ||
		    w.frame[n] != frame_java(FRAME_C2, b, places[i].bci) ||
		    w.frame[n + 1] != frame_java(FRAME_INTERPRETED, a, 1))
			fail_msg("at +%u: root %d, %u frames, %llx", places[i].at, w.root, w.count, (unsigned long long)w.frame[0]);
	}
}

/*
 * An intrinsic in the body pushes registers on top of the frame, makes room and takes all off again; the room
 * is full of return addresses that calls before left there.
 */
static void pushed_registers(void **state)
{
	static const struct sequence q = {
		"intrinsic", 6, 2, 0,
		{PUSH_RBP, SUB8(0x20), WORK(5), {1, {0x50}, PUSH, 0}, {2, {0x41, 0x51}, PUSH, 0}, SUB8(0x20), WORK(5),
		 WORK(7), ADD8(0x20), {2, {0x41, 0x59}, POP, 0}, {1, {0x58}, POP, 0}, WORK(5), ADD8(0x20), POP_RBP,
		 RETURN, END_OF_CODE},
	};

	every_instruction(&q);
}

/* ---- stubs ---- */

static void publish(const char *name, uintptr_t start, uint32_t bytes)
{
	const struct stub_set *old = atomic_load(&jvm.zone.stubs);
	struct stub_set *set;

	stubs_note(name, start, start + bytes);
	set = stubs_merge(old);
	assert_non_null(set);
	atomic_store(&jvm.zone.stubs, set);
	stub_set_free((struct stub_set *)old);
}

static const struct sequence stubs[] = {
	{"framed", 0, 0, 0, {PUSH_RBP, {3, {0x48, 0x89, 0xe5}, MOVE, 0}, SUB8(0x20), WORK(5),
			     {1, {0xc9}, LEAVE, 0}, RETURN, END_OF_CODE}},
	{"with endbr64", 0, 0, 0, {{4, {0xf3, 0x0f, 0x1e, 0xfa}, NOTHING, 0}, PUSH_RBP,
				   {3, {0x48, 0x89, 0xe5}, MOVE, 0}, WORK(5), POP_RBP, RETURN, END_OF_CODE}},
	{"leaf", 0, 0, 0, {WORK(5), WORK(7), RETURN, END_OF_CODE}},
};

/* A stub called by compiled code called by interpreted code, at each of its instructions. */
static void bare_stubs(void **state)
{
	const struct fake_code code = {
		.method = b, .level = 4, .frame_words = 6, .frame_complete = 5,
		.scopes = {{0, b, 11}}, .pcs = {{60, 1}},
	};
	uintptr_t method = fake_nmethod(&jvm, &code);
	size_t n;

	for (n = 0; n < ARRAY_LEN(stubs); n++) {
		const struct insn *i;
		uint8_t bytes[64];
		struct fake_stack s;
		struct machine m;
		uint32_t count = 0;
		uintptr_t pc;

		for (i = stubs[n].insn; i->length; i++) {
			memcpy(bytes + count, i->bytes, i->length);
			count += i->length;
		}
		pc = fake_stub(&jvm, 0, -1, bytes, count);
		publish(stubs[n].name, pc, count);
		stack_begin(&s, &jvm);
		stack_interpreted(&s, a, 1, 0);
		stack_compiled(&s, method + 60, 6);
		m = (struct machine){s.sp - 8, s.sp + 4096};
		*fake_at(m.sp) = s.pc;
		for (i = stubs[n].insn; i->length; i++) {
			walk_at(pc, &m);
			if (!w.root || w.count != 3 || w.frame[0] != frame_pc(FRAME_NATIVE, pc) ||
			    w.frame[1] != frame_java(FRAME_C2, b, 11) ||
			    w.frame[2] != frame_java(FRAME_INTERPRETED, a, 1))
				fail_msg("%s, instruction %d: root %d, %u frames", stubs[n].name,
					 (int)(i - stubs[n].insn), w.root, w.count);
			execute(&m, i);
			pc += i->length;
		}
	}
}

/* A stub with a frame between Java frames adds nothing; as the innermost it shows itself. */
static void framed_stubs(void **state)
{
	static const uint8_t bytes[] = {0x48, 0x83, 0xec, 0x38, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xe8};
	const struct fake_code code = {
		.method = b, .level = 1, .frame_words = 6, .frame_complete = 5,
		.scopes = {{0, b, 11}}, .pcs = {{60, 1}},
	};
	uintptr_t method = fake_nmethod(&jvm, &code), stub = fake_stub(&jvm, 8, 4, bytes, sizeof(bytes));
	struct fake_stack s;
	struct machine m;

	stack_begin(&s, &jvm);
	stack_compiled(&s, method + 60, 6);
	stack_compiled(&s, stub + 16, 8);
	m = (struct machine){s.sp, s.fp};
	walk_at(stub + 16, &m);
	expect("innermost", 16, frame_pc(FRAME_NATIVE, stub + 16), frame_java(FRAME_C1, b, 11));
	stack_compiled(&s, method + 20, 6);
	m = (struct machine){s.sp, s.fp};
	walk_at(method + 20, &m);
	expect("between", 20, frame_java(FRAME_C1, b, 11), frame_java(FRAME_C1, b, 11));
	/* Before its frame is lowered. */
	stack_begin(&s, &jvm);
	stack_compiled(&s, method + 60, 6);
	m = (struct machine){s.sp - 8, s.fp};
	*fake_at(m.sp) = s.pc;
	walk_at(stub, &m);
	expect("first instruction", 0, frame_pc(FRAME_NATIVE, stub), frame_java(FRAME_C1, b, 11));
}

/*
 * A stub that the JVM's own code called (the flush of the instruction cache), with a return
 * address of compiled code among what the caller keeps on its stack: the caller is native.
 */
static void stub_called_by_the_jvm(void **state)
{
	static struct image image = {.path = "/lib/fake.so", .name = "fake.so"};
	static struct {
		struct image_set set;
		const struct image *one[1];
	} images = {.one = {&image}};
	static const uint8_t flush[] = {0x0f, 0xae, 0x3f, 0x48, 0x83, 0xc7, 0x40, 0xc3};
	const struct fake_code code = {
		.method = b, .level = 1, .frame_words = 6, .frame_complete = 5,
		.scopes = {{0, b, 11}}, .pcs = {{60, 1}},
	};
	uintptr_t method = fake_nmethod(&jvm, &code), stub = fake_stub(&jvm, 0, -1, flush, sizeof(flush));
	uintptr_t native = fake_room(&jvm, 64) + 32;
	struct fake_stack s;
	struct machine m;

	image.start = native - 32;
	image.end = native + 32;
	images.set.count = 1;
	images.set.images = images.one;
	atomic_store(&jvm.zone.images, &images.set);
	*(uint8_t *)(native - 5) = 0xe8;
	stack_begin(&s, &jvm);
	stack_compiled(&s, method + 60, 6);
	m = (struct machine){s.sp - 32, s.fp};
	*fake_at(m.sp) = native;
	*fake_at(m.sp + 8) = method + 60;
	walk_at(stub + 3, &m);
	assert_true(w.count > 1 && w.frame[0] == frame_pc(FRAME_NATIVE, stub + 3));
	assert_true(w.frame[1] == frame_pc(FRAME_NATIVE, native - 1));
}

/* The rest of a virtual thread's stack is in the heap. */
static void frozen(void **state)
{
	const struct fake_code code = {
		.method = b, .level = 1, .frame_words = 6, .frame_complete = 5,
		.scopes = {{0, b, 11}}, .pcs = {{60, 1}},
	};
	uintptr_t method = fake_nmethod(&jvm, &code), stub = fake_stub(&jvm, 0, -1, NULL, 0);
	struct fake_stack s;
	struct machine m;

	publish("cont_returnBarrier", stub, 64);
	stack_begin(&s, &jvm);
	stack_compiled(&s, stub, 6);
	stack_compiled(&s, method + 20, 6);
	m = (struct machine){s.sp, s.fp};
	walk_at(method + 20, &m);
	assert_false(w.root);
	assert_int_equal(w.count, 2);
	assert_true(w.frame[1] == frame_other(OTHER_END, END_frozen));
}

/* A mounted virtual thread's own stack ends in Continuation.enterSpecial. */
static void virtual_thread(void **state)
{
	const struct fake_code special = {
		.method = a, .level = 0, .frame_words = 10, .frame_complete = 5,
		.scopes = {{0, a, -1}}, .pcs = {{60, 1}},
	};
	const struct fake_code code = {
		.method = b, .level = 1, .frame_words = 6, .frame_complete = 5,
		.scopes = {{0, b, 11}}, .pcs = {{60, 1}},
	};
	uintptr_t enter = fake_nmethod(&jvm, &special), method = fake_nmethod(&jvm, &code);
	struct fake_stack s;
	struct machine m;

	atomic_store(&jvm.zone.layout.enter_special, fake_blob_of(&jvm, enter));
	stack_begin(&s, &jvm);
	stack_compiled(&s, method + 60, 6); /* the carrier's */
	stack_compiled(&s, enter + 60, 10);
	stack_compiled(&s, method + 20, 6);
	m = (struct machine){s.sp, s.fp};
	walk_at(method + 20, &m);
	assert_true(w.root && w.count == 3);
	assert_true(w.frame[0] == frame_java(FRAME_C1, b, 11));
	assert_true(w.frame[1] == frame_java(FRAME_WRAPPER, a, FRAME_NO_BCI));
	assert_true(w.frame[2] == frame_other(OTHER_VIRTUAL, 0));
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(compiled_methods), T(inlined_body), T(pushed_registers), T(bare_stubs), T(framed_stubs),
		T(stub_called_by_the_jvm), T(frozen), T(virtual_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
