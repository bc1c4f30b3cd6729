/*
 * What goes off only sets a flag and rings at the control thread, which a signal handler may do, too.
 */
#include "agent/command/trigger.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "agent/hooks/child.h"
#include "agent/jvm/jvm.h"
#include "agent/jvm/log.h"
#include "agent/command/control_thread.h"
#include "agent/command/pending_output.h"
#include "agent/zone/signal_entry.h"
#include "agent/zone/zone.h"
#include "common/os/os.h"

static struct {
	atomic_bool set, on_oom, fired;
	int signal;                /* 0 = none */
	struct sigaction former;
} state;

SIGNAL_HANDLER(static, on_signal)
{
	int code = errno;

	if (zone_in_child()) /* made past libc's fork(): its signals are no business of ours */
		return;
	atomic_store(&state.fired, true);
	control_ring();
	errno = code;
}

void trigger_exhausted(void)
{
	if (!atomic_load(&state.on_oom))
		return;
	atomic_store(&state.fired, true);
	control_ring();
}

static bool is_set(void)
{
	return atomic_load(&state.set);
}

bool trigger_fired(void)
{
	return atomic_load(&state.set) && atomic_load(&state.fired);
}

/* Write the result, if one has gone off. */
static void dump(void *unused)
{
	struct error err;

	/* several that came together are one */
	if (trigger_fired() && atomic_exchange(&state.fired, false) && pending_name()[0] &&
	    pending_write(NULL, NULL, &err))
		log_error("%s", err.text);
}

static uint64_t left(void)
{
	return trigger_fired() ? 0 : UINT64_MAX;
}

/* Before VMInit, at a safepoint and at the JVM's end, too. */
static const struct control_alarm alarm_of_triggers = {.name = "dump", .is_set = is_set, .left = left, .run = dump};

static int take_signal(int signo, struct error *err)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	if (os_signal_taken(signo))
		return error_set(err, EBUSY, "onsignal=%d: signal %d is in use in this process; choose another, as 10 "
				 "(SIGUSR1)", signo, signo);
	sigemptyset(&action.sa_mask);
	if (sigaction(signo, NULL, &state.former))
		return error_set(err, errno, "onsignal=%d: %s", signo, error_text(errno));
	child_gives_back(signo, on_signal, &state.former);
	if (sigaction(signo, &action, NULL)) {
		child_keeps_signal();
		return error_set(err, errno, "onsignal=%d: %s", signo, error_text(errno));
	}
	state.signal = signo;
	return 0;
}

int trigger_begin(const struct options *o, bool has_place, struct error *err)
{
	int rc = 0;

	trigger_end();
	if (!o->on_oom && !o->on_signal)
		return 0;
	if (!has_place)
		return error_set(err, EINVAL, "%s: the result has no file; give file=FILE (-f FILE)",
				 o->on_oom ? "onoom" : "onsignal");
	atomic_store(&state.fired, false);
	if (o->on_signal)
		rc = take_signal((int)o->on_signal, err);
	if (rc == 0 && o->on_oom)
		rc = jvm_watch_exhaustion(true, err);
	atomic_store(&state.on_oom, rc == 0 && o->on_oom);
	atomic_store(&state.set, rc == 0);
	if (rc == 0)
		rc = control_wake(&alarm_of_triggers, err);
	if (rc)
		trigger_end();
	return rc;
}

void trigger_end(void)
{
	struct sigaction now, ignore = {.sa_handler = SIG_IGN};
	struct error ignored;

	atomic_store(&state.set, false);
	if (atomic_exchange(&state.on_oom, false))
		jvm_watch_exhaustion(false, &ignored);
	/* ignoring it first makes the system forget one that waits: its default would end the process */
	if (state.signal && sigaction(state.signal, NULL, &now) == 0 && now.sa_sigaction == on_signal) {
		sigaction(state.signal, &ignore, NULL);
		sigaction(state.signal, &state.former, NULL);
	}
	child_keeps_signal();
	state.signal = 0;
	control_ring();
}
