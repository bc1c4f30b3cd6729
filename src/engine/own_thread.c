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

/* Not pthread_timedjoin_np: it goes by the clock that can be set. */
bool own_thread_join(pthread_t thread, uint64_t ns)
{
	uint64_t until = os_monotonic() + ns, pause = 20 * NS_PER_US;

	while (pthread_tryjoin_np(thread, NULL)) {
		if (os_monotonic() >= until) {
			pthread_detach(thread);
			return false;
		}
		os_sleep(pause);
		pause = MIN(2 * pause, NS_PER_MS);
	}
	return true;
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
