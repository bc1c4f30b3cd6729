/*
 * fault.c - the handler that turns a faulting load of ours into `false`.
 *
 * The table of loads is the section js_faults (see cpu.h). Anything else
 * goes to the action that was installed before us, with the mask and the flags
 * that action had asked for, so the JVM sees its own signals as ever.
 *
 * Below: whether a fault would reach us at all.
 */
#include "agent/walk/fault.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "agent/zone/load.h"
#include "agent/zone/signal_entry.h"
#include "agent/zone/trap.h"
#include "context.h"

struct fault_entry {
	int32_t load;    /* relative to this field */
	int32_t unwind; /* relative to this field */
};
extern const struct fault_entry __start_js_faults[] __attribute__((visibility("hidden")));
extern const struct fault_entry __stop_js_faults[] __attribute__((visibility("hidden")));

const struct sigaction *_Atomic fault_former[2];
_Atomic uintptr_t fault_front;
_Atomic uintptr_t fault_led;

static uintptr_t code_unwind_of(uintptr_t pc)
{
	const struct fault_entry *e;

	for (e = __start_js_faults; e < __stop_js_faults; e++)
		if ((uintptr_t)&e->load + (uintptr_t)(intptr_t)e->load == pc)
			return (uintptr_t)&e->unwind + (uintptr_t)(intptr_t)e->unwind;
	return 0;
}

/*
 * Without a handler behind us. A fault happens again, without us. One that was sent, as by kill(2), does not: it is
 * sent once more.
 */
static void by_default(const struct sigaction *old, int signo, const siginfo_t *info)
{
	if (info->si_code > 0)
		sigaction(signo, old, NULL);
	else if (old->sa_handler == SIG_DFL)
		trap_by_default(signo, old);
}

/* Hand SIGNO to the action that was there before us. */
static void pass_on(const struct sigaction *old, int signo, siginfo_t *info, void *context)
{
	if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(signo, info, context);
	else if (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN)
		by_default(old, signo, info);
	else
		old->sa_handler(signo);
}

SIGNAL_HANDLER(, fault_handler)
{
	uintptr_t out = code_unwind_of(context_pc(context));

	if (out) {
		context_set_pc(context, out);
		return;
	}
	if (unlikely(fault_in_doubt()) && signo == SIGSEGV)
		atomic_store(&fault_led, fault_in_force(SIGSEGV));
	pass_on(atomic_load(&fault_former[signo == SIGBUS]), signo, info, context);
}

/* ---- whether faults reach us ---- */

/* Bit 0: another handler may stand where ours stood. In steps of 2: threads in a handler that have them blocked. */
#define DOUBT 1u
#define BLOCKED 2u
_Atomic uint32_t load_by_kernel = DOUBT;

#define MASK (1ul << (SIGSEGV - 1) | 1ul << (SIGBUS - 1))

uintptr_t fault_in_force(int signo)
{
	/* The kernel's struct sigaction: the handler comes first, and all of it is smaller than this (CPUs we know). */
	uintptr_t action[8] = {0};

	syscall(SYS_rt_sigaction, signo, NULL, action, FAULT_MASK_BYTES);
	return action[0];
}

void fault_doubt(void)
{
	atomic_fetch_or(&load_by_kernel, DOUBT);
}

void fault_trust(void)
{
	atomic_fetch_and(&load_by_kernel, ~DOUBT);
}

bool fault_in_doubt(void)
{
	return atomic_load_explicit(&load_by_kernel, memory_order_relaxed) & DOUBT;
}

void fault_look(void)
{
	uintptr_t now;

	if (unlikely(fault_in_doubt()))
		return;
	now = fault_in_force(SIGSEGV);
	if (unlikely(now != (uintptr_t)fault_handler &&
		     now != atomic_load_explicit(&fault_front, memory_order_relaxed)))
		fault_doubt();
}

void fault_of_child(void)
{
	atomic_store(&load_by_kernel, DOUBT);
}

uint32_t fault_enter(const void *context)
{
	unsigned long mask;

	memcpy(&mask, &((const ucontext_t *)context)->uc_sigmask, sizeof(mask));
	fault_look();
	if (likely(!(mask & MASK)))
		return 0;
	atomic_fetch_add(&load_by_kernel, BLOCKED);
	return BLOCKED;
}

void fault_leave(uint32_t entered)
{
	if (unlikely(entered))
		atomic_fetch_sub(&load_by_kernel, entered);
}

bool load_asked(void *to, uintptr_t from, size_t n)
{
	/* struct iovec; this process by number, as it may be a child by now. */
	uintptr_t here[2] = {(uintptr_t)to, n}, there[2] = {from, n};
	int saved = errno;
	bool whole = syscall(SYS_process_vm_readv, syscall(SYS_getpid), here, 1l, there, 1l, 0l) == (long)n;

	errno = saved;
	return whole;
}
