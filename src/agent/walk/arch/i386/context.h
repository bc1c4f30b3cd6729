/*
 * context.h (i386) - registers of an interrupted thread.
 */
#ifndef JSTROBE_WALK_CONTEXT_H
#define JSTROBE_WALK_CONTEXT_H

#include <ucontext.h>

#include "common/base/base.h"

/* Where the kernel leaves them in a ucontext, and where that lies from sp at the end of a handler. */
#define CONTEXT_FIELD_PC uc_mcontext.gregs[REG_EIP]
#define CONTEXT_FIELD_SP uc_mcontext.gregs[REG_ESP]
#define CONTEXT_FIELD_FP uc_mcontext.gregs[REG_EBP]
#define CONTEXT_ABOVE_SP 140 /* behind three arguments and siginfo_t */

/* The registers in the order in which instructions encode them (Intel SDM volume 2, table 3-1). */
static const uint8_t context_order[8] = {
	REG_EAX, REG_ECX, REG_EDX, REG_EBX, REG_ESP, REG_EBP, REG_ESI, REG_EDI,
};
/* How they encode DWARF register NUMBER (System V i386 ABI, table 2.14). */
static inline unsigned context_encoded(unsigned number)
{
	return number;
}

#define CONTEXT_FIELDS(u)                                                          \
	.fp = (uintptr_t)(u)->uc_mcontext.gregs[REG_EBP],                          \
	.bcp = (uintptr_t)(u)->uc_mcontext.gregs[REG_ESI],                         \
	.sender_sp = (uintptr_t)(u)->uc_mcontext.gregs[REG_ESI],                   \
	.method = (uintptr_t)(u)->uc_mcontext.gregs[REG_EBX],                      \
	.ret = (uintptr_t)(u)->uc_mcontext.gregs[REG_EAX]

#include "agent/walk/arch/x86/context_register.h"

/* The thread pointer: the address of the thread control block, equal to pthread_self(). */
static inline uintptr_t context_tcb(void)
{
	uintptr_t tcb;

	asm("movl %%gs:0, %0" : "=r"(tcb));
	return tcb;
}

/* User addresses end here. */
#define USER_ADDRESS_END 0xfffff000u

/* A return address as the address it is: nothing else is stored in it. */
#define CODE_ADDRESS(pc) (pc)

#endif
