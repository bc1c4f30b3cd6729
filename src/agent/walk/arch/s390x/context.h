/*
 * context.h (s390x) - registers of an interrupted thread.
 */
#ifndef JSTROBE_WALK_CONTEXT_H
#define JSTROBE_WALK_CONTEXT_H

#include <ucontext.h>

#include "common/base/base.h"

/* Where the kernel leaves them in a ucontext, and where that lies from sp at the end of a handler. */
#define CONTEXT_FIELD_PC uc_mcontext.psw.addr
#define CONTEXT_FIELD_SP uc_mcontext.gregs[15]
#define CONTEXT_FIELD_FP uc_mcontext.gregs[11]
#define CONTEXT_ABOVE_SP 0
#define CONTEXT_FIELDS(u) .fp = (uintptr_t)(u)->uc_mcontext.gregs[11], .ret = (uintptr_t)(u)->uc_mcontext.gregs[14]
#define CONTEXT_HAS_DWARF(number) ((number) <= 15)
#define CONTEXT_DWARF(u, number) (u)->uc_mcontext.gregs[number]

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
