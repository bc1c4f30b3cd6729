#include "agent/threads/own_thread.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>

#include "agent/hooks/libc_calls.h"
#include "agent/threads/records.h"
#include "common/base/error.h"
#include "common/os/os.h"

#define LOOK (50 * NS_PER_MS) /* a longer time between two looks: this thread did not run either */

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
				 "pids.max)", what, error_text(rc));
	return 0;
}

/* Not pthread_timedjoin_np: it goes by the clock that can be set. */
bool own_thread_join(pthread_t thread, uint64_t ns)
{
	uint64_t pause = 20 * NS_PER_US, before = os_monotonic(), waited = 0;

	while (pthread_tryjoin_np(thread, NULL)) {
		uint64_t now = os_monotonic();

		/* a process that was stopped has not waited */
		waited += MIN(now - before, LOOK);
		before = now;
		if (waited >= ns) {
			pthread_detach(thread);
			return false;
		}
		os_sleep(pause);
		pause = MIN(2 * pause, NS_PER_MS);
	}
	return true;
}

/* Whether thread TID, whose CPU clock stood at *CPU, gets on. */
static bool gets_on(pid_t tid, uint64_t *cpu)
{
	uint64_t now = os_thread_cpu(tid);
	bool on = now != *cpu || os_thread_runs(tid);

	*cpu = now;
	return on;
}

static _Atomic pid_t waiting;

pid_t own_thread_waiting(void)
{
	return atomic_load(&waiting);
}

static bool join_busy(pthread_t thread, const _Atomic pid_t *tid)
{
	uint64_t pause = 20 * NS_PER_US, before = os_monotonic(), looked = 0, stalled = 0, waited = 0, cpu = 0;

	while (pthread_tryjoin_np(thread, NULL)) {
		uint64_t now = os_monotonic(), slept = MIN(now - before, LOOK);

		before = now;
		waited += slept;
		stalled += slept;
		if (waited - looked >= LOOK) {
			looked = waited;
			stalled = gets_on(atomic_load(tid), &cpu) ? 0 : stalled;
		}
		if (stalled >= OWN_THREAD_PATIENCE || waited >= OWN_THREAD_LONGEST)
			return false;
		os_sleep(pause);
		pause = MIN(2 * pause, NS_PER_MS);
	}
	return true;
}

bool own_thread_join_busy(pthread_t thread, const _Atomic pid_t *tid)
{
	bool joined;

	atomic_store(&waiting, os_gettid());
	joined = join_busy(thread, tid);
	atomic_store(&waiting, 0);
	return joined;
}

static _Atomic int process_signal;

void own_threads_take(int signo)
{
	atomic_store(&process_signal, signo);
}

void own_thread_begin(const char *name)
{
	os_block_signals(atomic_load(&process_signal));
	prctl(PR_SET_NAME, name);
	records_own(os_gettid(), true);
}

void own_thread_begin_first(const char *name, _Atomic pid_t *tid)
{
	own_thread_begin(name);
	atomic_store(tid, os_gettid());
	os_thread_first();
}

void own_thread_end(void)
{
	records_own(os_gettid(), false);
}
