/*
 * ctimer.c - a POSIX timer on each thread's CPU clock. Needs no permission; bound to
 * the scheduler's tick, so a signal stands for several intervals (its overrun says how many).
 */
#include <errno.h>

#include "engine/engine.h"
#include "engine/signals.h"
#include "os/os.h"
#include "signal/handler.h"

static int start(const struct engine_options *o, struct buffer *notes, struct error *err)
{
	int signo = signals_choose(o, "ctimer", err);

	(void)notes;
	if (signo < 0)
		return signo;
	return signals_take(signo, handler_thread, err);
}

static int arm(struct thread_record *r)
{
	int32_t timer;
	int rc = os_timer_create(atomic_load(&r->tid), zone.signo, r, &timer);

	if (rc)
		return rc;
	rc = os_timer_start(timer, zone.interval);
	if (rc) {
		os_timer_delete(timer);
		return rc;
	}
	r->timer = timer;
	r->arm = ARM_TIMER;
	return 0;
}

static void disarm(struct thread_record *r)
{
	if (r->arm == ARM_TIMER && r->timer >= 0)
		os_timer_delete(r->timer);
	r->timer = -1;
	r->arm = ARM_NONE;
}

/* Deleting is all there is to silence; the record keeps its arm for the count. */
static void silence(struct thread_record *r)
{
	if (r->timer >= 0)
		os_timer_delete(r->timer);
	r->timer = -1;
}

const struct engine_ops engine_ctimer = {
	.name = "ctimer", .event = "ctimer", .start = start, .arm = arm, .silence = silence,
	.disarm = disarm, .stop = signals_give_back,
};
