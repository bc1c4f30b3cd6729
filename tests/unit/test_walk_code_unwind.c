/* Where code leads from a pc on: how far the stack is from what its blob says, read from the instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "agent/hooks/faults.h"
#include "agent/walk/walk.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "fake_jvm.h"
#include "insn.h"

static struct fake_jvm jvm;
static uintptr_t method;

static int set_up(void **state)
{
	fake_open(&jvm, FAKE_YOUNG);
	method = fake_method(&jvm, "pkg/A", "alpha", "()V", 100);
	return 0;
}

static int tear_down(void **state)
{
	fake_close(&jvm);
	return 0;
}

/* A frame that stands, with nothing on top. */
#define STANDS 0

/* How many bytes further on the first rsp was still there, by the last call of on_top(). */
static uintptr_t same;

/* The way out of a method of 6 words whose code from its middle on is BYTES: what is on top of its frame. */
static int32_t on_top(const uint8_t *bytes, size_t n)
{
	uint8_t code[200];
	struct fake_code c = {.method = method, .level = 4, .frame_words = 6, .frame_complete = 5,
			      .scopes = {{0, method, 1}}, .pcs = {{250, 1}}, .bytes = code};
	struct walk w = {.z = &jvm.zone, .l = &jvm.zone.layout, .top = true};
	struct code_unwind o;
	struct blob b;

	memset(code, 0xf4, sizeof(code)); /* hlt: nothing goes on there */
	memset(code, 0x90, 100);
	memcpy(code + 100, bytes, n);
	c.byte_count = sizeof(code);
	w.pc = fake_nmethod(&jvm, &c) + 100;
	w.sp = jvm.stack_low + 1024;
	w.fp = w.sp + 64;
	*fake_at(w.sp + 8) = w.sp + 96;
	assert_true(code_blob_read(w.l, fake_blob_of(&jvm, w.pc - 100), &b));
	if (!code_unwind(&w, &b, NULL, false, &o) || o.end == UNWIND_AWAY)
		return INT32_MIN;
	same = o.same - w.pc;
	return o.end == UNWIND_STANDING ? o.released : o.released + 8 - 48;
}
#define ON_TOP(...)                                                 \
	({                                                          \
		static const uint8_t code_[] = {__VA_ARGS__};       \
		on_top(code_, sizeof(code_));                       \
	})

#define ADD8(n) 0x48, 0x83, 0xc4, n
#define SUB8(n) 0x48, 0x83, 0xec, n
#define EPILOGUE ADD8(32), 0x5d, 0x49, 0x3b, 0xa7, 0x50, 4, 0, 0, 0x0f, 0x87, 1, 0, 0, 0, 0xc3
#define POP_RAX 0x58
#define POP_R11 0x41, 0x5b
#define RELOAD_R11 0x4c, 0x8b, 0x1c, 0x24
#define RELOAD_RSI 0x48, 0x8b, 0x74, 0x24, 8

/* What compilers of JDK 17 and 25 put on top of a frame, seen from within. */
static void as_compiled(void **state)
{
	assert_int_equal(ON_TOP(EPILOGUE), STANDS);
	assert_int_equal(ON_TOP(0x5d, 0xc3), -32); /* pop rbp; ret: the frame's lower part is gone */
	assert_int_equal(ON_TOP(0xc3), -40);
	/* Behind the call of a barrier's slow path: registers reloaded and popped, back by a jump. */
	assert_int_equal(ON_TOP(RELOAD_RSI, 0xc5, 0xf8, 0x77, ADD8(16), EPILOGUE), 16);
	assert_int_equal(ON_TOP(ADD8(8), 0xe9, 5, 0, 0, 0, 0xe8, 1, 2, 3, 4, RELOAD_R11, ADD8(16), EPILOGUE), 24);
	/* vmovdqu xmm0, xmm1; add rsp, 128; pop r11, r10, rcx; mov rdx, rax; pop rax */
	assert_int_equal(ON_TOP(0xc5, 0xfa, 0x6f, 0x04, 0x24, 0xc5, 0xfa, 0x6f, 0x4c, 0x24, 0x10, 0x48, 0x81, 0xc4,
				0x80, 0, 0, 0, POP_R11, 0x41, 0x5a, 0x59, 0x48, 0x8b, 0xd0, POP_RAX, EPILOGUE),
			 160);
	/* Before the call: what is about to be pushed is no more there than what is taken off again. */
	assert_int_equal(ON_TOP(0x50, 0x41, 0x53, 0xe8, 1, 2, 3, 4, POP_R11, POP_RAX, EPILOGUE), STANDS);
	assert_int_equal(ON_TOP(0x41, 0x53, 0xe8, 1, 2, 3, 4, POP_R11, POP_RAX, EPILOGUE), 8);
	/* push [rsp + 24]; pop [rsp]: from one slot to another; seen from between */
	assert_int_equal(ON_TOP(0x8f, 0x04, 0x24, EPILOGUE), 8);
	/* mov r12, rsp; and rsp, -16; call; mov rsp, r12 */
	assert_int_equal(ON_TOP(0x4c, 0x8b, 0xe4, 0x48, 0x83, 0xe4, 0xf0, 0xe8, 1, 2, 3, 4, 0x49, 0x8b, 0xe4, EPILOGUE),
			 STANDS);
}

/* Branches, loops and dead ends. */
static void ways(void **state)
{
	/* je over hlt; the way straight on ends, the branch goes on */
	assert_int_equal(ON_TOP(0x74, 1, 0xf4, POP_RAX, EPILOGUE), 8);
	/* A loop without another way out than its branch. */
	assert_int_equal(ON_TOP(0x74, 2, 0xeb, 0xfc, POP_RAX, EPILOGUE), 8);
	/* The head of a loop is left straight on. */
	assert_int_equal(ON_TOP(0x90, 0x75, 0xfd, POP_RAX, EPILOGUE), 8);
	/* Nowhere to go, and nothing touches rsp. */
	assert_int_equal(ON_TOP(0xeb, 0xfe), STANDS);
	/* Nowhere to go, but something was pushed on the way. */
	assert_int_equal(ON_TOP(0x50, 0xeb, 0xfe), INT32_MIN);
	/* rsp aligned: it was already; it is not now, and never restored. */
	assert_int_equal(ON_TOP(0x48, 0x83, 0xe4, 0xf0, EPILOGUE), STANDS);
	assert_int_equal(ON_TOP(0x50, 0x48, 0x83, 0xe4, 0xf0, 0x58, EPILOGUE), INT32_MIN);
	/* The sender's sp, kept on the stack meanwhile: mov r13, [rsp + 8]; mov rsp, r13 */
	assert_int_equal(ON_TOP(0x4c, 0x8b, 0x6c, 0x24, 8, 0x49, 0x8b, 0xe5, EPILOGUE), 96);
	/* add rsp, rcx; push rbp; mov rbp, rsp; leave; ret: a frame laid down who knows where (UncommonTrapBlob) */
	assert_int_equal(ON_TOP(0x48, 0x03, 0xe1, 0x55, 0x48, 0x8b, 0xec, 0xc9, 0xc3), INT32_MIN);
	/* jmp [rax]: who knows */
	assert_int_equal(ON_TOP(0x50, 0xff, 0x20), INT32_MIN);
}

/* As far as no instruction moved rsp and none jumped, the way out is the same from each of them. */
static void stretches(void **state)
{
	ON_TOP(0x90, 0x90, POP_RAX, EPILOGUE);
	assert_int_equal(same, 2);                 /* the pop, before it pops */
	ON_TOP(RELOAD_R11, 0x74, 1, 0xf4, POP_RAX, EPILOGUE);
	assert_int_equal(same, 6);                 /* the hlt: behind it the branch's way is gone */
	ON_TOP(0x90, 0xeb, 1, 0xf4, POP_RAX, EPILOGUE);
	assert_int_equal(same, 1);                 /* the jump */
	ON_TOP(0xe8, 0, 0, 0, 0, POP_RAX, EPILOGUE);
	assert_int_equal(same, 0);                 /* a call that only pushes its address */
	ON_TOP(EPILOGUE);
	assert_int_equal(same, 0);
}

/* A stretch is believed at its instructions, for the very nmethod it was found in. */
static void remembered(void **state)
{
	struct frame_state at = {.return_offset = 40, .fp_saved = true, .fixed = true};
	struct fake_code c = {.method = method, .level = 4, .frame_words = 6, .frame_complete = 5};
	struct decode_cache *cache = test_calloc(1, sizeof(*cache) + 4096);
	uintptr_t pc = fake_nmethod(&jvm, &c);
	const struct layout *l = &jvm.zone.layout;
	struct frame_state frame_state = {0};
	struct blob b;

	cache->size = 4096;
	assert_true(code_blob_read(l, fake_blob_of(&jvm, pc), &b));
	assert_false(decode_frame_state(l, cache, &b, pc + 20, &frame_state));
	at.first = pc + 20;
	at.last = pc + 200;
	decode_keep_frame_state(l, cache, &b, &at);
	assert_true(decode_frame_state(l, cache, &b, pc + 20, &frame_state) && frame_state.return_offset == 40 && frame_state.fp_saved && frame_state.fixed);
	assert_true(decode_frame_state(l, cache, &b, pc + 130, &frame_state));
	assert_true(decode_frame_state(l, cache, &b, pc + 200, &frame_state));
	assert_false(decode_frame_state(l, cache, &b, pc + 19, &frame_state));
	assert_false(decode_frame_state(l, cache, &b, pc + 201, &frame_state));
	++*(int32_t *)(b.address + (uintptr_t)l->nmethod_compile_id);
	assert_false(decode_frame_state(l, cache, &b, pc + 20, &frame_state));
	test_free(cache);
}

/* Memory that cannot be read ends the way. */
static void hostile(void **state)
{
	struct walk w = {.z = &jvm.zone, .l = &jvm.zone.layout, .pc = 0x10, .top = true};
	struct stub stub = {.start = 0, .end = 4096};
	struct blob b = {0};
	struct code_unwind o;
	struct error err;

	assert_int_equal(faults_install(&err), 0);
	assert_false(code_unwind(&w, &b, &stub, true, &o));
	faults_remove();
}

/* Lengths, and what happens to rsp. */
static void instructions(void **state)
{
	static const struct {
		uint8_t bytes[INSN_MAX + 1];
		struct {
			uint8_t length, does;
			int32_t amount;
		} is;
	} all[] = {
		{{0x90}, {1, INSN_OTHER, 0}},
		{{0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, {11, INSN_OTHER, 0}},
		{{0x49, 0xba, 1, 2, 3, 4, 5, 6, 7, 8}, {10, INSN_OTHER, 0}},         /* mov r10, imm64 */
		{{0x66, 0xb8, 1, 2}, {4, INSN_OTHER, 0}},                            /* mov ax, imm16 */
		{{0x41, 0xf7, 0xc2, 8, 0, 0, 0}, {7, INSN_OTHER, 0}},                /* test r10d, imm32 */
		{{0xf6, 0xd8}, {2, INSN_OTHER, 0}},                                  /* neg al */
		{{0x48, 0x8b, 0x04, 0x25, 1, 2, 3, 4}, {8, INSN_OTHER, 0}},          /* mov rax, [disp32] */
		{{0x49, 0x3b, 0xa7, 0x40, 3, 0, 0}, {7, INSN_OTHER, 0}},             /* cmp rsp, [r15 + x] */
		{{0x66, 0x0f, 0x3a, 0x0f, 0xc8, 4}, {6, INSN_OTHER, 0}},             /* palignr */
		{{0xc4, 0xe3, 0x7d, 0x39, 0xc1, 1}, {6, INSN_OTHER, 0}},             /* vextracti128 */
		{{0x62, 0xe1, 0x7e, 8, 0x6f, 0x44, 0x24, 0x68}, {8, INSN_OTHER, 0}}, /* vmovdqu32 xmm16, [rsp + x] */
		{{0x50}, {1, INSN_RELEASE, -8}},
		{{0x6a, 1}, {2, INSN_RELEASE, -8}},
		{{0xff, 0x74, 0x24, 0x18}, {4, INSN_RELEASE, -8}},
		{{0x48, 0x81, 0xec, 0, 1, 0, 0}, {7, INSN_RELEASE, -256}},
		{{0x48, 0x83, 0xc4, 0x10}, {4, INSN_RELEASE, 16}},
		{{0x48, 0x8d, 0x64, 0x24, 0x20}, {5, INSN_RELEASE, 32}},
		{{0x48, 0x83, 0xfc, 0x10}, {4, INSN_OTHER, 0}},                      /* cmp rsp, 16 */
		{{0x41, 0x5b}, {2, INSN_POP, 11}},
		{{0x5d}, {1, INSN_POP_FP, 8}},
		{{0x41, 0x5d}, {2, INSN_POP, 13}},
		{{0x5c}, {1, INSN_POP_SP, 8}},
		{{0xc9}, {1, INSN_LEAVE, 0}},
		{{0x48, 0x8b, 0xec}, {3, INSN_FP_FROM_SP, 0}},
		{{0x48, 0x89, 0xe5}, {3, INSN_FP_FROM_SP, 0}},
		{{0x48, 0x8d, 0x65, 0xa0}, {4, INSN_SP_FROM_FP, -96}},
		{{0x4c, 0x8b, 0xec}, {3, INSN_SP_TO, 13}},
		{{0x49, 0x8b, 0xe5}, {3, INSN_SP_FROM, 13}},
		{{0x48, 0x83, 0xe4, 0xf0}, {4, INSN_ALIGN, 16}},
		{{0x48, 0x83, 0xf4, 0xf0}, {4, INSN_SP_LOST, 0}},                    /* xor rsp, -16 */
		{{0x4c, 0x8b, 0x6c, 0x24, 0x10}, {5, INSN_RELOAD, 16}},
		{{0xe8, 1, 0, 0, 0}, {5, INSN_CALL, 1}},
		{{0x66, 0x66, 0x48, 0xe8, 2, 1, 0, 0}, {8, INSN_CALL, 258}},         /* padded: __tls_get_addr */
		{{0x66, 0x48, 0x81, 0xc4, 2, 1, 0, 0}, {8, INSN_RELEASE, 258}},      /* REX.W wins over 66 */
		{{0x66, 0x0f, 0x87, 2, 1, 0, 0}, {7, INSN_BRANCH, 258}},
		{{0x41, 0xff, 0xd2}, {3, INSN_CALL_REGISTER, 0}},
		{{0xff, 0x90, 0, 1, 0, 0}, {6, INSN_CALL_MEMORY, 0}},
		{{0xff, 0x63, 0x50}, {3, INSN_JUMP_AWAY, 0}},
		{{0xeb, 0xfe}, {2, INSN_JUMP, -2}},
		{{0x0f, 0x87, 0x10, 0, 0, 0}, {6, INSN_BRANCH, 16}},
		{{0xc3}, {1, INSN_RETURN, 0}},
		{{0x0f, 0x0b}, {2, INSN_END, 0}},
	};
	static const uint8_t unknown[][INSN_MAX + 1] = {{0x06}, {0x0f, 0x04}, {0x8f, 0x48, 0x78, 0xc3, 0xc8, 0x38}, {0xd5}};
	struct insn i;
	size_t n;

	for (n = 0; n < ARRAY_LEN(all); n++)
		if (!insn_decode(all[n].bytes, &i) || i.length != all[n].is.length || i.does != all[n].is.does ||
		    i.amount != all[n].is.amount)
			fail_msg("instruction %u: %u bytes, %u, %d", (unsigned)n, i.length, i.does, i.amount);
	for (n = 0; n < ARRAY_LEN(unknown); n++)
		assert_false(insn_decode(unknown[n], &i));
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {T(as_compiled), T(ways), T(stretches), T(remembered), T(hostile), T(instructions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
