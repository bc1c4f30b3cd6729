/* Unwind rows from the code of arm itself; the half words are an assembler's. Runs on every CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../src/common/elf/arch/arm/code_follow.c"
#include "../../src/common/elf/arch/arm/code_functions.c"
#include "../../src/common/elf/arch/arm/code_rows.c"
#include "../../src/common/elf/arch/arm/thumb.c"

static void decoding(void **state)
{
	static const struct {
		uint16_t first, second;
		uint8_t does;
		int32_t amount;
		uint16_t registers;
		uint32_t target; /* all stand at 0x1000 */
	} expected[] = {
		{0xb590, 0, THUMB_PUSH, 12, 0x4090, 0},           /* push {r4, r7, lr} */
		{0xbd90, 0, THUMB_POP, 12, 0x8090, 0},            /* pop {r4, r7, pc} */
		{0xb084, 0, THUMB_SP_ADD, -16, 0, 0},             /* sub sp, 16 */
		{0xb004, 0, THUMB_SP_ADD, 16, 0, 0},              /* add sp, 16 */
		{0xaf02, 0, THUMB_BASE_SP, 8, 0, 0},              /* add r7, sp, 8 */
		{0x466f, 0, THUMB_BASE_SP, 0, 0, 0},              /* mov r7, sp */
		{0x46bd, 0, THUMB_SP_BASE, 0, 0, 0},              /* mov sp, r7 */
		{0x3710, 0, THUMB_BASE_ADD, 16, 0, 0},            /* adds r7, 16 */
		{0x3f08, 0, THUMB_BASE_ADD, -8, 0, 0},            /* subs r7, 8 */
		{0x449d, 0, THUMB_SP_LOST, 0, 0, 0},              /* add sp, r3 */
		{0x4770, 0, THUMB_END, 0, 0, 0},                  /* bx lr */
		{0x4718, 0, THUMB_END, 0, 0, 0},                  /* bx r3 */
		{0x4798, 0, THUMB_CALL, 0, 0, 0},                 /* blx r3 */
		{0x469f, 0, THUMB_END, 0, 0, 0},                  /* mov pc, r3 */
		{0xb140, 0, THUMB_BRANCH, 0, 0, 0x1014},          /* cbz r0, . + 20 */
		{0xd003, 0, THUMB_BRANCH, 0, 0, 0x100a},          /* beq . + 10 */
		{0xe7fc, 0, THUMB_JUMP, 0, 0, 0xffc},             /* b . - 4 */
		{0xbf08, 0, THUMB_IF, 1, 0, 0},                   /* it eq */
		{0xbf1e, 0, THUMB_IF, 3, 0, 0},                   /* ittt ne */
		{0xde00, 0, THUMB_END, 0, 0, 0},                  /* udf 0 */
		{0x4b02, 0, THUMB_LITERAL, 4, 0, 0x100c},         /* ldr r3, [pc, 8] */
		{0xf20f, 0x020a, THUMB_ADDRESS, 0, 0, 0x100e},    /* addw r2, pc, 10 */
		{0xe92d, 0x4ff0, THUMB_PUSH, 36, 0x4ff0, 0},      /* push {r4-r11, lr} */
		{0xe8bd, 0x8ff0, THUMB_POP, 36, 0x8ff0, 0},       /* pop {r4-r11, pc} */
		{0xf84d, 0xed04, THUMB_PUSH, 4, 0x4000, 0},       /* str lr, [sp, -4]! */
		{0xf84d, 0xed08, THUMB_PUSH, 8, 0x4000, 0},       /* str lr, [sp, -8]! */
		{0xf85d, 0xfb04, THUMB_POP, 4, 0x8000, 0},        /* ldr pc, [sp], 4 */
		{0xf8cd, 0xe014, THUMB_STORE, 20, 0x4000, 0},     /* str lr, [sp, 20] */
		{0xf8dd, 0xe014, THUMB_LOAD, 20, 0x4000, 0},      /* ldr lr, [sp, 20] */
		{0xe96d, 0x4e04, THUMB_PUSH, 16, 0x4010, 0},      /* strd r4, lr, [sp, -16]! */
		{0xf5ad, 0x7d0f, THUMB_SP_ADD, -572, 0, 0},       /* sub sp, sp, 572 */
		{0xf2ad, 0x5d5c, THUMB_SP_ADD, -1372, 0, 0},      /* subw sp, sp, 1372 */
		{0xf507, 0x770d, THUMB_BASE_ADD, 564, 0, 0},      /* add r7, r7, 564 */
		{0xf1a7, 0x0d08, THUMB_SP_BASE, -8, 0, 0},        /* sub sp, r7, 8 */
		{0xebad, 0x0d03, THUMB_SP_LOST, 0, 0, 0},         /* sub sp, sp, r3 */
		{0xea4f, 0x0d07, THUMB_SP_BASE, 0, 0, 0},         /* mov.w sp, r7 */
		{0xf10d, 0x0008, THUMB_OTHER, 8, 0, 0},           /* add r0, sp, 8 */
		{0xf000, 0xfffe, THUMB_CALL, 0, 0, 0x2000},       /* bl . + 4096 */
		{0xf000, 0xe880, THUMB_CALL, 0, 0, 0x1104},       /* blx . + 260 */
		{0xf7fe, 0xbffe, THUMB_JUMP, 0, 0, 0},            /* b.w . - 4096 */
		{0xf000, 0x83e6, THUMB_BRANCH, 0, 0, 0x17d0},     /* beq.w . + 2000 */
		{0xe8df, 0xf000, THUMB_TABLE, 1, 0, 0},           /* tbb [pc, r0] */
		{0xe8df, 0xf010, THUMB_TABLE, 2, 0, 0},           /* tbh [pc, r0, lsl 1] */
		{0xf8df, 0x33b8, THUMB_LITERAL, 4, 0, 0x13bc},    /* ldr r3, [pc, 952] */
		{0xed2d, 0x8b04, THUMB_SP_ADD, -16, 0, 0},        /* vpush {d8-d9} */
		{0xecbd, 0x8b02, THUMB_SP_ADD, 8, 0, 0},          /* vpop {d8} */
		{0xed9f, 0x7b04, THUMB_LITERAL, 8, 0, 0x1014},    /* vldr d7, [pc, 16] */
		{0xf8d3, 0xf000, THUMB_END, 0, 0, 0},             /* ldr pc, [r3] */
		{0xf3af, 0x8000, THUMB_OTHER, 0, 0, 0},           /* nop.w */
		{0xf240, 0x1029, THUMB_OTHER, 0, 0, 0},           /* movw r0, 297 */
	};
	struct thumb t;
	size_t i;

	for (i = 0; i < ARRAY_LEN(expected); i++) {
		thumb_decode(expected[i].first, expected[i].second, 0x1000, &t);
		assert_int_equal(t.bytes, expected[i].second ? 4 : 2);
		assert_int_equal(t.does, expected[i].does);
		assert_int_equal(t.amount, expected[i].amount);
		assert_int_equal(t.registers, expected[i].registers);
		assert_int_equal(t.target, expected[i].target);
	}
}

/* These functions have no names: they are found by their pushes, and the second by the call too. */
static const uint16_t code[] __attribute__((aligned(16))) = {
	0xb590,         /*  0 f: push {r4, r7, lr} */
	0xb084,         /*  2    sub sp, 16 */
	0xaf00,         /*  4    add r7, sp, 0 */
	0xb118,         /*  6    cbz r0, 16 */
	0xf000, 0xf808, /*  8    bl g */
	0xbf18,         /* 12    it ne */
	0xb004,         /* 14    addne sp, 16: cannot be, but says whether it is heeded */
	0x3710,         /* 16    adds r7, 16 */
	0x46bd,         /* 18    mov sp, r7 */
	0xbd90,         /* 20    pop {r4, r7, pc} */
	0xbf00,         /* 22 */
	0xbf00,         /* 24 */
	0xbf00,         /* 26 */
	0xb580,         /* 28 g: push {r7, lr} */
	0xaf00,         /* 30    add r7, sp, 0 */
	0xebad, 0x0d00, /* 32    sub sp, sp, r0 */
	0xf7ff, 0xffec, /* 36    bl f */
	0x46bd,         /* 40    mov sp, r7 */
	0xbd80,         /* 42    pop {r7, pc} */
};

static void check(const struct image *image, uint32_t at, uint8_t kind, int cfa, int ra, int base)
{
	const struct unwind_rule *rule = unwind_find(image, image->start + at);

	assert_non_null(rule);
	assert_int_equal(rule->cfa_kind, kind);
	assert_int_equal(rule->cfa_offset, cfa);
	assert_int_equal(rule->ra_register, ra || kind == CFA_UNKNOWN ? 0 : THUMB_LR + 1);
	assert_int_equal(rule->ra_offset, ra);
	assert_int_equal(rule->base_offset, base);
}

static void functions(void **state)
{
	struct object o = {.image = {.start = (uintptr_t)code, .end = (uintptr_t)(code + ARRAY_LEN(code))}};
	struct rows rows;

	o.image.path = o.image.name = "none";
	assert_true(rows_init(&rows));
	code_rows_read(&o, &rows);
	assert_true(rows_pack(&rows, sizeof(code), &o.image.unwind));
	check(&o.image, 0, CFA_SP, 0, 0, 0);
	check(&o.image, 2, CFA_SP, 12, -4, -8);
	check(&o.image, 4, CFA_SP, 28, -4, -8);
	check(&o.image, 10, CFA_SP, 28, -4, -8);
	check(&o.image, 16, CFA_SP, 28, -4, -8);
	check(&o.image, 18, CFA_SP, 28, -4, -8);
	check(&o.image, 20, CFA_SP, 12, -4, -8);
	check(&o.image, 24, CFA_UNKNOWN, 0, 0, 0);
	check(&o.image, 28, CFA_SP, 0, 0, 0);
	check(&o.image, 32, CFA_SP, 8, -4, -8);
	check(&o.image, 36, CFA_BASE, 8, -4, -8);
	check(&o.image, 40, CFA_BASE, 8, -4, -8);
	check(&o.image, 42, CFA_SP, 8, -4, -8);
	unwind_table_free(&o.image.unwind);
	rows_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoding),
		cmocka_unit_test(functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
