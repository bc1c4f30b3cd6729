/*
 * context.h (x86_64) - registers of an interrupted thread.
 */
#ifndef JSTROBE_WALK_CONTEXT_H
#define JSTROBE_WALK_CONTEXT_H

#include <ucontext.h>

#include "common/base/base.h"

/* Where the kernel leaves them in a ucontext, and where that lies from sp at the end of a handler. */
#define CONTEXT_FIELD_PC uc_mcontext.gregs[REG_RIP]
#define CONTEXT_FIELD_SP uc_mcontext.gregs[REG_RSP]
#define CONTEXT_FIELD_FP uc_mcontext.gregs[REG_RBP]
#define CONTEXT_ABOVE_SP 0
/* The instruction that calls the system, and where the result of the call is. */
#define CONTEXT_SYSCALL 0x050fu
#define CONTEXT_SYSCALL_MASK 0xffffu
#define CONTEXT_SYSCALL_BYTES 2
#define CONTEXT_FIELD_RESULT uc_mcontext.gregs[REG_RAX]

/* The registers in the order in which instructions encode them (Intel SDM volume 2, table 3-1). */
static const uint8_t context_order[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};
/* How they encode DWARF register NUMBER (System V x86_64 ABI, figure 3.36): the first eight differ. */
static inline unsigned context_encoded(unsigned number)
{
	static const uint8_t encoded[8] = {0, 2, 1, 3, 6, 7, 5, 4};

	return number < ARRAY_LEN(encoded) ? encoded[number] : number;
}

#define CONTEXT_FIELDS(u)                                                          \
	.fp = (uintptr_t)(u)->uc_mcontext.gregs[REG_RBP],                          \
	.bcp = (uintptr_t)(u)->uc_mcontext.gregs[REG_R13],                         \
	.sender_sp = (uintptr_t)(u)->uc_mcontext.gregs[REG_R13],                   \
	.method = (uintptr_t)(u)->uc_mcontext.gregs[REG_RBX],                      \
	.ret = (uintptr_t)(u)->uc_mcontext.gregs[REG_RAX]

#include "agent/walk/arch/x86/context_register.h"

/* The thread pointer: the address of the thread control block, equal to pthread_self(). */
static inline uintptr_t context_tcb(void)
{
	uintptr_t tcb;

	asm("movq %%fs:0, %0" : "=r"(tcb));
	return tcb;
}

/* Where the thread control block has its dtv (glibc's tcbhead_t). */
#define CONTEXT_DTV 8

/* User addresses end here (47 bits; 5-level paging is only handed out on request). */
#define USER_ADDRESS_END 0x800000000000ull

/* A return address as the address it is: nothing else is stored in it. */
#define CODE_ADDRESS(pc) (pc)

#endif
