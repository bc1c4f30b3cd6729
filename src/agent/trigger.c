/*
 * What goes off only posts a semaphore, which a signal handler may do, too; a thread of ours waits for it. That
 * thread is none of the JVM's: one that is out of memory, or deep in a safepoint, is not needed for the result.
 */
#include "agent/trigger.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "agent/entry.h"
#include "agent/jvm.h"
#include "agent/log.h"
#include "agent/owed.h"
#include "agent/session.h"
#include "agent/thread.h"
#include "os/os.h"

static struct {
	sem_t posted;
	bool ready;                /* the semaphore is */
	bool thread;               /* the thread is there */
	_Atomic unsigned session;  /* grows as one begins or ends */
	atomic_bool on_oom, fired;
	int signal;                /* 0 = none */
	struct sigaction former;
} state;

static void on_signal(int signo, siginfo_t *info, void *context)
{
	int code = errno;

	atomic_store(&state.fired, true);
	sem_post(&state.posted);
	errno = code;
}

void trigger_exhausted(void)
{
	if (!atomic_load(&state.on_oom))
		return;
	atomic_store(&state.fired, true);
	sem_post(&state.posted);
}

/* Ends with its session. */
static void *run(void *data)
{
	unsigned session = (unsigned)(uintptr_t)data;
	struct error err;

	session_own_thread(true);
	for (;;) {
		while (sem_wait(&state.posted))
			;
		/* several that came together are one */
		while (sem_trywait(&state.posted) == 0)
			;
		entry_lock();
		if (atomic_load(&state.session) != session) {
			sem_post(&state.posted); /* it may have been for the thread of the next one */
			entry_unlock();
			break;
		}
		if (atomic_exchange(&state.fired, false) && owed_write(NULL, &err))
			log_error("%s", err.text);
		entry_unlock();
	}
	session_own_thread(false);
	return NULL;
}

static int take_signal(int signo, struct error *err)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	if (os_signal_taken(signo))
		return error_set(err, EBUSY, "onsignal=%d: signal %d (%s) is in use in this process; choose another, "
				 "as 10 (SIGUSR1)", signo, signo, strsignal(signo));
	sigemptyset(&action.sa_mask);
	if (sigaction(signo, &action, &state.former))
		return error_set(err, errno, "onsignal=%d: %s", signo, strerror(errno));
	state.signal = signo;
	return 0;
}

int trigger_begin(const struct options *o, bool has_place, struct error *err)
{
	unsigned session;
	int rc = 0;

	trigger_end();
	if (!o->on_oom && !o->on_signal)
		return 0;
	if (!has_place)
		return error_set(err, EINVAL, "%s: nobody said where the result shall go; give file=FILE (-f FILE)",
				 o->on_oom ? "onoom" : "onsignal");
	if (!state.ready)
		sem_init(&state.posted, 0, 0);
	state.ready = true;
	atomic_store(&state.fired, false);
	session = atomic_load(&state.session);
	if (o->on_signal)
		rc = take_signal((int)o->on_signal, err);
	if (rc == 0 && o->on_oom)
		rc = jvm_watch_exhaustion(true, err);
	if (rc == 0)
		rc = thread_start("jstrobe trigger", run, (void *)(uintptr_t)session, err);
	state.thread = rc == 0;
	atomic_store(&state.on_oom, rc == 0 && o->on_oom);
	if (rc)
		trigger_end();
	return rc;
}

void trigger_end(void)
{
	struct sigaction now, ignore = {.sa_handler = SIG_IGN};
	struct error ignored;

	atomic_fetch_add(&state.session, 1);
	if (atomic_exchange(&state.on_oom, false))
		jvm_watch_exhaustion(false, &ignored);
	/* ignoring it first makes the system forget one that waits: its default would end the process */
	if (state.signal && sigaction(state.signal, NULL, &now) == 0 && now.sa_sigaction == on_signal) {
		sigaction(state.signal, &ignore, NULL);
		sigaction(state.signal, &state.former, NULL);
	}
	state.signal = 0;
	if (state.thread)
		sem_post(&state.posted);
	state.thread = false;
}
