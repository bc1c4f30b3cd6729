#include "agent/hooks/signal_action.h"

#include <errno.h>
#include <string.h>

#include "agent/hooks/copies.h"
#include "common/os/os.h"

#define LIMIT_MS 1000 /* another copy is done with its signal in less than one */

static void (*installed)(int, siginfo_t *, void *);

/* Signals that mean something to the kernel, the C library or HotSpot, whether handled or not. */
static bool is_reserved(int signo)
{
	static const int reserved[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP,
				       SIGABRT, SIGCHLD, SIGUSR2};
	size_t i;

	for (i = 0; i < ARRAY_LEN(reserved); i++)
		if (reserved[i] == signo)
			return true;
	/* below SIGRTMIN the C library keeps some for itself; above, an overflow sends SIGIO */
	return signo >= 32;
}

int signals_choose(int asked, const char *event, struct error *err)
{
	int signo = asked ? asked : os_free_signal();

	if (!signo)
		return error_set(err, EBUSY, "%s: no free signal: SIGSTKFLT, SIGPWR, SIGVTALRM and "
				 "SIGUSR1 all have handlers in this process; use -e itimer", event);
	if (asked && is_reserved(signo))
		return error_set(err, EINVAL, "signal=%d cannot be used to sample by: the system or "
				 "the JVM has its own use for it, or it would queue up; leave the "
				 "option out, or use %d or %d", signo, SIGSTKFLT, SIGPWR);
	if (asked && os_signal_taken(signo))
		return error_set(err, EBUSY, "signal=%d is in use: this process has a handler for "
				 "it; leave the option out, or use another", signo);
	return signo;
}

int signals_take(int signo, void (*handler)(int, siginfo_t *, void *), struct error *err)
{
	struct sigaction ours;

	if (sigaction(signo, NULL, &zone.former))
		goto failed;
	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = handler;
	ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	sigemptyset(&ours.sa_mask);
	zone.signo = signo;
	if (sigaction(signo, &ours, NULL))
		goto failed;
	installed = handler;
	return 0;
failed:
	return error_set(err, errno, "cannot install a handler for signal %d: %s", signo,
			 error_text(errno));
}

/* Whether the signal is still ours. */
static bool ours_still(void)
{
	struct sigaction now;

	return installed && sigaction(zone.signo, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
	       now.sa_sigaction == installed;
}

bool signals_keep(int signo, const struct sigaction *action, struct sigaction *old)
{
	if (!signo || signo != zone.signo || !ours_still())
		return false;
	if (old)
		*old = zone.former;
	if (action)
		zone.former = *action;
	return true;
}

static bool flush(void)
{
	struct sigaction ours, ignore;

	if (!ours_still() || sigaction(zone.signo, NULL, &ours))
		return false;
	memset(&ignore, 0, sizeof(ignore));
	ignore.sa_handler = SIG_IGN;
	return sigaction(zone.signo, &ignore, NULL) == 0 && sigaction(zone.signo, &ours, NULL) == 0;
}

/* While it is ignored it looks free: no other copy may look. */
bool signals_flush(void)
{
	bool locked = copies_lock(LIMIT_MS), done = flush();

	if (locked)
		copies_unlock();
	return done;
}

/*
 * A thread may have taken its signal from the list and not yet looked at what is to be done with it: the kernel
 * lets go of the list in between for the signal of a timer (posixtimer_rearm, since 6.13
 * posixtimer_deliver_signal). Going to the default under it kills the process; seen once, on a machine
 * with 30 threads for 2 CPUs.
 */
void signals_give_back(void)
{
	if (signals_flush()) {
		os_wait_for_cpus();
		if (ours_still())
			sigaction(zone.signo, &zone.former, NULL);
	}
	installed = NULL;
}

void signals_of_child(void)
{
	if (ours_still())
		sigaction(zone.signo, &zone.former, NULL);
}
