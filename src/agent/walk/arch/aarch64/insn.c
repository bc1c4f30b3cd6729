#include "agent/walk/walk.h"
#include "insn.h"

/* BITS bits of WORD from bit FROM on, as a signed number. */
static int64_t field(uint32_t word, unsigned from, unsigned bits)
{
	return (int64_t)((uint64_t)word << (64 - from - bits)) >> (64 - bits);
}

static uint8_t rd(uint32_t word)
{
	return word & 31;
}

static uint8_t rn(uint32_t word)
{
	return word >> 5 & 31;
}

/* add, sub: register and immediate. */
static void add_immediate(uint32_t word, struct insn *i)
{
	int64_t amount = (int64_t)(word >> 10 & 0xfff) << (word & 1u << 22 ? 12 : 0);

	if (word & 1u << 30)
		amount = -amount;
	i->number = rd(word);
	i->amount = amount;
	if (rd(word) == INSN_SP) {
		i->does = rn(word) == INSN_SP ? INSN_RELEASE : INSN_SP_FROM;
		i->number = rn(word);
	} else if (rd(word) == INSN_FP && rn(word) == INSN_SP) {
		i->does = INSN_FP_FROM_SP;
	} else if (rd(word) == rn(word)) {
		i->does = INSN_ADD;
	}
}

/* Two registers of 1 << SHIFT bytes each at sp; GENERAL: not of the vector kind. */
static void pair(uint32_t word, unsigned shift, bool general, struct insn *i)
{
	int32_t offset = (int32_t)field(word, 15, 7) * (1 << shift), at = 0;
	uint8_t first = rd(word), second = word >> 10 & 31;

	i->does = INSN_STACK;
	i->load = word & 1u << 22;
	switch (word >> 23 & 3) {
	case 1: i->after = offset; break;
	case 3: i->before = offset; break;
	default: at = offset;
	}
	if (!general || shift != 3)
		return;
	if (first == INSN_LINK || second == INSN_LINK)
		i->link_at = at + (second == INSN_LINK ? 8 : 0);
	if (first == INSN_FP || second == INSN_FP)
		i->fp_at = at + (second == INSN_FP ? 8 : 0);
}

static bool by_sp(uint32_t word, struct insn *i)
{
	if (rn(word) != INSN_SP)
		return false;
	if ((word & 0x3a000000) == 0x28000000) {
		bool general = !(word & 1u << 26);

		pair(word, general ? 2 + (word >> 31) : 2 + (word >> 30), general, i);
		return true;
	}
	if ((word & 0x3b200400) == 0x38000400) { /* one register, before or after sp is changed */
		int32_t offset = (int32_t)field(word, 12, 9);

		i->does = INSN_STACK;
		i->load = word & 1u << 22;
		*(word & 1u << 11 ? &i->before : &i->after) = offset;
	} else if ((word & 0xffc00000) == 0xf9000000 || (word & 0xffc00000) == 0xf9400000) {
		i->does = INSN_STACK;
		i->load = word & 1u << 22;
		i->link_at = rd(word) == INSN_LINK ? (int32_t)(word >> 10 & 0xfff) * 8 : -1;
		i->fp_at = rd(word) == INSN_FP ? (int32_t)(word >> 10 & 0xfff) * 8 : -1;
		return true;
	} else {
		return false;
	}
	if (word >> 30 == 3 && !(word & 1u << 26)) {
		i->link_at = rd(word) == INSN_LINK ? 0 : -1;
		i->fp_at = rd(word) == INSN_FP ? 0 : -1;
	}
	return true;
}

static void branch(uint32_t word, struct insn *i)
{
	if ((word & 0x7c000000) == 0x14000000) {
		i->does = word >> 31 ? INSN_CALL : INSN_JUMP;
		i->amount = field(word, 0, 26) * INSN_BYTES;
	} else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
		i->does = INSN_BRANCH;
		i->amount = field(word, 5, 19) * INSN_BYTES;
	} else if ((word & 0x7e000000) == 0x36000000) {
		i->does = INSN_BRANCH;
		i->amount = field(word, 5, 14) * INSN_BYTES;
	} else if (word == 0xd65f03c0 || (word & 0xfffffbff) == 0xd65f0bff) {
		i->does = INSN_RETURN;
	} else if ((word & 0xff9ff000) == 0xd61f0000) { /* br, blr, ret by another register */
		i->does = (word >> 21 & 3) == 1 ? INSN_CALL_REGISTER : INSN_JUMP_REGISTER;
		i->number = rn(word);
	} else if (word >> 24 == 0xd4 && (word >> 21 & 7) != 0) { /* brk, hlt; not svc */
		i->does = INSN_END;
	}
}

/* What code computes addresses and frame sizes with. */
static void constant(uint32_t word, struct insn *i)
{
	i->number = rd(word);
	if ((word & 0x7f800000) == 0x52800000) {
		i->does = INSN_CONSTANT;
		i->amount = (int64_t)((uint64_t)(word >> 5 & 0xffff) << (word >> 21 & 3) * 16);
	} else if ((word & 0x1f000000) == 0x10000000) {
		int64_t value = field(word, 5, 19) * 4 + (word >> 29 & 3);

		i->does = word >> 31 ? INSN_NEAR_PAGE : INSN_NEAR;
		i->amount = word >> 31 ? value * 4096 : value;
	}
}

void insn_decode(uint32_t word, struct insn *i)
{
	*i = (struct insn){.does = INSN_OTHER, .link_at = -1, .fp_at = -1};
	if (word >> 16 == 0) {
		i->does = INSN_END;
	} else if ((word & 0xbf800000) == 0x91000000) {
		add_immediate(word, i);
	} else if ((word & 0xffe00000) == 0xcb200000 && rd(word) == INSN_SP) {
		i->does = rn(word) == INSN_SP ? INSN_LOWER_BY : INSN_SP_LOST;
		i->number = word >> 16 & 31;
	} else if (((word & 0xffe00000) == 0x8b200000 || (word & 0xff800000) == 0x92000000) && rd(word) == INSN_SP) {
		i->does = INSN_SP_LOST;
	} else if (!by_sp(word, i)) {
		constant(word, i);
		if (i->does == INSN_OTHER)
			branch(word, i);
	}
}

/* bl, blr, and those that check a signature. */
bool follows_call(uintptr_t pc)
{
	uint32_t word;

	return !(pc & (INSN_BYTES - 1)) && load_u32(pc - INSN_BYTES, &word) &&
	       ((word & 0xfc000000) == 0x94000000 || (word & 0xfffff000) == 0xd63f0000 ||
		(word & 0xfffff000) == 0xd73f0000);
}
