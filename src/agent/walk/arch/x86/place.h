/*
 * place.h (x86) - what is known at a place of a way through code (code_way.h).
 */
#ifndef JSTROBE_WALK_PLACE_H
#define JSTROBE_WALK_PLACE_H

#include "common/base/base.h"

#define CIRCLE 16 /* targets of jumps that are remembered */

struct place {
	uintptr_t pc;
	int32_t released; /* bytes that rsp lies above its value at the beginning */
	int32_t fp_at;    /* where the caller's rbp was popped from, seen from the first rsp; -1: in the register */
	int32_t base;     /* what rbp is, seen from the first rsp, if that is known */
	enum fp_value fp;
	int32_t popped;   /* where the last register but rbp was popped from; INT32_MIN: none */
	uint8_t keeper;   /* number of a register that took rsp */
	int32_t kept;     /* and what it was, INT32_MIN: there is none */
	bool fp_kept;     /* rbp is stored on the way: it is still the caller's */
	bool anew;        /* a frame is being built, after one was taken down */
	uint32_t size;    /* what went into the frame's size word, 0: nothing */
	int32_t kept_at;  /* where SENDER_SP was loaded from; INT32_MIN: it was not */
	bool lost;        /* rsp was aligned: it is not known until it is restored */
};

struct way_registers {
	uintptr_t jumped[CIRCLE];
	uint32_t jumps;
	bool everywhere;          /* what debug information describes is looked for at each instruction */
};

#endif
