/*
 * itimer.c - ITIMER_PROF: one count-down of the whole process's CPU time; the thread
 * that expires it is sampled. It is SIGPROF by nature and refused where that is taken.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "engine/engine.h"
#include "engine/signals.h"
#include "os/os.h"
#include "signal/handler.h"

static int set_timer(uint64_t interval)
{
	struct itimerval value;

	value.it_interval.tv_sec = (time_t)(interval / NS_PER_S);
	value.it_interval.tv_usec = (suseconds_t)(interval % NS_PER_S / NS_PER_US);
	value.it_value = value.it_interval;
	return setitimer(ITIMER_PROF, &value, NULL) ? -errno : 0;
}

static int start(const struct engine_options *o, struct buffer *notes, struct error *err)
{
	int rc;

	(void)notes;
	if (o->signal && o->signal != SIGPROF)
		return error_set(err, EINVAL, "signal=%d: itimer has SIGPROF (%d) and no other; leave the "
				 "option out, or use -e ctimer", o->signal, SIGPROF);
	if (os_signal_taken(SIGPROF))
		return error_set(err, EBUSY, "itimer: SIGPROF has a handler already (another profiler, or JFR's CPU "
				 "sampler); stop that one, or use -e cpu or -e ctimer");
	rc = signals_take(SIGPROF, handler_itimer, err);
	if (rc)
		return rc;
	atomic_store(&zone.process_clock, os_process_cpu());
	rc = set_timer(o->interval);
	if (rc) {
		signals_flush();
		signals_give_back();
		return error_set(err, -rc, "itimer: setitimer: %s", strerror(-rc));
	}
	return 0;
}

static int arm(struct thread_record *r)
{
	r->arm = ARM_PROCESS;
	return 0;
}

static void disarm(struct thread_record *r)
{
	r->arm = ARM_NONE;
}

static void silence(struct thread_record *r)
{
	(void)r;
	set_timer(0);
}

static void stop(void)
{
	set_timer(0);
	signals_give_back();
}

const struct engine_ops engine_itimer = {
	.name = "itimer", .event = "itimer", .start = start, .arm = arm, .silence = silence,
	.disarm = disarm, .stop = stop,
};
