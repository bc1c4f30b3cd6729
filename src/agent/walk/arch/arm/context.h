/*
 * context.h (arm) - registers of an interrupted thread.
 */
#ifndef JSTROBE_WALK_CONTEXT_H
#define JSTROBE_WALK_CONTEXT_H

#include <ucontext.h>

#include "common/base/base.h"

/* Where the kernel leaves them in a ucontext, and where that lies from sp at the end of a handler. */
#define CONTEXT_FIELD_PC uc_mcontext.arm_pc
#define CONTEXT_FIELD_SP uc_mcontext.arm_sp
#define CONTEXT_FIELD_FP uc_mcontext.arm_fp
#define CONTEXT_ABOVE_SP 128 /* behind siginfo_t */
#define CONTEXT_FIELDS(u)                                                          \
	.fp = (uintptr_t)(u)->uc_mcontext.arm_fp,                                  \
	.bcp = (uintptr_t)(u)->uc_mcontext.arm_r7,                                 \
	.sender_sp = (uintptr_t)(u)->uc_mcontext.arm_r4,                           \
	.method = (uintptr_t)(u)->uc_mcontext.arm_r9,                              \
	.ret = (uintptr_t)(u)->uc_mcontext.arm_lr
#define CONTEXT_HAS_DWARF(number) ((number) <= 15)
#define CONTEXT_DWARF(u, number) (&(u)->uc_mcontext.arm_r0)[number]

#include "agent/walk/context_fields.h"

/* The thread pointer: at a fixed distance from the thread control block. */
static inline uintptr_t context_tcb(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

/* User addresses end here. */
#define USER_ADDRESS_END 0xfffff000u

/* A return address without the bit that says what state it is returned to in (T32 or A32). */
#define CODE_ADDRESS(pc) ((pc) & ~(uintptr_t)1)

#endif
