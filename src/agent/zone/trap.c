#include "agent/zone/trap.h"
#include "agent/zone/signal_entry.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct sigaction *_Atomic trap_former;
atomic_bool trap_armed;
_Atomic uint64_t trap_unnamed;

/*
 * exc_debug_user() of the kernel: TRAP_BRKPT is "no cause", TRAP_HWBKPT a cause that no event has. A breakpoint in the
 * code (INT3) has SI_KERNEL, a single step TRAP_TRACE.
 */
static bool has_no_cause(const siginfo_t *info)
{
#if defined(__x86_64__)
	return info->si_code == TRAP_BRKPT || info->si_code == TRAP_HWBKPT;
#else
	(void)info;
	return false;
#endif
}

void trap_by_default(int signo, const struct sigaction *former)
{
	int saved = errno;

	sigaction(signo, former, NULL);
	syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), (long)signo);
	errno = saved;
}

SIGNAL_HANDLER(, trap_handler)
{
	const struct sigaction *former = atomic_load(&trap_former);

	if (atomic_load(&trap_armed) && has_no_cause(info)) {
		atomic_fetch_add_explicit(&trap_unnamed, 1, memory_order_relaxed);
		return;
	}
	if (former->sa_flags & SA_SIGINFO)
		former->sa_sigaction(signo, info, context);
	else if (former->sa_handler == SIG_DFL)
		trap_by_default(signo, former);
	else if (former->sa_handler != SIG_IGN)
		former->sa_handler(signo);
}
