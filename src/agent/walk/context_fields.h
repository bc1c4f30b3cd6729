/*
 * context_fields.h - pc, sp and fp in a ucontext, by where the CPU's context.h says they are. Inner header of those.
 */
#ifndef JSTROBE_WALK_CONTEXT_FIELDS_H
#define JSTROBE_WALK_CONTEXT_FIELDS_H

#include <stddef.h>
#include <ucontext.h>

#include "agent/walk/regs.h"

#define CONTEXT_PC offsetof(ucontext_t, CONTEXT_FIELD_PC)
#define CONTEXT_SP offsetof(ucontext_t, CONTEXT_FIELD_SP)
#define CONTEXT_FP offsetof(ucontext_t, CONTEXT_FIELD_FP)

static inline uintptr_t context_pc(const void *context)
{
	return (uintptr_t)((const ucontext_t *)context)->CONTEXT_FIELD_PC;
}

static inline void context_set_pc(void *context, uintptr_t pc)
{
	ucontext_t *u = context;

	u->CONTEXT_FIELD_PC = (__typeof__(u->CONTEXT_FIELD_PC))pc;
}

#endif
