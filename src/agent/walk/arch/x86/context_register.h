/*
 * context_register.h (x86) - registers of an interrupted thread by number: as instructions encode them, by the order
 * that the CPU's context.h has them in, and as DWARF does. Inner header of those.
 */
#ifndef JSTROBE_WALK_CONTEXT_REGISTER_H
#define JSTROBE_WALK_CONTEXT_REGISTER_H

#define CONTEXT_HAS_DWARF(number) ((number) < ARRAY_LEN(context_order))
#define CONTEXT_DWARF(u, number) (u)->uc_mcontext.gregs[context_order[context_encoded(number)]]

#include "agent/walk/context_fields.h"

/* Value of register NUMBER as instructions encode it. ALL: as context_read() left it. False: not known. */
static inline bool context_register(const void *all, unsigned number, uintptr_t *value)
{
	const ucontext_t *u = all;

	if (!u || number >= ARRAY_LEN(context_order))
		return false;
	*value = (uintptr_t)u->uc_mcontext.gregs[context_order[number]];
	return true;
}

#endif
