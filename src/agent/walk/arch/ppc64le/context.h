/*
 * context.h (ppc64le) - registers of an interrupted thread.
 */
#ifndef JSTROBE_WALK_CONTEXT_H
#define JSTROBE_WALK_CONTEXT_H

#include <ucontext.h>

#include "common/base/base.h"

/* Where the kernel leaves them in a ucontext, and where that lies from sp at the end of a handler. */
#define CONTEXT_FIELD_PC uc_mcontext.gp_regs[32]
#define CONTEXT_FIELD_SP uc_mcontext.gp_regs[1]
#define CONTEXT_FIELD_FP uc_mcontext.gp_regs[31]
#define CONTEXT_ABOVE_SP 128
#define CONTEXT_FIELDS(u)                                                          \
	.bcp = (uintptr_t)(u)->uc_mcontext.gp_regs[14],                            \
	.sender_sp = (uintptr_t)(u)->uc_mcontext.gp_regs[21],                      \
	.method = (uintptr_t)(u)->uc_mcontext.gp_regs[19],                         \
	.ret = (uintptr_t)(u)->uc_mcontext.gp_regs[36]
#define CONTEXT_HAS_DWARF(number) ((number) <= 31 || (number) == 65)
#define CONTEXT_DWARF(u, number) (u)->uc_mcontext.gp_regs[(number) == 65 ? 36 : (number)]

#include "agent/walk/context_fields.h"

/* The thread pointer: at a fixed distance from the thread control block. */
static inline uintptr_t context_tcb(void)
{
	uintptr_t tp;

	asm("mr %0, 13" : "=r"(tp));
	return tp;
}

/* User addresses end here. */
#define USER_ADDRESS_END (1ull << 47)

/* A return address as the address it is: nothing else is stored in it. */
#define CODE_ADDRESS(pc) (pc)

#endif
