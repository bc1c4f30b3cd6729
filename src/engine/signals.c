#include "engine/signals.h"

#include <errno.h>
#include <string.h>

static void (*installed)(int, siginfo_t *, void *);

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
			 strerror(errno));
}

/* Whether the signal is still ours. */
static bool ours_still(void)
{
	struct sigaction now;

	return installed && sigaction(zone.signo, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
	       now.sa_sigaction == installed;
}

void signals_flush(void)
{
	struct sigaction ignore;

	if (!ours_still())
		return;
	memset(&ignore, 0, sizeof(ignore));
	ignore.sa_handler = SIG_IGN;
	sigaction(zone.signo, &ignore, NULL);
}

void signals_give_back(void)
{
	struct sigaction now;

	if (!installed)
		return;
	installed = NULL;
	if (sigaction(zone.signo, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
	    now.sa_handler == SIG_IGN)
		sigaction(zone.signo, &zone.former, NULL);
}
