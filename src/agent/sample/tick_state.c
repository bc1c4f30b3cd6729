/*
 * tick_state.c - what a thread did when a signal asked it for its tick: whether it waited is what the JVM notes of it,
 * and whether the signal broke off a call of the system. How late it came says nothing of that: to wake a thread takes
 * long, too.
 */
#include "agent/sample/tick_state.h"

#include <errno.h>

#include "agent/zone/load.h"
#include "agent/zone/zone.h"
#include "context.h"

#ifdef CONTEXT_SYSCALL
static bool is_call(uintptr_t pc)
{
	uint32_t code;

	return load_u32(pc, &code) && (code & CONTEXT_SYSCALL_MASK) == CONTEXT_SYSCALL;
}

/* A call that will begin again shows its own instruction; one that was broken off has its result. */
static bool broke_off(const struct walk_regs *regs)
{
	const ucontext_t *u = regs->all;

	return u && (is_call(regs->pc) || ((intptr_t)u->CONTEXT_FIELD_RESULT == -EINTR &&
					   is_call(regs->pc - CONTEXT_SYSCALL_BYTES)));
}

#define BYTES_MOST 0x7ffff000 /* no call of the system reads or writes more */

bool tick_in_bulk(const struct walk_regs *regs, uint64_t least)
{
	const ucontext_t *u = regs->all;
	uint64_t result = u ? (uint64_t)u->CONTEXT_FIELD_RESULT : 0;

	return result >= least && result <= BYTES_MOST && is_call(regs->pc - CONTEXT_SYSCALL_BYTES);
}
#else
static bool broke_off(const struct walk_regs *regs)
{
	(void)regs;
	return false;
}

bool tick_in_bulk(const struct walk_regs *regs, uint64_t least)
{
	(void)regs;
	(void)least;
	return false;
}
#endif

static bool waits_for_monitor(uintptr_t java)
{
	uintptr_t monitor;

	return zone.layout.thread_pending_monitor >= 0 &&
	       load_word(java + (uintptr_t)zone.layout.thread_pending_monitor, &monitor) && monitor;
}

enum thread_state tick_state(const struct thread_record *r, const struct walk_regs *regs, bool late)
{
	uintptr_t java = atomic_load_explicit(&((struct thread_record *)r)->java_thread, memory_order_relaxed);
	uint32_t state;

	if (java && zone.has_jvm && load_u32(java + (uintptr_t)zone.layout.thread_state, &state) &&
	    state == (uint32_t)zone.layout.state_blocked)
		return waits_for_monitor(java) ? THREAD_BLOCKED : THREAD_NONE;
	if (broke_off(regs))
		return THREAD_NATIVE;
	return late ? THREAD_RUNNABLE : THREAD_RUNNING;
}
