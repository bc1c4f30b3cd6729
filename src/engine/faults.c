/*
 * faults.c - SIGSEGV and SIGBUS: put our handler before the JVM's, and back.
 */
#include <errno.h>
#include <string.h>

#include "engine/engine.h"
#include "signal/fault.h"

static const int signals[2] = {SIGSEGV, SIGBUS};
static bool installed[2];

/* Ours before FORMER, with its mask and flags: what is passed on runs as it always did. */
static int put(int signo, const struct sigaction *former)
{
	struct sigaction ours = *former;

	ours.sa_flags |= SA_SIGINFO;
	ours.sa_flags &= ~SA_RESETHAND;
	ours.sa_sigaction = fault_handler;
	return sigaction(signo, &ours, NULL);
}

int faults_install(struct error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(signals); i++) {
		if (installed[i])
			continue;
		if (sigaction(signals[i], NULL, &fault_former[i]))
			return error_set(err, errno, "cannot read the handler of signal %d: %s",
					 signals[i], strerror(errno));
		if (put(signals[i], &fault_former[i]))
			return error_set(err, errno, "cannot install a handler for signal %d: %s",
					 signals[i], strerror(errno));
		installed[i] = true;
	}
	return 0;
}

void faults_keep(void)
{
	struct sigaction now;
	size_t i;

	for (i = 0; i < ARRAY_LEN(signals); i++)
		if (installed[i] && sigaction(signals[i], NULL, &now) == 0 &&
		    now.sa_handler == fault_former[i].sa_handler)
			put(signals[i], &fault_former[i]);
}

void faults_remove(void)
{
	struct sigaction now;
	size_t i;

	for (i = 0; i < ARRAY_LEN(signals); i++) {
		if (!installed[i] || sigaction(signals[i], NULL, &now))
			continue;
		/* Somebody came after us and may call us: then ours stays in the chain. */
		if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != fault_handler)
			continue;
		sigaction(signals[i], &fault_former[i], NULL);
		installed[i] = false;
	}
}
