/*
 * context_read.h - the registers that a walk over native frames starts from, all that is read where Java frames are
 * not walked. Inner header of such CPUs' context.h.
 */
#ifndef JSTROBE_WALK_CONTEXT_READ_H
#define JSTROBE_WALK_CONTEXT_READ_H

#include "agent/walk/context_fields.h"

static inline void context_read(const void *context, struct walk_regs *r)
{
	const ucontext_t *u = context;

	*r = (struct walk_regs){
		.pc = (uintptr_t)u->CONTEXT_FIELD_PC,
		.sp = (uintptr_t)u->CONTEXT_FIELD_SP,
		.fp = (uintptr_t)u->CONTEXT_FIELD_FP,
#ifdef CONTEXT_FIELD_RET
		.ret = (uintptr_t)u->CONTEXT_FIELD_RET,
#endif
		.all = u,
	};
}

#endif
