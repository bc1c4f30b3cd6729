/* What instructions of ppc64le do to r1 and the link register; the words are an assembler's. Runs on every CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../src/agent/walk/arch/ppc64le/insn.c"

static void all(void **state)
{
	static const struct {
		uint32_t word;
		uint8_t does, number;
		int64_t amount;
	} expected[] = {
		{0xf821ff91, INSN_PUSH, 0, 0},    /* stdu r1, -112(r1) */
		{0x7c21596a, INSN_PUSH, 0, 0},    /* stdux r1, r1, r11 */
		{0x7d81596a, INSN_RESIZE, 0, 0},  /* stdux r12, r1, r11 */
		{0x38210070, INSN_POP, 0, 0},     /* addi r1, r1, 112 */
		{0x3821ff90, INSN_RESIZE, 0, 0},  /* addi r1, r1, -112 */
		{0x38610070, INSN_OTHER, 0, 0},   /* addi r3, r1, 112 */
		{0x7c216214, INSN_POP, 0, 0},     /* add r1, r1, r12 */
		{0xe8210000, INSN_POP, 0, 0},     /* ld r1, 0(r1) */
		{0x7ea1ab78, INSN_POP, 0, 0},     /* mr r1, r21 */
		{0x7c350b78, INSN_OTHER, 0, 0},   /* mr r21, r1 */
		{0x7c0802a6, INSN_KEEP, 0, 0},    /* mflr r0 */
		{0x7e8803a6, INSN_RELOAD, 20, 0}, /* mtlr r20 */
		{0x7d8903a6, INSN_OTHER, 0, 0},   /* mtctr r12 */
		{0xfa810010, INSN_STORE, 20, 16}, /* std r20, 16(r1) */
		{0xebf00358, INSN_FIELD, 31, 856}, /* ld r31, 856(r16) */
		{0xea810010, INSN_OTHER, 0, 0},   /* ld r20, 16(r1) */
		{0x48000011, INSN_CALL, 0, 16},   /* bl . + 16 */
		{0x4bfffff8, INSN_JUMP, 0, -8},   /* b . - 8 */
		{0x41820020, INSN_OTHER, 0, 0},   /* beq . + 32 */
		{0x4d820020, INSN_OTHER, 0, 0},   /* beqlr */
		{0x4e800020, INSN_RETURN, 0, 0},  /* blr */
		{0x4e800420, INSN_AWAY, 0, 0},    /* bctr */
		{0x4e800421, INSN_CALL, 0, 0},    /* bctrl */
		{0x4e800021, INSN_CALL, 0, 0},    /* blrl */
		{0x60000000, INSN_OTHER, 0, 0},   /* nop */
		{0x44000002, INSN_OTHER, 0, 0},   /* sc */
		{0x00000000, INSN_END, 0, 0},
	};
	struct insn i;
	size_t n;

	for (n = 0; n < ARRAY_LEN(expected); n++) {
		insn_decode(expected[n].word, &i);
		assert_int_equal(i.does, expected[n].does);
		assert_int_equal(i.number, expected[n].number);
		assert_int_equal(i.amount, expected[n].amount);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
