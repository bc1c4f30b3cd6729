/*
 * signal_entry.h - the first thing that a handler does.
 *
 * On x86 the flag AC makes each unaligned access of user code a fault, and Linux starts handlers with the flags of the
 * code that they interrupt. HotSpot sets AC for some instructions while it asks for the CPU's features (VM_Version's
 * stub "get_cpu_info", all versions), so a signal just then, while the JVM starts, would end the program: 3 of 600
 * starts of JDK 25 with a sample each 50 us of CPU time did. The flags come back when the handler returns.
 */
#ifndef JSTROBE_ZONE_SIGNAL_ENTRY_H
#define JSTROBE_ZONE_SIGNAL_ENTRY_H

#include <signal.h>
#include <ucontext.h>

#include "common/base/base.h"

#if defined(__x86_64__)
#define ENTRY_AC 0x40000 /* EFLAGS.AC */

/* Below the red zone: what the compiler keeps there stays. */
static inline void signal_entry_align(const ucontext_t *context)
{
	if (unlikely(context->uc_mcontext.gregs[REG_EFL] & ENTRY_AC))
		asm volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq %0, (%%rsp)\n\tpopfq\n\t"
			     "leaq 128(%%rsp), %%rsp" : : "i"(~ENTRY_AC) : "cc", "memory");
}
#elif defined(__i386__)
#define ENTRY_AC 0x40000

static inline void signal_entry_align(const ucontext_t *context)
{
	if (unlikely(context->uc_mcontext.gregs[REG_EFL] & ENTRY_AC))
		asm volatile("pushfl\n\tandl %0, (%%esp)\n\tpopfl" : : "i"(~ENTRY_AC) : "cc", "memory");
}
#else
static inline void signal_entry_align(const ucontext_t *context)
{
	(void)context;
}
#endif

/* Defines the handler NAME; its body, a function of its own, is entered without AC. STORAGE: static, or nothing. */
#define SIGNAL_HANDLER(storage, name)                                                               \
	static __attribute__((noinline)) void name##_entered(int signo, siginfo_t *info, void *context); \
	storage void name(int signo, siginfo_t *info, void *context)                                \
	{                                                                                           \
		signal_entry_align(context);                                                        \
		name##_entered(signo, info, context);                                               \
	}                                                                                           \
	static void name##_entered(int signo, siginfo_t *info, void *context)

#endif
