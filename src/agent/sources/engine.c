/*
 * engine.c - starting and stopping the engines of a session's events, in the one order that
 * leaves nothing behind.
 */
#include "agent/sources/engine.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "agent/hooks/copies.h"
#include "agent/hooks/signal_action.h"
#include "agent/hooks/traps.h"
#include "agent/sample/perf_ring.h"
#include "agent/sources/active.h"
#include "agent/sources/engine_clocks.h"
#include "agent/threads/deferred.h"
#include "agent/threads/records.h"
#include "agent/threads/thread_hook.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/os/os.h"

#define SIGNAL_MS 5000 /* another copy takes or gives back a signal in less than one */

static struct engine_event events[RECORD_EVENTS];
static uint32_t event_count;
static atomic_bool active;
static atomic_bool arming; /* false from the first step of the stop: nothing armed later would be silenced */
static struct engine_options options;
static uint64_t counted[RECORD_EVENTS]; /* of disarmed threads; records' lock */
static char active_names[RECORD_EVENTS][32];
static bool held; /* stopped while a handler was held inside; not disarmed yet */
static uint32_t held_epoch;
static uint32_t departures; /* so far; records' lock */

const struct engine_options *active_options(void)
{
	return &options;
}

const struct engine_event *active_event(uint32_t e)
{
	return &events[e];
}

uint64_t active_thread_time(pid_t tid)
{
	return options.user_only ? os_thread_user(tid) : os_thread_cpu(tid);
}

void active_counted(uint32_t e, uint64_t count)
{
	counted[e] += count;
}

/* Any thread may open or shut the window. */
static bool is_wanted(const struct thread_record *r, uint32_t e)
{
	if (!options.wanted || events[e].role != WINDOW_NONE)
		return true;
	return r->judged ? r->judged == JUDGED_IN :
	       options.wanted(atomic_load(&((struct thread_record *)r)->tid));
}

static void arm(struct thread_record *r)
{
	uint32_t e;

	if (!atomic_load(&active) || !atomic_load(&arming) || r->own)
		return;
	for (e = 0; e < event_count; e++) {
		if (atomic_load(&r->sources[e].arm) == ARM_NONE && is_wanted(r, e))
			events[e].ops->arm(r, e);
		else if (events[e].role != WINDOW_NONE)
			window_wake(&r->sources[e]);
	}
	engine_clocks_turn(r);
}

enum loss_reason active_rest_why(uint32_t arm)
{
	if (atomic_load(&zone.vm_exiting))
		return LOSS_vm_exiting;
	return atomic_load(&zone.enabled) && arm != ARM_LEAVING ? LOSS_thread_exiting : LOSS_disabled;
}

static void disarm(struct thread_record *r)
{
	uint32_t e;

	for (e = 0; e < event_count; e++)
		if (atomic_load(&r->sources[e].arm) != ARM_NONE)
			events[e].ops->disarm(r, e, false);
}

/* Which event's source is leaving, and for the how manieth time any does: never the same again. */
static uintptr_t departure_of(const struct record_source *s, uint32_t e)
{
	return (uintptr_t)s->departure * RECORD_EVENTS + e;
}

/* No handler is in that source of R any more; else the thread has ended since. Records' lock held. */
static void end_departure(struct thread_record *r, uintptr_t departure)
{
	uint32_t e = departure % RECORD_EVENTS;
	const struct record_source *s = &r->sources[e];

	if (!atomic_load(&active) || atomic_load(&s->arm) != ARM_LEAVING || departure_of(s, e) != departure)
		return;
	events[e].ops->disarm(r, e, false);
	arm(r); /* it may be wanted again by now */
}

static bool departed(void *r, void *departure)
{
	records_with_lock(end_departure, r, (uintptr_t)departure);
	return true;
}

/* Where there is no memory to note it, it goes with its thread, or with the session. */
static void retire(struct thread_record *r)
{
	uint32_t e;

	for (e = 0; atomic_load(&active) && e < event_count; e++) {
		struct record_source *s = &r->sources[e];
		uint32_t was = atomic_load(&s->arm);

		if (was == ARM_NONE || was == ARM_LEAVING)
			continue;
		events[e].ops->disarm(r, e, true);
		s->departure = ++departures;
		if (atomic_load(&s->arm) == ARM_LEAVING)
			deferred_free(departed, r, (void *)departure_of(s, e));
	}
}

static void end(struct thread_record *r)
{
	uint32_t e;

	engine_clocks_end(r);
	if (atomic_load(&active))
		disarm(r);
	for (e = 0; e < RECORD_EVENTS; e++)
		atomic_store(&r->sources[e].arm, ARM_NONE);
}

static void java_ends(struct thread_record *r)
{
	uint32_t e;

	for (e = 0; atomic_load(&active) && e < event_count; e++)
		if (events[e].ops->java_ends && atomic_load(&r->sources[e].arm) != ARM_NONE)
			events[e].ops->java_ends(r, e);
}

static void trimmed(uint32_t from, uint32_t to)
{
	uint32_t e;

	for (e = 0; atomic_load(&active) && e < event_count; e++)
		if (events[e].ops->trimmed)
			events[e].ops->trimmed(from, to);
}

static uint32_t queue_start(void)
{
	return options.queue_start;
}

const struct records_sources engine_records = {
	.queue_start = queue_start,
	.arm = arm,
	.disarm = end,
	.retire = retire,
	.wait = active_wait,
	.java_ends = java_ends,
	.trimmed = trimmed,
	.release = engine_release,
};

static void silence(struct thread_record *r)
{
	uint32_t e;

	for (e = 0; e < event_count; e++)
		if (events[e].ops->silence && atomic_load(&r->sources[e].arm) != ARM_NONE)
			events[e].ops->silence(r, e);
	engine_clocks_turn(r);
}

/* An event of CPU time that any thread may have a timer for, or the process. */
static bool is_by_timer(const struct engine_event *e)
{
	return e->fallback || e->ops == &engine_ctimer || e->ops->sigprof;
}

/* The event that must have SIGPROF: its number, or that of none, O->count. */
static uint32_t with_sigprof(const struct engine_options *o)
{
	uint32_t e = 0;

	while (e < o->count && !o->events[e].ops->sigprof)
		e++;
	return e;
}

/* The events go together: at most one of CPU time by timers, none twice. */
static int check(const struct engine_options *o, struct error *err)
{
	uint32_t i, j;

	for (i = 0; i < o->count; i++) {
		const struct engine_event *e = &o->events[i];

		if (o->only_cpu && e->ops != &engine_perf)
			return error_set(err, EINVAL, "%s: target-cpu is only supported with perf_events", e->name);
		if (e->ops->sigprof && o->events[o->count - 1].role != WINDOW_NONE)
			return error_set(err, EINVAL, "begin and end do not go together with %s; use cpu or ctimer",
					 e->name);
		for (j = 0; j < i; j++) {
			const struct engine_event *f = &o->events[j];

			if (strcmp(e->name, f->name) == 0)
				return error_set(err, EINVAL, "the event %s stands twice in the list", e->name);
			if (is_by_timer(e) && is_by_timer(f))
				return error_set(err, EINVAL, "%s and %s both are CPU time: leave one of them out",
						 f->name, e->name);
		}
	}
	return 0;
}

/* The lock of copies is held: what is free stays so until we have it. */
static int take_free_signal(const struct engine_options *o, struct error *err)
{
	uint32_t itimer = with_sigprof(o);
	const struct engine_event *e = &o->events[itimer % o->count];
	int signo = SIGPROF;

	if (itimer == o->count)
		signo = signals_choose(o->signal, e->name, err);
	else if (o->signal && o->signal != SIGPROF)
		return error_set(err, EINVAL, "signal=%d: itimer has SIGPROF (%d) and no other; leave the "
				 "option out, or use -e ctimer", o->signal, SIGPROF);
	else if (os_signal_taken(SIGPROF))
		return error_set(err, EBUSY, "itimer: SIGPROF has a handler already (another profiler, or JFR's CPU "
				 "sampler); stop that one, or use -e cpu or -e ctimer");
	return signo < 0 ? signo : signals_take(signo, e->ops->handler, err);
}

static int take_signal(const struct engine_options *o, struct error *err)
{
	int rc;

	if (!copies_lock(SIGNAL_MS))
		return error_set(err, EBUSY, "another copy of libjstrobe.so in this process is just starting or ending "
				 "a session; try again");
	rc = take_free_signal(o, err);
	copies_unlock();
	return rc;
}

/* What handlers know of event E. */
static void tell_zone(uint32_t e)
{
	struct zone_event *z = &zone.events[e];
	const struct engine_event *event = &events[e];

	z->interval = event->interval;
	z->quiet = event->ops == &engine_perf && !weight_is_time(event->weight);
	z->scaled = event->perf.scaled;
	z->role = event->role;
	z->ticks = event->ticks;
	z->waits = event->weight == WEIGHT_WAIT;
	z->user_only = weight_is_time(event->weight) && options.user_only;
	z->varies = event->ops == &engine_perf && weight_is_time(event->weight) && event->role == WINDOW_NONE;
	zone.quiet |= z->quiet;
	zone.asked |= z->ticks != TICKS_NONE || z->waits;
	if (is_by_timer(event))
		zone.timer_event = e;
	atomic_store(&zone.raised[e], 0);
	atomic_store(&zone.stretched[e], 0);
}

/* The threads of the first COUNT events' engines end. */
static void halt_events(uint32_t count)
{
	uint32_t e;

	for (e = 0; e < count; e++)
		if (events[e].ops->halt)
			events[e].ops->halt();
}

/* What the first COUNT events' engines took is given back, after halt_events. */
static void stop_events(uint32_t count)
{
	uint32_t e;

	for (e = 0; e < count; e++)
		if (events[e].ops->stop)
			events[e].ops->stop();
}

static bool has_breakpoints(void)
{
	uint32_t e;

	for (e = 0; e < event_count; e++)
		if (events[e].ops == &engine_perf && events[e].perf.type == PERF_TYPE_BREAKPOINT)
			return true;
	return false;
}

/* An engine that refuses gives back itself what it took. */
static int start_events(struct buffer *notes, struct error *err)
{
	uint32_t e;
	int rc;

	zone.quiet = zone.asked = false;
	zone.timer_event = 0;
	zone.tick = os_tick();
	zone.event_count = event_count;
	window_start(&options);
	shortfalls_clear();
	active_count_timers();
	active_count_descriptors();
	active_count_rings();
	for (e = 0; e < event_count; e++) {
		counted[e] = 0;
		tell_zone(e);
		rc = events[e].ops->start(&events[e], e, notes, err);
		if (rc) {
			halt_events(e);
			stop_events(e);
			return events[e].role != WINDOW_NONE ? window_refused(&events[e], err) : rc;
		}
		tell_zone(e);
	}
	return 0;
}

void engine_expect(const struct engine_event *expected, uint32_t count)
{
	uint32_t e;

	for (e = 0; !atomic_load(&active) && e < count; e++)
		snprintf(active_names[e], sizeof(active_names[e]), "%s", expected[e].ops->name);
}

int engine_start(const struct engine_options *o, struct buffer *notes, struct error *err)
{
	uint32_t e;
	int rc;

	if (atomic_load(&active))
		return error_set(err, EBUSY, "an engine runs already: %s", events[0].ops->name);
	rc = check(o, err);
	if (rc)
		return rc;
	memcpy(events, o->events, o->count * sizeof(*events));
	event_count = o->count;
	/* until threads are armed: what is known of it */
	engine_expect(events, event_count);
	options = *o;
	options.events = events;
	rc = take_signal(&options, err);
	if (rc)
		return rc;
	rc = has_breakpoints() ? traps_take(err) : 0;
	if (!rc)
		rc = start_events(notes, err);
	if (rc) {
		signals_flush();
		signals_give_back();
		traps_give_back();
		return rc;
	}
	atomic_fetch_add(&zone.epoch, 1); /* who is inside shows that it is of this session */
	atomic_store(&zone.enabled, true);
	atomic_store(&active, true);
	atomic_store(&arming, true);
	thread_hook_install();
	records_scan();
	/* Records made before the engine was in force. */
	records_each(arm);
	engine_clocks_armed();
	engine_notes(notes);
	e = with_sigprof(&options);
	rc = e < event_count ? events[e].ops->begin(&events[e], err) : 0;
	if (rc)
		engine_stop();
	return rc;
}

/* No handler recognises it any more. */
static void unpublish(struct thread_record *r)
{
	atomic_store(&r->tcb, 0);
}

/*
 * All handlers that have entered are out again, and none enters any more, for there is no record that it would take for
 * its own; at most 2 s, as a thread may be stopped by a debugger.
 */
static bool wait_outside(void)
{
	int i;

	records_each(unpublish);
	held_epoch = quiesce_begin();
	for (i = 0; i < 2000 && !quiesced(held_epoch); i++)
		os_sleep(NS_PER_MS);
	return quiesced(held_epoch);
}

void engine_halt(void)
{
	uint32_t e;

	if (!atomic_load(&active) || !atomic_load(&arming))
		return;
	for (e = 0; e < event_count; e++)
		engine_active(e);
	thread_hook_remove();
	halt_events(event_count);
	/* Arming happens under the records' lock: a thread that was at it is seen by the next line. */
	atomic_store(&arming, false);
	engine_clocks_halting();
	records_each(silence);
	engine_clocks_halted();
}

/* ---- what is due when sampling ends ---- */

#define COME_BACK (50 * NS_PER_MS) /* longer no stop waits for threads that are in the kernel */

static uint32_t due;  /* threads that can take samples yet; records' lock */
static bool asking;

static bool has_rest(const struct thread_record *r)
{
	uint32_t e;

	for (e = 0; e < event_count; e++)
		if (events[e].role == WINDOW_NONE && events[e].ops->has_rest && events[e].ops->has_rest(r, e))
			return true;
	return false;
}

/*
 * R's signal is pending, and comes when it is back from the kernel. Where it came while the thread was inside the
 * profiler it has to be sent again. A thread that sleeps is left alone: it blocks its signals, or would have taken it.
 */
static void ask(struct thread_record *r)
{
	pid_t tid = atomic_load(&r->tid);

	if (!has_rest(r) || os_thread_state(tid) != 'R')
		return;
	due++;
	if (asking)
		os_signal_thread(tid, zone.signo, zone_tick_word(r, 0));
}

static void wait_for_rest(void)
{
	uint64_t until = os_monotonic() + COME_BACK;

	for (asking = true; !atomic_load(&zone.vm_exiting); asking = false) {
		due = 0;
		records_each(ask);
		if (!due || os_monotonic() >= until)
			return;
		os_sleep(NS_PER_MS);
	}
}

bool engine_stop(void)
{
	bool outside;

	if (!atomic_load(&active))
		return true;
	engine_halt();
	wait_for_rest();
	signals_flush();
	/* A handler that had silenced its thread's events itself may wake them up to here: closing ends that. */
	atomic_store(&zone.enabled, false);
	outside = wait_outside();
	/* A handler that is held (by a debugger) may be reading its ring: see engine_settle. */
	if (outside)
		records_each(end);
	stop_events(event_count);
	window_stop();
	signals_give_back();
	if (outside) /* else breakpoints are armed yet */
		traps_give_back();
	held = !outside;
	atomic_store(&active, false);
	return outside;
}

bool engine_settle(void)
{
	if (held && !quiesced(held_epoch))
		return false;
	if (held) {
		records_each(disarm);
		stop_events(event_count);
		traps_give_back();
	}
	held = false;
	return true;
}

/* ---- counts ---- */

static struct engine_counts counting;
static uint32_t counting_event;

static void count_one(struct thread_record *r)
{
	struct record_source *s = &r->sources[counting_event];
	uint32_t arm = atomic_load(&s->arm);
	bool scaled = events[counting_event].perf.scaled;
	uint64_t words[3] = {0, 0, 0};

	if (r->own)
		return;
	counting.threads++;
	counting.perf += arm == ARM_PERF;
	counting.timer += arm == ARM_TIMER;
	counting.refused += arm == ARM_NONE && is_wanted(r, counting_event) && os_thread_exists(atomic_load(&r->tid));
	if (arm == ARM_PERF && !weight_is_time(events[counting_event].weight) &&
	    os_perf_read(s->fd, scaled, words))
		counting.counted += scaled ? perf_scaled(words[0], words[1], words[2]) : words[0];
	if ((arm == ARM_CALLS || arm == ARM_LEAVING) && events[counting_event].ops->counted)
		counting.counted += events[counting_event].ops->counted(r, counting_event);
}

void engine_count(uint32_t e, struct engine_counts *c)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER; /* the session's thread and that of a recording ask */

	pthread_mutex_lock(&one);
	memset(&counting, 0, sizeof(counting));
	counting_event = e;
	records_each(count_one);
	counting.raised = (uint32_t)atomic_load(&zone.raised[e]);
	counting.stretched = atomic_load(&zone.stretched[e]);
	counting.counted += counted[e];
	*c = counting;
	pthread_mutex_unlock(&one);
}

const char *engine_active(uint32_t e)
{
	struct engine_counts c;
	char *name = active_names[e];

	if (!atomic_load(&active))
		return name;
	engine_count(e, &c);
	if (events[e].fallback && c.timer)
		strcpy(name, c.perf ? "perf+ctimer" : "ctimer");
	else if (events[e].ops->way)
		snprintf(name, sizeof(active_names[0]), "%s-%s", events[e].ops->name, events[e].ops->way());
	else
		strcpy(name, events[e].ops->name);
	return name;
}
