/*
 * itimer.c - ITIMER_PROF: one count-down of the whole process's CPU time; the thread
 * that expires it is sampled. It is SIGPROF by nature and refused where that is taken.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "agent/sample/handler.h"
#include "agent/sources/active.h"
#include "agent/sources/engine.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/os/os.h"

static int set_timer(uint64_t interval)
{
	struct itimerval value;

	value.it_interval.tv_sec = (time_t)(interval / NS_PER_S);
	value.it_interval.tv_usec = (suseconds_t)(interval % NS_PER_S / NS_PER_US);
	value.it_value = value.it_interval;
	return setitimer(ITIMER_PROF, &value, NULL) ? -errno : 0;
}

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	(void)e;
	(void)notes;
	if (active_options()->user_only)
		return error_set(err, EINVAL, "alluser: %s counts user and kernel time as one; use -e cpu or -e ctimer",
				 event->name);
	atomic_store(&zone.process_clock, os_process_cpu());
	return 0;
}

/* Not before threads have their records: the system gives the signal to any of them. */
static int begin(const struct engine_event *event, struct error *err)
{
	int rc = set_timer(event->interval);

	return rc ? error_set(err, -rc, "itimer: setitimer: %s", error_text(-rc)) : 0;
}

static int arm(struct thread_record *r, uint32_t e)
{
	atomic_store(&r->sources[e].arm, ARM_PROCESS);
	return 0;
}

static void disarm(struct thread_record *r, uint32_t e, bool at_work)
{
	(void)at_work;
	atomic_store(&r->sources[e].arm, ARM_NONE);
}

static void silence(struct thread_record *r, uint32_t e)
{
	(void)r;
	(void)e;
	set_timer(0);
}

static void stop(void)
{
	set_timer(0);
}

const struct engine_ops engine_itimer = {
	.name = "itimer", .sigprof = true, .handler = handler_itimer, .start = start, .begin = begin,
	.arm = arm, .silence = silence, .disarm = disarm, .stop = stop,
};
