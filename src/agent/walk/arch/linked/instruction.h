/*
 * instruction.h - what an instruction does to the stack pointer, the frame pointer and the link register.
 *
 * Enough to follow generated code to its next call or return, on CPUs whose instructions have four bytes and whose
 * calls leave the return address in a register. Inner header of their insn.h, which numbers the registers; insn.c
 * decodes.
 */
#ifndef JSTROBE_WALK_INSTRUCTION_H
#define JSTROBE_WALK_INSTRUCTION_H

#include "agent/walk/insn_fetch.h"

#define INSN_BYTES 4

enum insn_does {
	INSN_OTHER,
	INSN_RELEASE,       /* sp grows by `amount` (negative: shrinks) */
	INSN_LOWER_BY,      /* sp shrinks by register `number` */
	INSN_SP_FROM,       /* sp becomes register `number` + `amount` */
	INSN_SP_LOST,       /* sp becomes something else */
	INSN_FP_FROM_SP,    /* the frame pointer becomes sp + `amount` */
	INSN_CONSTANT,      /* register `number` becomes `amount` */
	INSN_NEAR,          /* register `number` becomes this pc + `amount` */
	INSN_NEAR_PAGE,     /* register `number` becomes this pc's page + `amount` */
	INSN_ADD,           /* register `number` grows by `amount` */
	INSN_FORGET,        /* register `number` becomes something else */
	INSN_STACK,         /* loads or stores by sp: see the fields for it */
	INSN_CALL,          /* to this pc + `amount` */
	INSN_CALL_REGISTER,
	INSN_RETURN,        /* to the link register */
	INSN_JUMP,          /* to this pc + `amount` */
	INSN_JUMP_REGISTER,
	INSN_BRANCH,        /* maybe to this pc + `amount` */
	INSN_END,           /* traps: nothing goes on behind it */
};

struct insn {
	uint8_t does;
	uint8_t number;
	int64_t amount;
	/* INSN_STACK: sp grows by `before` ahead of the access and by `after` behind it. */
	int32_t before, after;
	bool load;
	bool jumps;             /* what is loaded for the link register becomes the pc: it returns */
	/* Where link register and frame pointer are loaded or stored, from sp at the access; -1: they are not. */
	int32_t link_at, fp_at;
};

#endif
