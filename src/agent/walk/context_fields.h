/*
 * context_fields.h - the registers in a ucontext, by where the CPU's context.h says they are. Inner header of those.
 *
 *	CONTEXT_FIELD_PC, _SP, _FP        the fields of these
 *	CONTEXT_FIELDS(u)                 of U what struct walk_regs has besides: initializers
 *	CONTEXT_HAS_DWARF(number)         whether there is a DWARF register of that NUMBER
 *	CONTEXT_DWARF(u, number)          and its value
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

static inline void context_read(const void *context, struct walk_regs *r)
{
	const ucontext_t *u = context;

	*r = (struct walk_regs){
		.pc = (uintptr_t)u->CONTEXT_FIELD_PC,
		.sp = (uintptr_t)u->CONTEXT_FIELD_SP,
		CONTEXT_FIELDS(u),
		.all = u,
	};
}

/* Value of DWARF register NUMBER. ALL: as context_read() left it. False: not known. */
static inline bool context_dwarf_register(const void *all, unsigned number, uintptr_t *value)
{
	const ucontext_t *u = all;

	if (!u || !CONTEXT_HAS_DWARF(number))
		return false;
	*value = (uintptr_t)CONTEXT_DWARF(u, number);
	return true;
}

#endif
