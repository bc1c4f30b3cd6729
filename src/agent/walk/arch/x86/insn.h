/*
 * insn.h (x86) - how long an instruction is, and what it does to the stack pointer.
 *
 * Enough to follow generated code to its next call or return: what a walker needs to know of the rest is
 * only its length. Legacy, VEX and EVEX encodings (Intel SDM volume 2, appendix A), in 64-bit mode or, on i386,
 * in 32-bit mode. rsp, rbp and their like stand for esp and ebp too.
 */
#ifndef JSTROBE_WALK_INSN_H
#define JSTROBE_WALK_INSN_H

#include "common/base/base.h"

#define INSN_MAX 15 /* bytes of the longest one */
#ifndef INSN_WORD    /* bytes of a register, which tells the mode; a test has both */
#define INSN_WORD WORD
#endif

enum insn_does {
	INSN_OTHER,
	INSN_RELEASE,    /* rsp grows by `amount` (negative: shrinks) */
	INSN_RELEASE_BY, /* rsp grows by the word at rsp + `amount` */
	INSN_POP,        /* pop register number `amount`; not rbp or rsp */
	INSN_POP_FP,     /* pop rbp */
	INSN_POP_SP,     /* pop rsp */
	INSN_LEAVE,      /* mov rsp, rbp; pop rbp */
	INSN_FP_FROM_SP, /* mov rbp, rsp */
	INSN_SP_FROM_FP, /* rsp becomes rbp + `amount` */
	INSN_SP_TO,      /* register number `amount` becomes rsp; not rbp */
	INSN_SP_FROM,    /* rsp becomes register number `amount`; not rbp */
	INSN_RELOAD,     /* register `number` is loaded from rsp + `amount` */
	INSN_ALIGN,      /* rsp is rounded down to a multiple of `amount` */
	INSN_SP_LOST,    /* rsp becomes something else */
	INSN_CALL,       /* to behind it + `amount` */
	INSN_CALL_MEMORY,
	INSN_CALL_REGISTER,
	INSN_RETURN,
	INSN_JUMP,       /* to behind it + `amount` */
	INSN_JUMP_AWAY,  /* to an address that is not in the code */
	INSN_BRANCH,     /* maybe to behind it + `amount` */
	INSN_END,        /* hlt, int3, ud2: nothing goes on behind it */
};

struct insn {
	uint8_t length;
	uint8_t does;
	int32_t amount;
	uint8_t number;
};

/* Decode the instruction at CODE, of which INSN_MAX bytes are readable. False: not known. Any context. */
bool insn_decode(const uint8_t *code, struct insn *i);

#endif
