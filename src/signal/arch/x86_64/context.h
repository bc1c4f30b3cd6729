/*
 * context.h (x86_64) - registers of an interrupted thread.
 */
#ifndef JSTROBE_SIGNAL_CONTEXT_H
#define JSTROBE_SIGNAL_CONTEXT_H

#include <stddef.h>
#include <ucontext.h>

#include "base/base.h"

/* The registers a walk starts from. From outside (an anchor) only pc, sp and fp are known. */
struct walk_regs {
	uintptr_t pc, sp, fp;
	uintptr_t bcp;    /* r13: bytecode pointer of an interpreted top frame; sender sp at its entry */
	uintptr_t method; /* rbx: Method* at the entry of an interpreted method */
	uintptr_t ret;    /* rax: return address popped by interpreter entries and c2i adapters */
	const greg_t *all; /* all registers of the context, NULL from outside */
};

static inline uintptr_t context_pc(const void *context)
{
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

static inline void context_set_pc(void *context, uintptr_t pc)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

static inline void context_read(const void *context, struct walk_regs *r)
{
	const greg_t *g = ((const ucontext_t *)context)->uc_mcontext.gregs;

	r->pc = (uintptr_t)g[REG_RIP];
	r->sp = (uintptr_t)g[REG_RSP];
	r->fp = (uintptr_t)g[REG_RBP];
	r->bcp = (uintptr_t)g[REG_R13];
	r->method = (uintptr_t)g[REG_RBX];
	r->ret = (uintptr_t)g[REG_RAX];
	r->all = g;
}

/* The context that ALL, as context_read() left it, is a part of. */
static inline void *context_of(const greg_t *all)
{
	return (char *)(uintptr_t)all - offsetof(ucontext_t, uc_mcontext.gregs);
}

/* Value of DWARF register NUMBER (System V x86_64 ABI, figure 3.36). */
static inline bool context_dwarf_register(const greg_t *g, unsigned number, uintptr_t *value)
{
	static const uint8_t order[16] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};

	if (!g || number >= ARRAY_LEN(order))
		return false;
	*value = (uintptr_t)g[order[number]];
	return true;
}

/* The thread pointer: the address of the thread control block, equal to pthread_self(). */
static inline uintptr_t context_tcb(void)
{
	uintptr_t tcb;

	asm("movq %%fs:0, %0" : "=r"(tcb));
	return tcb;
}

/* User addresses end here (47 bits; 5-level paging is only handed out on request). */
#define USER_ADDRESS_END 0x800000000000ull

#endif
