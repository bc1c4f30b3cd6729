/*
 * context.h (riscv64) - registers of an interrupted thread.
 */
#ifndef JSTROBE_WALK_CONTEXT_H
#define JSTROBE_WALK_CONTEXT_H

#include <ucontext.h>

#include "common/base/base.h"

/* Where the kernel leaves them in a ucontext, and where that lies from sp at the end of a handler. */
#define CONTEXT_FIELD_PC uc_mcontext.__gregs[REG_PC]
#define CONTEXT_FIELD_SP uc_mcontext.__gregs[REG_SP]
#define CONTEXT_FIELD_FP uc_mcontext.__gregs[REG_S0]
#define CONTEXT_ABOVE_SP 128 /* behind siginfo_t */
#define CONTEXT_FIELDS(u)                                                          \
	.fp = (uintptr_t)(u)->uc_mcontext.__gregs[REG_S0],                         \
	.ret = (uintptr_t)(u)->uc_mcontext.__gregs[REG_RA]
#define CONTEXT_HAS_DWARF(number) ((number) >= 1 && (number) <= 31)
#define CONTEXT_DWARF(u, number) (u)->uc_mcontext.__gregs[number]

#include "agent/walk/context_fields.h"

/* The thread pointer: at a fixed distance from the thread control block. */
static inline uintptr_t context_tcb(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

/* User addresses end here. */
#define USER_ADDRESS_END (1ull << 47)

/* A return address as the address it is: nothing else is stored in it. */
#define CODE_ADDRESS(pc) (pc)

#endif
