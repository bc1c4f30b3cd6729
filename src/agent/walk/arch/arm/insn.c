/*
 * insn.c (arm) - decoding A32 instructions as far as a walk needs it (Arm Architecture Reference Manual for A-profile,
 * F4). Generated code is never T32. An instruction under a condition counts as one that is not executed, unless it
 * returns.
 */
#include "agent/walk/walk.h"
#include "insn.h"

#define PC 15
#define ALWAYS 0xeu
#define MOV_LR_PC 0x01a0e00fu

enum { OP_SUB = 2, OP_ADD = 4, OP_TST = 8, OP_CMN = 11, OP_MOV = 13, OP_MVN = 15 };

static uint8_t rd(uint32_t word)
{
	return word >> 12 & 15;
}

static uint8_t rn(uint32_t word)
{
	return word >> 16 & 15;
}

/* An immediate operand: eight bits, rotated right by twice four more. */
static uint32_t immediate(uint32_t word)
{
	uint32_t by = (word >> 8 & 15) * 2, value = word & 0xff;

	return by ? value >> by | value << (32 - by) : value;
}

/* Register, and AMOUNT more. */
static void add(uint8_t to, uint8_t from, int64_t amount, struct insn *i)
{
	i->amount = amount;
	i->number = to;
	if (to == INSN_SP) {
		i->does = from == INSN_SP ? INSN_RELEASE : INSN_SP_FROM;
		i->number = from;
	} else if (to == INSN_FP && from == INSN_SP) {
		i->does = INSN_FP_FROM_SP;
	} else if (from == PC) {
		i->does = INSN_NEAR;
		i->amount += 2 * INSN_BYTES;
	} else if (to == from) {
		i->does = INSN_ADD;
	}
}

/* OPERATION on registers; the second operand is a register that may be shifted. */
static void compute(uint32_t word, unsigned operation, struct insn *i)
{
	bool plain = !(word & 0xff0);
	uint8_t by = word & 15;

	if (operation == OP_MOV && plain && rd(word) == PC) {
		i->does = by == INSN_LINK ? INSN_RETURN : INSN_JUMP_REGISTER;
		i->number = by;
	} else if (operation == OP_MOV && plain && rd(word) != by) {
		add(rd(word), by, 0, i);
	} else if (operation == OP_SUB && plain && rd(word) == INSN_SP && rn(word) == INSN_SP) {
		i->does = INSN_LOWER_BY;
		i->number = by;
	} else if (rd(word) == PC) {
		i->does = INSN_JUMP_REGISTER;
		i->number = PC;
	} else if (rd(word) == INSN_SP) {
		i->does = INSN_SP_LOST;
	}
}

static void compute_immediate(uint32_t word, unsigned operation, struct insn *i)
{
	int64_t value = immediate(word);

	switch (operation) {
	case OP_ADD: add(rd(word), rn(word), value, i); break;
	case OP_SUB: add(rd(word), rn(word), -value, i); break;
	case OP_MOV: i->does = INSN_CONSTANT; i->amount = value; break;
	case OP_MVN: i->does = INSN_CONSTANT; i->amount = (uint32_t)~value; break;
	default:
		if (rd(word) == INSN_SP)
			i->does = INSN_SP_LOST;
	}
}

/* Arithmetic, moves, and branches to a register. */
static void data(uint32_t word, struct insn *i)
{
	unsigned operation = word >> 21 & 15;
	bool compares = operation >= OP_TST && operation <= OP_CMN;

	if ((word & 0x0fffffd0) == 0x012fff10) { /* bx, blx */
		i->number = word & 15;
		i->does = word & 0x20 ? INSN_CALL_REGISTER : i->number == INSN_LINK ? INSN_RETURN : INSN_JUMP_REGISTER;
		return;
	}
	if ((word & 0x0ff000f0) == 0x01200070) { /* bkpt */
		i->does = INSN_END;
		return;
	}
	if (compares && (word & 0x03b00000) == 0x03000000) { /* movw, movt */
		i->does = word & 1u << 22 ? INSN_ADD : INSN_CONSTANT;
		i->number = rd(word);
		i->amount = (int64_t)(word >> 4 & 0xf000) | (word & 0xfff);
		if (i->does == INSN_ADD)
			i->amount <<= 16; /* the upper half was 0 */
		return;
	}
	if (compares)
		return;
	i->does = INSN_FORGET;
	i->number = rd(word);
	if (word & 1u << 25)
		compute_immediate(word, operation, i);
	else if ((word & 0x90) != 0x90)
		compute(word, operation, i);
}

/* sp grows by AMOUNT, ahead of the access or behind it. */
static void move_sp(uint32_t word, int32_t amount, struct insn *i)
{
	i->does = INSN_STACK;
	*(word & 1u << 24 ? &i->before : &i->after) = amount;
}

/* One word, or a byte. */
static void single(uint32_t word, struct insn *i)
{
	bool load = word & 1u << 20, keeps = (word & 1u << 24) && !(word & 1u << 21);
	int32_t offset = (int32_t)(word & 0xfff) * (word & 1u << 23 ? 1 : -1);

	i->load = load;
	if (rn(word) == INSN_SP && !keeps && !(word & 1u << 25)) {
		move_sp(word, offset, i);
		i->jumps = load && rd(word) == PC;
		i->link_at = rd(word) == INSN_LINK || i->jumps ? 0 : -1;
		i->fp_at = rd(word) == INSN_FP ? 0 : -1;
	} else if (load && rd(word) == PC) {
		i->does = INSN_JUMP_REGISTER;
		i->number = PC;
	} else if (load) {
		i->does = rd(word) == INSN_SP ? INSN_SP_LOST : INSN_FORGET;
		i->number = rd(word);
	}
}

/* Half words and double words. */
static void extra(uint32_t word, struct insn *i)
{
	bool keeps = (word & 1u << 24) && !(word & 1u << 21);
	int32_t offset = (int32_t)((word >> 4 & 0xf0) | (word & 15)) * (word & 1u << 23 ? 1 : -1);

	if (rn(word) == INSN_SP && !keeps && (word & 1u << 22))
		move_sp(word, offset, i);
}

/* Several registers, the lowest of them at the lowest address. */
static void several(uint32_t word, struct insn *i)
{
	int32_t bytes = __builtin_popcount(word & 0xffff) * 4, at = 0;
	unsigned mode = word >> 23 & 3, number;

	i->load = word & 1u << 20;
	if (rn(word) != INSN_SP || !(word & 1u << 21) || mode != (i->load ? 1 : 2)) {
		if (i->load && word & 1u << PC) {
			i->does = INSN_JUMP_REGISTER;
			i->number = PC;
		}
		return;
	}
	i->does = INSN_STACK;
	*(i->load ? &i->after : &i->before) = i->load ? bytes : -bytes;
	i->jumps = i->load && word & 1u << PC;
	for (number = 0; number <= PC; number++) {
		if (!(word >> number & 1))
			continue;
		if (number == INSN_LINK || (number == PC && i->jumps))
			i->link_at = at;
		if (number == INSN_FP)
			i->fp_at = at;
		at += 4;
	}
}

/* What instructions do that are always executed. */
static void always(uint32_t word, struct insn *i)
{
	if ((word & 0x0e000000) == 0x0a000000) {
		i->does = word & 1u << 24 ? INSN_CALL : INSN_JUMP;
	} else if ((word & 0x0ff000f0) == 0x07f000f0) { /* udf */
		i->does = INSN_END;
	} else if ((word & 0x0fbf0e00) == 0x0d2d0a00 || (word & 0x0fbf0e00) == 0x0cbd0a00) { /* vpush, vpop */
		i->does = INSN_RELEASE;
		i->amount = (int64_t)(word & 0xff) * (word & 1u << 20 ? 4 : -4);
	} else if ((word & 0x0e000000) == 0x08000000) {
		several(word, i);
	} else if ((word & 0x0c000000) == 0x04000000 && (word & 0x02000010) != 0x02000010) {
		single(word, i);
	} else if ((word & 0x0e000090) == 0x00000090 && (word & 0x60)) {
		extra(word, i);
	} else if ((word & 0x0c000000) == 0) {
		data(word, i);
	}
}

void insn_decode(uint32_t word, struct insn *i)
{
	uint32_t condition = word >> 28;

	*i = (struct insn){.does = INSN_OTHER, .link_at = -1, .fp_at = -1};
	if ((word & 0x0e000000) == 0x0a000000)
		i->amount = ((int32_t)(word << 8) >> 6) + 2 * INSN_BYTES;
	if (word >> 16 == 0)
		i->does = INSN_END;
	else if (condition == ALWAYS)
		always(word, i);
	else if (condition < ALWAYS && (word & 0x0e000000) == 0x0a000000)
		i->does = word & 1u << 24 ? INSN_CALL : INSN_BRANCH;
	else if (condition < ALWAYS && ((word & 0x0fffffff) == 0x012fff1e || (word & 0x0fff8000) == 0x08bd8000 ||
					(word & 0x0fffffff) == 0x049df004)) /* bx lr, pop {…, pc} */
		always(word, i);
}

/* In T32, native code: bl, blx. */
static bool follows_narrow_call(uintptr_t pc)
{
	uint32_t first, second;

	return load_u16(pc - 2, &second) &&
	       ((second & 0xff87) == 0x4780 ||
		((second & 0xc000) == 0xc000 && load_u16(pc - 4, &first) && (first & 0xf800) == 0xf000));
}

/*
 * bl, blx; and a jump of any kind behind what puts the address behind it into the link register, mov lr, pc or
 * add lr, pc, n; n may leave out the word that the jump is to (MacroAssembler::call, patchable_call).
 */
bool follows_call(uintptr_t pc)
{
	uint32_t last, former, far;

	if (pc & 1)
		return false;
	if (!(pc & 3) && load_u32(pc - 4, &last) && load_u32(pc - 8, &former) && load_u32(pc - 12, &far) &&
	    ((last & 0x0f000000) == 0x0b000000 || (last & 0x0ffffff0) == 0x012fff30 ||
	     (last & 0xfe000000) == 0xfa000000 || (former & 0x0fffffff) == MOV_LR_PC ||
	     (former & 0x0fffffff) == 0x028fe000 || (far & 0x0fffffff) == 0x028fe004))
		return true;
	return follows_narrow_call(pc);
}
