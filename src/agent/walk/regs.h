/*
 * regs.h - the registers a walk starts from. Which ones they are, and how they are read, is in the CPU's context.h.
 */
#ifndef JSTROBE_WALK_REGS_H
#define JSTROBE_WALK_REGS_H

#include "common/base/base.h"

/* From outside (an anchor) only pc, sp and fp are known. */
struct walk_regs {
	uintptr_t pc, sp, fp;
	uintptr_t bcp;       /* bytecode pointer of an interpreted top frame */
	uintptr_t sender_sp; /* at the entry of an interpreted method: what its caller's sp is */
	uintptr_t method;    /* Method* at the entry of an interpreted method */
	uintptr_t ret;       /* return address: popped by interpreter entries and c2i adapters, or linked by a call */
	const void *all;     /* all registers of the context, for context.h; NULL from outside */
};

#endif
