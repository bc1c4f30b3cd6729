/* What instructions of aarch64 do to sp, x29 and x30; the words are an assembler's. Runs on every CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../src/agent/walk/arch/aarch64/insn.c"
#include "insn_linked.h"

static void sp_and_constants(void **state)
{
	static const struct insn_word expected[] = {
		{0xd10103ff, INSN_RELEASE, INSN_SP, -64},     /* sub sp, sp, 64 */
		{0x914007ff, INSN_RELEASE, INSN_SP, 4096},    /* add sp, sp, 1, lsl 12 */
		{0x910003bf, INSN_SP_FROM, INSN_FP, 0},       /* mov sp, x29 */
		{0x910143fd, INSN_FP_FROM_SP, INSN_FP, 80},   /* add x29, sp, 80 */
		{0xcb2863ff, INSN_LOWER_BY, 8, 0},            /* sub sp, sp, x8 */
		{0x927cee9f, INSN_SP_LOST, 0, 0},             /* and sp, x20, -16 */
		{0xd2824608, INSN_CONSTANT, 8, 0x1230},       /* mov x8, 0x1230 */
		{0x10000028, INSN_NEAR, 8, 4},                /* adr x8, . + 4 */
		{0xb0000008, INSN_NEAR_PAGE, 8, 4096},        /* adrp x8, the next page */
		{0x91006108, INSN_ADD, 8, 24},                /* add x8, x8, 24 */
		{0xf941bb88, INSN_OTHER, 0, 0},               /* ldr x8, [x28, 880] */
		{0x94000004, INSN_CALL, 0, 16},               /* bl . + 16 */
		{0x17fffffe, INSN_JUMP, 0, -8},               /* b . - 8 */
		{0x54000108, INSN_BRANCH, 0, 32},             /* b.hi . + 32 */
		{0xb4000063, INSN_BRANCH, 0, 12},             /* cbz x3, . + 12 */
		{0x361000a3, INSN_BRANCH, 0, 20},             /* tbz w3, 2, . + 20 */
		{0xd65f03c0, INSN_RETURN, 0, 0},              /* ret */
		{0xd61f0100, INSN_JUMP_REGISTER, 8, 0},       /* br x8 */
		{0xd63f0120, INSN_CALL_REGISTER, 9, 0},       /* blr x9 */
		{0xd503201f, INSN_OTHER, 0, 0},               /* nop */
		{0xd4200000, INSN_END, 0, 0},                 /* brk 0 */
		{0xd4000001, INSN_OTHER, 0, 0},               /* svc 0 */
		{0x00000000, INSN_END, 0, 0},                 /* udf 0 */
	};

	check_words(expected, ARRAY_LEN(expected));
}

static void loads_and_stores(void **state)
{
	check_stack(0xa9037bfd, false, false, 0, 0, 56, 48);  /* stp x29, x30, [sp, 48] */
	check_stack(0xa9bf7bfd, false, false, -16, 0, 8, 0);  /* stp x29, x30, [sp, -16]! */
	check_stack(0xa8c17bfd, true, false, 0, 16, 8, 0);    /* ldp x29, x30, [sp], 16 */
	check_stack(0xf81f0ffe, false, false, -16, 0, 0, -1); /* str x30, [sp, -16]! */
	check_stack(0xf94007fe, true, false, 0, 0, 8, -1);    /* ldr x30, [sp, 8] */
	check_stack(0xadbf07e0, false, false, -32, 0, -1, -1); /* stp q0, q1, [sp, -32]! */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sp_and_constants),
		cmocka_unit_test(loads_and_stores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
