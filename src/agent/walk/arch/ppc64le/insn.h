/*
 * insn.h (ppc64le) - what an instruction does to the stack pointer r1 and to the link register, and where it goes on
 * (Power ISA, Book I). Prefixes of POWER10 are not met: HotSpot 17 has none.
 */
#ifndef JSTROBE_WALK_INSN_H
#define JSTROBE_WALK_INSN_H

#include "agent/walk/insn_fetch.h"

#define INSN_BYTES 4

enum insn_does {
	INSN_OTHER,
	INSN_PUSH,   /* r1 goes down, and its former value is stored there: a frame */
	INSN_RESIZE, /* r1 moves, and another value is stored there */
	INSN_POP,    /* r1 goes up */
	INSN_KEEP,   /* another register becomes the link register */
	INSN_RELOAD, /* the link register becomes another one */
	INSN_CALL,
	INSN_JUMP,   /* to this pc + `amount` */
	INSN_AWAY,   /* to the count register */
	INSN_RETURN,
	INSN_FIELD,  /* a register is loaded from the JavaThread + `amount` */
	INSN_STORE,  /* … is stored at r1 + `amount` */
	INSN_END,    /* is no instruction */
};

struct insn {
	uint8_t does;
	uint8_t number; /* INSN_RELOAD: of which register; INSN_FIELD, INSN_STORE: of the value */
	int64_t amount;
};

#endif
