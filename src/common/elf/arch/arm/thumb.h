/*
 * thumb.h (arm) - what an instruction of native code, T32 or A32, does to the stack pointer and to r7, by which GCC
 * addresses a frame, and where it goes on (Arm Architecture Reference Manual for A-profile, F3 and F4).
 */
#ifndef JSTROBE_ELF_THUMB_H
#define JSTROBE_ELF_THUMB_H

#include "common/base/base.h"

enum thumb_does {
	THUMB_OTHER,
	THUMB_SP_ADD,     /* sp grows by `amount` */
	THUMB_SP_BASE,    /* sp becomes r7 + `amount` */
	THUMB_SP_LOST,
	THUMB_BASE_SP,    /* r7 becomes sp + `amount` */
	THUMB_BASE_ADD,   /* r7 grows by `amount` */
	THUMB_PUSH,       /* sp shrinks by `amount`, then `registers` lie from it on */
	THUMB_POP,        /* `registers` are loaded from sp on, then it grows by `amount` */
	THUMB_STORE,      /* `registers` are stored at sp + `amount` */
	THUMB_LOAD,
	THUMB_LITERAL,    /* loads a constant of `amount` bytes that lies at `target` */
	THUMB_ADDRESS,    /* a register becomes `target` */
	THUMB_CALL,       /* of `target`, 0: not known */
	THUMB_JUMP,       /* to `target` */
	THUMB_BRANCH,     /* maybe to `target` */
	THUMB_IF,         /* the next `amount` instructions are under a condition (it) */
	THUMB_TABLE,      /* to behind one of the numbers that follow, of `amount` bytes each */
	THUMB_END,        /* returns, traps, or goes where is not known */
};

#define THUMB_PC 15
#define THUMB_LR 14
#define THUMB_SP 13
#define THUMB_FP 11
#define THUMB_BASE 7

struct thumb {
	uint8_t does;
	uint8_t bytes;
	bool leaves;        /* THUMB_CALL: of code in the other state; THUMB_POP: it returns */
	uint16_t registers; /* bit by number, ascending in memory */
	int32_t amount;
	uint32_t target;    /* as an offset, like the one given */
};

/* Decode the T32 instruction whose half words are FIRST and SECOND, and the A32 one WORD; AT: its offset. */
void thumb_decode(uint32_t first, uint32_t second, uint32_t at, struct thumb *t);
void thumb_decode_wide(uint32_t word, uint32_t at, struct thumb *t);

#endif
