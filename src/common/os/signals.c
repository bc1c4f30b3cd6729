/*
 * signals.c - which signal is free, and signals of our own.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/os/os.h"

bool os_signal_taken(int signo)
{
	struct sigaction action;

	if (sigaction(signo, NULL, &action))
		return true;
	return (action.sa_flags & SA_SIGINFO) ||
	       (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

/* membarrier(GLOBAL) is the kernel's synchronize_rcu; where it is refused (seccomp, nohz_full), time must do. */
void os_wait_for_cpus(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_SHARED, 0))
		os_sleep(30 * NS_PER_MS);
}

/* Linux 4.14; by number, for headers that are older. */
#define BARRIER (1 << 3)
#define BARRIER_REGISTER (1 << 4)

bool os_barrier_open(void)
{
	return syscall(SYS_membarrier, BARRIER_REGISTER, 0) == 0;
}

bool os_barrier(void)
{
	return syscall(SYS_membarrier, BARRIER, 0) == 0;
}

/*
 * Standard signals do not queue up: an overflowing real-time queue would make the
 * kernel send SIGIO, whose default action kills. SIGUSR2 is HotSpot's, SIGPROF the
 * JDK's own sampler's.
 */
int os_free_signal(void)
{
	static const int candidates[] = {SIGSTKFLT, SIGPWR, SIGVTALRM, SIGUSR1};
	size_t i;

	for (i = 0; i < ARRAY_LEN(candidates); i++)
		if (!os_signal_taken(candidates[i]))
			return candidates[i];
	return 0;
}

int os_signal_thread(pid_t tid, int signo, uintptr_t value)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = signo;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_ptr = (void *)value;
	return syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, signo, &info) ? -errno : 0;
}

void os_block_signals(int open)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	sigset_t set;
	size_t i;

	sigfillset(&set);
	for (i = 0; i < ARRAY_LEN(faults); i++)
		sigdelset(&set, faults[i]);
	if (open)
		sigdelset(&set, open);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
}
