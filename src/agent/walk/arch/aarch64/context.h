/*
 * context.h (aarch64) - registers of an interrupted thread.
 */
#ifndef JSTROBE_WALK_CONTEXT_H
#define JSTROBE_WALK_CONTEXT_H

#include <ucontext.h>

#include "common/base/base.h"

/* Where the kernel leaves them in a ucontext, and where that lies from sp at the end of a handler. */
#define CONTEXT_FIELD_PC uc_mcontext.pc
#define CONTEXT_FIELD_SP uc_mcontext.sp
#define CONTEXT_FIELD_FP uc_mcontext.regs[29]
#define CONTEXT_ABOVE_SP 128 /* behind siginfo_t */
/* The instruction that calls the system (svc 0), and where the result of the call is. */
#define CONTEXT_SYSCALL 0xd4000001u
#define CONTEXT_SYSCALL_MASK 0xffffffffu
#define CONTEXT_SYSCALL_BYTES 4
#define CONTEXT_FIELD_RESULT uc_mcontext.regs[0]
#define CONTEXT_FIELDS(u)                                                          \
	.fp = (uintptr_t)(u)->uc_mcontext.regs[29],                                \
	.bcp = (uintptr_t)(u)->uc_mcontext.regs[22],                               \
	.sender_sp = (uintptr_t)(u)->uc_mcontext.regs[13],                         \
	.method = (uintptr_t)(u)->uc_mcontext.regs[12],                            \
	.ret = (uintptr_t)(u)->uc_mcontext.regs[30]
#define CONTEXT_HAS_DWARF(number) ((number) <= 31)
#define CONTEXT_DWARF(u, number) ((number) == 31 ? (u)->uc_mcontext.sp : (u)->uc_mcontext.regs[number])

#include "agent/walk/context_fields.h"

/* The thread pointer: at a fixed distance from the thread control block. */
static inline uintptr_t context_tcb(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

/* User addresses end here. */
#define USER_ADDRESS_END (1ull << 48)

/* A return address without the signature that pointer authentication may have put above it. */
#define CODE_ADDRESS(pc) ((pc) & (USER_ADDRESS_END - 1))

#endif
