#include "engine/own_thread.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "engine/engine.h"
#include "engine/libc_calls.h"
#include "os/os.h"

int own_thread_start(pthread_t *thread, void *(*run)(void *), void *arg, const char *what, struct error *err)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	rc = libc_pthread_create()(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return error_set(err, rc, "cannot create a thread (%s): %s; raise the limit of threads (ulimit -u, "
				 "pids.max)", what, strerror(rc));
	return 0;
}

void own_thread_begin(const char *name)
{
	os_block_signals();
	prctl(PR_SET_NAME, name);
	records_own(os_gettid(), true);
}

void own_thread_end(void)
{
	records_own(os_gettid(), false);
}
