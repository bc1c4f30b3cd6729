/*
 * insn_against_zydis FILE FROM LENGTH: what our decoder (walk/arch/x86/insn.h) and the library Zydis say of each
 * instruction of code in FILE, one after the other from byte FROM on. Prints how many both know, how many only Zydis
 * does, and the first ones of which ours says something else: another length, another flow, or another change of rsp.
 */
#include <Zydis/Zydis.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "insn.h"

#define SHOWN 20

static unsigned long known, unknown, wrong;

static bool writes(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, ZydisRegister r)
{
	int i;

	for (i = 0; i < z->operand_count; i++)
		if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, o[i].reg.value) == r &&
		    (o[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			return true;
	return false;
}

/* The flow that Z has, INSN_OTHER: it goes on behind it. TO: where to, from its end. */
static int flow(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, long long *to)
{
	bool relative = z->operand_count_visible && o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && o[0].imm.is_relative;

	*to = relative ? o[0].imm.value.s : 0;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
		return relative ? INSN_CALL : o[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? INSN_CALL_MEMORY : INSN_CALL_REGISTER;
	case ZYDIS_MNEMONIC_RET:
		return INSN_RETURN;
	case ZYDIS_MNEMONIC_JMP:
		return relative ? INSN_JUMP : INSN_JUMP_AWAY;
	case ZYDIS_MNEMONIC_HLT: case ZYDIS_MNEMONIC_INT3: case ZYDIS_MNEMONIC_UD2:
		return INSN_END;
	default:
		return z->meta.category == ZYDIS_CATEGORY_COND_BR && relative && z->mnemonic != ZYDIS_MNEMONIC_XBEGIN ? INSN_BRANCH :
		       INSN_OTHER;
	}
}

static bool is_flow(int does)
{
	return does >= INSN_CALL;
}

static bool is_rsp(ZydisRegister r)
{
	return r == ZYDIS_REGISTER_RSP;
}

/* By how much Z moves rsp, where that is plain; false: it is not. */
static bool moves(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, long long *by)
{
	bool first = o[0].type == ZYDIS_OPERAND_TYPE_REGISTER && is_rsp(o[0].reg.value);

	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_PUSHFQ:
		*by = -z->operand_width / 8;
		return true;
	case ZYDIS_MNEMONIC_POPFQ:
		*by = z->operand_width / 8;
		return true;
	case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_SUB:
		if (!first || o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return false;
		*by = z->mnemonic == ZYDIS_MNEMONIC_ADD ? o[1].imm.value.s : -o[1].imm.value.s;
		return true;
	case ZYDIS_MNEMONIC_LEA:
		*by = o[1].mem.disp.value;
		return first && is_rsp(o[1].mem.base) && o[1].mem.index == ZYDIS_REGISTER_NONE;
	default:
		return false;
	}
}

/* What is wrong with ours, NULL: nothing. */
static const char *judge(const struct insn *i, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	long long to, by;
	int expected = flow(z, o, &to);

	if (i->length != z->length)
		return "length";
	if ((is_flow(i->does) || is_flow(expected)) && i->does != expected)
		return "flow";
	if (is_flow(expected))
		return (expected == INSN_CALL || expected == INSN_JUMP || expected == INSN_BRANCH) && i->amount != to ? "target" : NULL;
	if (moves(z, o, &by))
		return i->does != INSN_RELEASE || i->amount != by ? "moves rsp" : NULL;
	if ((i->does == INSN_OTHER || i->does == INSN_RELOAD || i->does == INSN_SP_TO || i->does == INSN_FP_FROM_SP) &&
	    writes(z, o, ZYDIS_REGISTER_RSP))
		return "writes rsp";
	if (i->does != INSN_OTHER && i->does != INSN_RELOAD && i->does != INSN_SP_TO && i->does != INSN_FP_FROM_SP &&
	    !writes(z, o, ZYDIS_REGISTER_RSP))
		return "does not write rsp";
	if (i->does == INSN_RELOAD)
		return z->mnemonic != ZYDIS_MNEMONIC_MOV || ZydisRegisterGetId(o[0].reg.value) != i->number ||
		       !is_rsp(o[1].mem.base) || o[1].mem.disp.value != i->amount ? "reload" : NULL;
	if (i->does == INSN_POP)
		return z->mnemonic != ZYDIS_MNEMONIC_POP || ZydisRegisterGetId(o[0].reg.value) != i->amount ? "pop" : NULL;
	return NULL;
}

static void compare(const ZydisDecoder *d, const uint8_t *code, size_t size, size_t from)
{
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	size_t at, k;

	for (at = 0; at + INSN_MAX <= size;) {
		struct insn i;
		const char *why;

		if (ZYAN_FAILED(ZydisDecoderDecodeFull(d, code + at, INSN_MAX, &z, o))) {
			at++;
			continue;
		}
		if (!insn_decode(code + at, &i)) {
			unknown++;
		} else if (!(why = judge(&i, &z, o))) {
			known++;
		} else if (++wrong <= SHOWN) {
			printf("wrong %s at %zx:", why, from + at);
			for (k = 0; k < z.length; k++)
				printf(" %02x", code[at + k]);
			printf(" %s: ours has length %u, does %u, amount %d, number %u\n", ZydisMnemonicGetString(z.mnemonic), i.length,
			       i.does, i.amount, i.number);
		}
		at += z.length;
	}
}

int main(int argc, char **argv)
{
	size_t from = argc > 3 ? strtoul(argv[2], NULL, 0) : 0, size = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	int fd = argc > 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	ZydisDecoder d;
	const uint8_t *file;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || from + size > (size_t)st.st_size) {
		fprintf(stderr, "usage: insn_against_zydis FILE FROM LENGTH\n");
		return 2;
	}
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED || ZYAN_FAILED(ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return 2;
	compare(&d, file + from, size, from);
	printf("known %lu unknown %lu wrong %lu\n", known, unknown, wrong);
	return wrong != 0;
}
