/* What instructions of i386 do to esp and ebp; the bytes are an assembler's. Runs on every CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define INSN_WORD 4
#include "../../src/agent/walk/arch/x86/insn.c"

static const struct {
	uint8_t bytes[INSN_MAX + 1];
	struct insn is; /* length, does, amount, number */
} all[] = {
	{{0x55}, {1, INSN_RELEASE, -4, 0}},                         /* push ebp */
	{{0x83, 0xec, 0x1c}, {3, INSN_RELEASE, -28, 0}},            /* sub esp, 0x1c */
	{{0x81, 0xc4, 0x08, 0x01}, {6, INSN_RELEASE, 264, 0}},      /* add esp, 0x108 */
	{{0x89, 0xe5}, {2, INSN_FP_FROM_SP, 0, 0}},                 /* mov ebp, esp */
	{{0x89, 0xec}, {2, INSN_SP_FROM_FP, 0, 0}},                 /* mov esp, ebp */
	{{0x8b, 0xe3}, {2, INSN_SP_FROM, 3, 0}},                    /* mov esp, ebx */
	{{0x89, 0xe7}, {2, INSN_SP_TO, 7, 0}},                      /* mov edi, esp */
	{{0x5d}, {1, INSN_POP_FP, 4, 0}},
	{{0x5e}, {1, INSN_POP, 6, 0}},                              /* pop esi */
	{{0xc9}, {1, INSN_LEAVE, 0, 0}},
	{{0x60}, {1, INSN_RELEASE, -32, 0}},                        /* pusha */
	{{0x61}, {1, INSN_RELEASE, 32, 0}},
	{{0x9c}, {1, INSN_RELEASE, -4, 0}},                         /* pushf */
	{{0x40}, {1, INSN_OTHER, 0, 0}},                            /* inc eax: no prefix here */
	{{0x4f}, {1, INSN_OTHER, 0, 0}},                            /* dec edi */
	{{0x44}, {1, INSN_SP_LOST, 0, 0}},                          /* inc esp */
	{{0x8b, 0x74, 0x24, 0x10}, {4, INSN_RELOAD, 16, 6}},        /* mov esi, [esp + 16] */
	{{0x66, 0x8b, 0x74, 0x24, 0x10}, {5, INSN_OTHER, 0, 0}},    /* mov si, [esp + 16] */
	{{0xa1, 0x78, 0x56, 0x34, 0x12}, {5, INSN_OTHER, 0, 0}},    /* mov eax, [0x12345678] */
	{{0x65, 0xa1, 0x78, 0x56, 0x34, 0x12}, {6, INSN_OTHER, 0, 0}},
	{{0xb9, 0x78, 0x56, 0x34, 0x12}, {5, INSN_OTHER, 0, 0}},    /* mov ecx, 0x12345678 */
	{{0x8d, 0x65, 0xf0}, {3, INSN_SP_FROM_FP, -16, 0}},         /* lea esp, [ebp - 16] */
	{{0x83, 0xe4, 0xf0}, {3, INSN_ALIGN, 16, 0}},               /* and esp, -16 */
	{{0x68, 0x78, 0x56, 0x34, 0x12}, {5, INSN_RELEASE, -4, 0}}, /* push 0x12345678 */
	{{0xff, 0x70, 0x04}, {3, INSN_RELEASE, -4, 0}},             /* push [eax + 4] */
	{{0xff, 0x50, 0x08}, {3, INSN_CALL_MEMORY, 0, 0}},          /* call [eax + 8] */
	{{0xff, 0xd0}, {2, INSN_CALL_REGISTER, 0, 0}},              /* call eax */
	{{0xe8, 0xfb, 0xff, 0xff, 0xff}, {5, INSN_CALL, -5, 0}},
	{{0xff, 0x63, 0x40}, {3, INSN_JUMP_AWAY, 0, 0}},            /* jmp [ebx + 64] */
	{{0x75, 0x02}, {2, INSN_BRANCH, 2, 0}},                     /* jne */
	{{0x0f, 0x85, 0xfa}, {6, INSN_BRANCH, 250, 0}},
	{{0xc5, 0xfb, 0x10, 0x04, 0x24}, {5, INSN_OTHER, 0, 0}},    /* vmovsd xmm0, [esp] */
	{{0xc5, 0xfa, 0x7f, 0x84, 0x24, 0xb0}, {9, INSN_OTHER, 0, 0}}, /* vmovdqu [esp + 176], xmm0 */
	{{0xc5, 0xf8, 0x77}, {3, INSN_OTHER, 0, 0}},                /* vzeroupper */
	{{0x62, 0xf1, 0x7e, 0x48, 0x6f, 0x44, 0x24, 0x01}, {8, INSN_OTHER, 0, 0}}, /* vmovdqu32 zmm0, [esp + 64] */
	{{0xdd, 0x34, 0x24}, {3, INSN_OTHER, 0, 0}},                /* fnsave [esp] */
	{{0xd9, 0x2d, 0x78, 0x56, 0x34, 0x12}, {6, INSN_OTHER, 0, 0}}, /* fldcw [0x12345678] */
	{{0x66, 0xc7, 0x00, 0x34, 0x12}, {5, INSN_OTHER, 0, 0}},    /* mov word [eax], 0x1234 */
	{{0xc3}, {1, INSN_RETURN, 0, 0}},
	{{0xf4}, {1, INSN_END, 0, 0}},                              /* hlt */
};

/* les, lds, bound: what VEX and EVEX begin with; the JVM makes no use of them. */
static const uint8_t unknown[][INSN_MAX + 1] = {{0xc4, 0x01}, {0xc5, 0x41, 0x04}, {0x62, 0x01}, {0x06}, {0xea}};

static void instructions(void **state)
{
	struct insn i;
	size_t n;

	for (n = 0; n < ARRAY_LEN(all); n++)
		if (!insn_decode(all[n].bytes, &i) || i.length != all[n].is.length || i.does != all[n].is.does ||
		    i.amount != all[n].is.amount || i.number != all[n].is.number)
			fail_msg("instruction %u: %u bytes, %u, %d", (unsigned)n, i.length, i.does, i.amount);
	for (n = 0; n < ARRAY_LEN(unknown); n++)
		assert_false(insn_decode(unknown[n], &i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(instructions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
