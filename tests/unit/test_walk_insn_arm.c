/* What A32 instructions do to sp, r11 and lr; the words are an assembler's. Runs on every CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../src/agent/walk/arch/arm/insn.c"
#include "insn_linked.h"

static void sp_and_constants(void **state)
{
	static const struct insn_word expected[] = {
		{0xe24dd040, INSN_RELEASE, INSN_SP, -64},     /* sub sp, sp, 64 */
		{0xe28dda01, INSN_RELEASE, INSN_SP, 4096},    /* add sp, sp, 4096 */
		{0xed2d8b10, INSN_RELEASE, 0, -64},           /* vpush {d8-d15} */
		{0xecbd8b02, INSN_RELEASE, 0, 8},             /* vpop {d8} */
		{0xe1a0d00b, INSN_SP_FROM, INSN_FP, 0},       /* mov sp, r11 */
		{0xe24bd008, INSN_SP_FROM, INSN_FP, -8},      /* sub sp, r11, 8 */
		{0xe1a0b00d, INSN_FP_FROM_SP, INSN_FP, 0},    /* mov r11, sp */
		{0xe04dd003, INSN_LOWER_BY, 3, 0},            /* sub sp, sp, r3 */
		{0xe3cdd007, INSN_SP_LOST, 13, 0},            /* bic sp, sp, 7 */
		{0xe51cd004, INSN_SP_LOST, 13, 0},            /* ldr sp, [r12, -4] */
		{0xe301c230, INSN_CONSTANT, 12, 0x1230},      /* movw r12, 0x1230 */
		{0xe344c567, INSN_ADD, 12, 0x45670000},       /* movt r12, 0x4567 */
		{0xe3a03eff, INSN_CONSTANT, 3, 0xff0},        /* mov r3, 0xff0 */
		{0xe3e02000, INSN_CONSTANT, 2, 0xffffffff},   /* mvn r2, 0 */
		{0xe28fe004, INSN_NEAR, INSN_LINK, 12},       /* add lr, pc, 4 */
		{0xe1a0e00f, INSN_NEAR, INSN_LINK, 8},        /* mov lr, pc */
		{0xe59ac058, INSN_FORGET, 12, 0},             /* ldr r12, [r10, 88] */
		{0xe59d3008, INSN_FORGET, 3, 0},              /* ldr r3, [sp, 8] */
		{0xe58de008, INSN_OTHER, 0, 0},               /* str lr, [sp, 8]: compiled code spills it */
		{0xeb000002, INSN_CALL, 0, 16},               /* bl . + 16 */
		{0xeafffffc, INSN_JUMP, 0, -8},               /* b . - 8 */
		{0x8a000006, INSN_BRANCH, 0, 32},             /* bhi . + 32 */
		{0xe12fff1e, INSN_RETURN, INSN_LINK, 0},      /* bx lr */
		{0x012fff1e, INSN_RETURN, INSN_LINK, 0},      /* bxeq lr */
		{0xe1a0f00e, INSN_RETURN, INSN_LINK, 0},      /* mov pc, lr */
		{0xe12fff13, INSN_JUMP_REGISTER, 3, 0},       /* bx r3 */
		{0xe12fff39, INSN_CALL_REGISTER, 9, 0},       /* blx r9 */
		{0xe599f024, INSN_JUMP_REGISTER, 15, 0},      /* ldr pc, [r9, 36] */
		{0xe3510000, INSN_OTHER, 0, 0},               /* cmp r1, 0 */
		{0xe320f000, INSN_OTHER, 0, 0},               /* nop */
		{0xe1200070, INSN_END, 0, 0},                 /* bkpt 0 */
		{0xe7f000f0, INSN_END, 0, 0},                 /* udf 0 */
		{0xef000000, INSN_OTHER, 0, 0},               /* svc 0 */
		{0x00000000, INSN_END, 0, 0},                 /* a constant between instructions, mostly */
	};

	check_words(expected, ARRAY_LEN(expected));
}

static void loads_and_stores(void **state)
{
	check_stack(0xe92d4800, false, false, -8, 0, 4, 0);   /* push {r11, lr} */
	check_stack(0xe8bd4800, true, false, 0, 8, 4, 0);     /* pop {r11, lr} */
	check_stack(0xe8bd8800, true, true, 0, 8, 4, 0);      /* pop {r11, pc} */
	check_stack(0x08bd8800, true, true, 0, 8, 4, 0);      /* popeq {r11, pc} */
	check_stack(0xe52de004, false, false, -4, 0, 0, -1);  /* push {lr} */
	check_stack(0xe49df004, true, true, 0, 4, 0, -1);     /* pop {pc} */
	check_stack(0xe92d4030, false, false, -12, 0, 8, -1); /* push {r4, r5, lr} */
	check_stack(0xe16d40f8, false, false, -8, 0, -1, -1); /* strd r4, r5, [sp, -8]! */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sp_and_constants),
		cmocka_unit_test(loads_and_stores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
