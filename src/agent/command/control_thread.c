#include "agent/command/control_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/jvm.h"
#include "agent/threads/own_thread.h"
#include "agent/threads/records.h"
#include "common/base/error.h"
#include "common/os/os.h"

#define NAP (50 * NS_PER_MS)
#define LOOK_AGAIN (60 * NS_PER_S) /* clocks can be set */

enum item_state { ITEM_WAITS, ITEM_RUNS, ITEM_DONE };

struct control_item {
	struct control_job job;
	struct control_item *next;
	enum item_state state;
	bool left;                /* no one waits for it any more */
	atomic_bool called_off;
};

static struct {
	pthread_mutex_t lock;      /* everything here; those of alarms are taken inside it */
	pthread_cond_t changed;
	bool ready;                /* the condition is */
	struct control_item *first;
	struct control_item *now;  /* being carried out by the thread */
	const char *work;          /* what anyone carries out; NULL = nothing */
	uint64_t since;
	bool thread;               /* it is there */
	unsigned held;             /* conversations */
	atomic_bool last;          /* the JVM ends */
	bool jvm_gone;             /* and was not waited for */
} control = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define ALARMS 4 /* kinds: there are two */

static const struct control_alarm *_Atomic alarms[ALARMS]; /* those that were set once, NULL behind them */
static _Atomic pid_t tid;
static pthread_mutex_t jobs = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t bell; /* grows with all that is new */

static void lock(void)
{
	pthread_mutex_lock(&control.lock);
	if (!control.ready)
		os_condition_init(&control.changed);
	control.ready = true;
}

static void unlock(void)
{
	pthread_mutex_unlock(&control.lock);
}

void control_ring(void)
{
	atomic_fetch_add(&bell, 1);
	os_wake(&bell);
}

/* ---- one job at a time ---- */

static void note_work(const char *name)
{
	lock();
	control.work = name;
	control.since = os_monotonic();
	unlock();
}

bool control_begin_job(const char *name)
{
	uint64_t until = os_monotonic() + CONTROL_STALLED;

	while (pthread_mutex_trylock(&jobs)) {
		if (os_monotonic() > until)
			return false;
		os_sleep(NS_PER_MS);
	}
	note_work(name);
	return true;
}

void control_end_job(void)
{
	note_work(NULL);
	pthread_mutex_unlock(&jobs);
}

const char *control_at_work(uint64_t *since)
{
	const char *work;

	lock();
	work = control.work;
	*since = work ? os_monotonic() - control.since : 0;
	unlock();
	return work;
}

bool control_called_off(void)
{
	bool off;

	lock();
	off = atomic_load(&control.last) || (control.now && atomic_load(&control.now->called_off));
	unlock();
	return off;
}

pid_t control_thread_id(void)
{
	return atomic_load(&tid);
}

bool control_is_last(void)
{
	return atomic_load(&control.last);
}

/* ---- the thread ---- */

static void free_item(struct control_item *i)
{
	if (i->job.drop)
		i->job.drop(i->job.arg);
	free(i);
}

/* Carry out RUN(ARG) as a job, ATTACHED to the JVM if that can be. */
static void carry_out(const char *name, bool attached, void (*run)(void *), void *arg)
{
	bool here, gone;

	pthread_mutex_lock(&jobs);
	note_work(name);
	here = attached && jvm_attach("jstrobe control");
	run(arg);
	lock();
	gone = control.jvm_gone;
	unlock();
	/* the JVM would keep the thread for ever at its last safepoint */
	if (here && !gone)
		jvm_detach();
	control_end_job();
}

static void carry_out_item(struct control_item *i)
{
	bool left;

	carry_out(i->job.name, i->job.attached, i->job.run, i->job.arg);
	lock();
	i->state = ITEM_DONE;
	control.now = NULL;
	left = i->left;
	pthread_cond_broadcast(&control.changed);
	unlock();
	if (left)
		free_item(i);
}

/* Lock held. The next item, which is to be carried out now. */
static struct control_item *take(void)
{
	struct control_item *i = control.first;

	if (!i)
		return NULL;
	control.first = i->next;
	i->state = ITEM_RUNS;
	control.now = i;
	return i;
}

static uint64_t time_left(const struct control_alarm *a)
{
	if (!a->attached)
		return a->left();
	if (atomic_load(&control.last))
		return UINT64_MAX;
	/* while a JVM starts it takes no threads */
	return jvm_is_live() || !jvm_is_known() ? a->left() : LOOK_AGAIN;
}

/* The alarm that is due next; NULL: there is none. */
static const struct control_alarm *next_alarm(uint64_t *left)
{
	const struct control_alarm *a, *next = NULL;
	uint32_t i;

	*left = UINT64_MAX;
	for (i = 0; i < ALARMS && (a = atomic_load(&alarms[i])); i++)
		if (time_left(a) < *left) {
			*left = time_left(a);
			next = a;
		}
	return next;
}

static bool any_alarm(void)
{
	const struct control_alarm *a;
	uint32_t i;

	for (i = 0; i < ALARMS && (a = atomic_load(&alarms[i])); i++)
		if (a->is_set())
			return true;
	return false;
}

/* Lock held. Whether there is, or may soon be, something to do. */
static bool is_needed(void)
{
	return control.first || control.held || (!atomic_load(&control.last) && any_alarm());
}

/* Do what is due, or wait for it, or for something new: the bell has rung SEEN times. */
static void look_at_alarms(uint32_t seen)
{
	uint64_t left;
	const struct control_alarm *a = next_alarm(&left);

	if (a && left == 0)
		carry_out(a->name, a->attached, a->run, NULL);
	else
		os_wait_while(&bell, seen, MIN(left, LOOK_AGAIN));
}

static void *run(void *data)
{
	atomic_store(&tid, os_gettid());
	pthread_setname_np(pthread_self(), "jstrobe control");
	records_own(os_gettid(), true);
	lock();
	for (;;) {
		uint32_t seen = atomic_load(&bell);
		struct control_item *i = take();

		if (!i && !is_needed())
			break;
		unlock();
		if (i)
			carry_out_item(i);
		else
			look_at_alarms(seen);
		lock();
	}
	control.thread = false;
	atomic_store(&tid, 0);
	unlock();
	records_own(os_gettid(), false);
	return NULL;
}

/* Lock held. */
static int need_thread(struct error *err)
{
	int rc = control.thread ? 0 : thread_start("jstrobe control", run, NULL, err);

	control.thread |= rc == 0;
	return rc;
}

/* Lock held. */
static void watch(const struct control_alarm *alarm)
{
	uint32_t i;

	for (i = 0; i < ALARMS; i++) {
		const struct control_alarm *a = atomic_load(&alarms[i]);

		if (!a)
			atomic_store(&alarms[i], alarm);
		if (!a || a == alarm)
			return;
	}
}

int control_wake(const struct control_alarm *alarm, struct error *err)
{
	int rc;

	lock();
	watch(alarm);
	rc = need_thread(err);
	unlock();
	control_ring();
	return rc;
}

void control_hold(bool hold)
{
	lock();
	if (hold)
		control.held++;
	else
		control.held--;
	unlock();
	control_ring();
}

/* ---- those who ask ---- */

static struct control_item *new_item(const struct control_job *job, struct error *err)
{
	struct control_item *i = calloc(1, sizeof(*i));

	if (i) {
		i->job = *job;
		return i;
	}
	if (job->drop)
		job->drop(job->arg);
	error_set(err, ENOMEM, "out of memory");
	return NULL;
}

/* Lock held. */
static int enqueue(struct control_item *i, struct error *err)
{
	struct control_item **at = &control.first;
	int rc = atomic_load(&control.last) ? error_set(err, ESHUTDOWN, "the JVM is ending") : need_thread(err);

	if (rc)
		return rc;
	while (*at)
		at = &(*at)->next;
	*at = i;
	control_ring();
	return 0;
}

/* Lock held. I is taken out of the queue, if it is there still. */
static void withdraw(struct control_item *i)
{
	struct control_item **at = &control.first;

	while (*at && *at != i)
		at = &(*at)->next;
	if (*at)
		*at = i->next;
}

/* Lock held; at most NS. */
static void wait_a_moment(uint64_t ns)
{
	uint64_t at = os_monotonic() + ns;
	struct timespec until = {(time_t)(at / NS_PER_S), (long)(at % NS_PER_S)};

	pthread_cond_timedwait(&control.changed, &control.lock, &until);
}

/*
 * Lock held. Wait until I is done or P is at its end, looking each NAP. AT_SAFEPOINTS: those do not count, as the
 * waiting thread, one of the JVM's, would have to wait for their end anyway.
 */
static void wait_for(struct control_item *i, struct patience *p, uint64_t nap, bool at_safepoints)
{
	while (i->state != ITEM_DONE) {
		bool lasts;

		wait_a_moment(nap);
		if (i->state == ITEM_DONE)
			break;
		unlock();
		if (at_safepoints)
			jvm_stand_at_safepoint();
		lasts = patience_lasts(p);
		if (i->job.gone && i->job.gone(i->job.arg))
			atomic_store(&i->called_off, true);
		lock();
		if (!lasts)
			break;
	}
}

/* Lock held. I was not done in time. */
static int give_up(struct control_item *i, struct error *err)
{
	unsigned seconds = (unsigned)((os_monotonic() - control.since) / NS_PER_S);

	if (i->state == ITEM_WAITS) {
		withdraw(i);
		return error_set(err, EBUSY, "the profiler has carried out '%s' for %u s and does not get on; try "
				 "again later ('jstrobe status' tells)",
				 control.work ? control.work : "another command", seconds);
	}
	i->left = true;
	atomic_store(&i->called_off, true);
	return error_set(err, ETIMEDOUT, "the JVM has not let the profiler go on with '%s' for %u s; it is called off "
			 "as soon as it can be ('jstrobe status' tells)", i->job.name, seconds);
}

/* Before VMInit: on this thread. */
static int do_here(struct control_item *i, struct control_item **item, struct error *err)
{
	if (!control_begin_job(i->job.name)) {
		free_item(i);
		return error_set(err, EBUSY, "the profiler does not get on with another command");
	}
	i->job.run(i->job.arg);
	control_end_job();
	*item = i;
	return 0;
}

int control_do(const struct control_job *job, struct control_item **item, struct error *err)
{
	struct patience_limits limits = {.stalled = CONTROL_STALLED, .total = UINT64_MAX};
	struct control_item *i = new_item(job, err);
	struct patience p;
	bool ours = true;
	int rc;

	if (!i)
		return -err->code;
	if (jvm_is_known() && !jvm_is_live() && !control_is_last())
		return do_here(i, item, err);
	patience_begin(&p, &limits, control_thread_id);
	lock();
	rc = enqueue(i, err);
	if (rc == 0) {
		wait_for(i, &p, NAP, false);
		if (i->state != ITEM_DONE) {
			rc = give_up(i, err);
			ours = !i->left;
		}
	}
	unlock();
	if (rc == 0)
		*item = i;
	else if (ours)
		free_item(i);
	return rc;
}

void control_over(struct control_item *i)
{
	free_item(i);
}

void control_post(const struct control_job *job)
{
	struct error ignored;
	struct control_item *i = new_item(job, &ignored);
	int rc;

	if (!i)
		return;
	i->left = true;
	lock();
	rc = enqueue(i, &ignored);
	unlock();
	if (rc)
		free_item(i);
}

/* No thread can be had any more. */
static bool do_last_here(struct control_item *i)
{
	bool free = pthread_mutex_trylock(&jobs) == 0;

	if (free) {
		i->job.run(i->job.arg);
		pthread_mutex_unlock(&jobs);
	}
	free_item(i);
	return free;
}

bool control_last(const struct control_job *job, const struct patience_limits *limits)
{
	struct error ignored;
	struct control_item *i = job ? new_item(job, &ignored) : NULL;
	struct patience p;
	bool done;

	atomic_store(&control.last, true);
	if (!i)
		return !job;
	patience_begin(&p, limits, control_thread_id);
	lock();
	if (need_thread(&ignored)) {
		unlock();
		return do_last_here(i);
	}
	i->next = control.first;
	control.first = i;
	control_ring();
	wait_for(i, &p, 10 * NS_PER_MS, true);
	done = i->state == ITEM_DONE;
	if (!done) {
		i->left = control.jvm_gone = true;
		withdraw(i);
	}
	unlock();
	if (done)
		free_item(i);
	return done;
}
