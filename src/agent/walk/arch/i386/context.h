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

#include "agent/walk/context_fields.h"

static inline void context_read(const void *context, struct walk_regs *r)
{
	const greg_t *g = ((const ucontext_t *)context)->uc_mcontext.gregs;

	r->pc = (uintptr_t)g[REG_EIP];
	r->sp = (uintptr_t)g[REG_ESP];
	r->fp = (uintptr_t)g[REG_EBP];
	r->bcp = r->sender_sp = (uintptr_t)g[REG_ESI];
	r->method = (uintptr_t)g[REG_EBX];
	r->ret = (uintptr_t)g[REG_EAX];
	r->all = context;
}

/*
 * Value of register NUMBER as instructions encode it (Intel SDM volume 2, table 3-1). ALL: as context_read()
 * left it. False: not known.
 */
static inline bool context_register(const void *all, unsigned number, uintptr_t *value)
{
	static const uint8_t order[8] = {
		REG_EAX, REG_ECX, REG_EDX, REG_EBX, REG_ESP, REG_EBP, REG_ESI, REG_EDI,
	};
	const ucontext_t *u = all;

	if (!u || number >= ARRAY_LEN(order))
		return false;
	*value = (uintptr_t)u->uc_mcontext.gregs[order[number]];
	return true;
}

/* The same by its DWARF number (System V i386 ABI, table 2.14), which for these is the same. */
static inline bool context_dwarf_register(const void *all, unsigned number, uintptr_t *value)
{
	return context_register(all, number, value);
}

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
