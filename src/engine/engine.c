/*
 * engine.c - starting and stopping the engine in force, in the one order that
 * leaves nothing behind.
 */
#include "engine/engine.h"

#include <errno.h>
#include <string.h>

#include "engine/force.h"
#include "engine/signals.h"
#include "os/os.h"

static const struct engine_ops *const engines[] = {&engine_perf, &engine_ctimer, &engine_itimer};
static const struct engine_ops *_Atomic in_force;
static atomic_bool arming; /* false from the first step of the stop: nothing armed later would be silenced */
static struct engine_options options;
static _Atomic uint32_t refused;
static char force_name[32];
static const struct engine_ops *held; /* stopped while a handler was held inside; not disarmed yet */
static uint32_t held_epoch;

const struct engine_ops *engine_by_event(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(engines); i++)
		if (strcmp(engines[i]->event, name) == 0)
			return engines[i];
	return NULL;
}

const struct engine_options *force_options(void)
{
	return &options;
}

void force_arm(struct thread_record *r)
{
	const struct engine_ops *ops = atomic_load(&in_force);

	if (!ops || !atomic_load(&arming) || r->own || r->arm != ARM_NONE)
		return;
	if (options.wanted && !options.wanted(atomic_load(&r->tid)))
		return;
	if (ops->arm(r))
		atomic_fetch_add(&refused, 1);
}

void force_disarm(struct thread_record *r)
{
	const struct engine_ops *ops = atomic_load(&in_force);

	if (ops && r->arm != ARM_NONE)
		ops->disarm(r);
	r->arm = ARM_NONE;
}

static void silence(struct thread_record *r)
{
	const struct engine_ops *ops = atomic_load(&in_force);

	if (ops->silence && r->arm != ARM_NONE)
		ops->silence(r);
}

int engine_start(const struct engine_ops *ops, const struct engine_options *o, struct buffer *notes,
		 struct error *err)
{
	int rc;

	if (atomic_load(&in_force))
		return error_set(err, EBUSY, "an engine runs already: %s", atomic_load(&in_force)->name);
	options = *o;
	atomic_store(&refused, 0);
	zone.interval = o->interval;
	rc = ops->start(&options, notes, err);
	if (rc)
		return rc;
	atomic_store(&zone.enabled, true);
	atomic_store(&in_force, ops);
	atomic_store(&arming, true);
	thread_hook_install();
	records_scan();
	/* Records made before the engine was in force. */
	records_each(force_arm);
	return 0;
}

/* All handlers that have entered are out again; at most 2 s, as a thread may be stopped by a debugger. */
static bool wait_outside(void)
{
	uint32_t epoch = atomic_fetch_add(&zone.epoch, 1) + 1;
	int i;

	for (i = 0; i < 2000 && !records_outside(epoch); i++)
		os_sleep(NS_PER_MS);
	return records_outside(epoch);
}

bool engine_stop(void)
{
	const struct engine_ops *ops = atomic_load(&in_force);
	bool outside;

	if (!ops)
		return true;
	engine_in_force();
	thread_hook_remove();
	/* Arming happens under the records' lock: whoever was at it is seen by the next line. */
	atomic_store(&arming, false);
	records_each(silence);
	signals_flush();
	atomic_store(&zone.enabled, false);
	outside = wait_outside();
	/* A handler that is held (by a debugger) may be reading its ring: see engine_settle. */
	if (outside)
		records_each(force_disarm);
	else
		held_epoch = atomic_load(&zone.epoch);
	ops->stop();
	held = outside ? NULL : ops;
	atomic_store(&in_force, NULL);
	return outside;
}

static void disarm_held(struct thread_record *r)
{
	if (r->arm != ARM_NONE)
		held->disarm(r);
}

bool engine_settle(void)
{
	if (held && !records_outside(held_epoch))
		return false;
	if (held)
		records_each(disarm_held);
	held = NULL;
	return true;
}

static struct engine_counts counting;

static void count_one(struct thread_record *r)
{
	if (r->own)
		return;
	counting.threads++;
	counting.perf += r->arm == ARM_PERF;
	counting.timer += r->arm == ARM_TIMER;
}

void engine_count(struct engine_counts *c)
{
	memset(&counting, 0, sizeof(counting));
	records_each(count_one);
	counting.refused = atomic_load(&refused);
	*c = counting;
}

const char *engine_in_force(void)
{
	const struct engine_ops *ops = atomic_load(&in_force);
	struct engine_counts c;

	if (!ops)
		return force_name;
	engine_count(&c);
	if (ops == &engine_perf && c.timer)
		strcpy(force_name, c.perf ? "perf+ctimer" : "ctimer");
	else
		strcpy(force_name, ops->name);
	return force_name;
}
