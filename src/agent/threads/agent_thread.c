/*
 * agent_thread.c - threads of the agent's own.
 */
#include "agent/threads/own_thread.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "agent/hooks/libc_calls.h"

#define STACK_SIZE (1024 * 1024)

int thread_start(const char *name, void *(*run)(void *), void *data, struct error *err)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	size_t i;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	for (i = 0; i < ARRAY_LEN(faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = libc_pthread_create()(&thread, &attr, run, data);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (rc)
		return error_set(err, rc, "cannot start the thread '%s': %s; the target's limit of "
				 "threads is reached", name, error_text(rc));
	return 0;
}
