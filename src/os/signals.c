/*
 * signals.c - which signal is free.
 */
#include <signal.h>
#include <stddef.h>

#include "os/os.h"

bool os_signal_taken(int signo)
{
	struct sigaction action;

	if (sigaction(signo, NULL, &action))
		return true;
	return (action.sa_flags & SA_SIGINFO) ||
	       (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
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
