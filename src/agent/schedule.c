/*
 * One thread a schedule. It is no thread of the JVM until it has something to do, and it takes the
 * front's lock first and asks then whether its schedule still holds: whoever stops a session only
 * has to say that it does not.
 */
#include "agent/schedule.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/command.h"
#include "agent/entry.h"
#include "agent/jvm.h"
#include "agent/session.h"
#include "agent/talk.h"
#include "agent/thread.h"
#include "os/os.h"

#define LOOK_AGAIN (60 * NS_PER_S) /* clocks can be set */
#define RETRY (NS_PER_S / 10)

struct schedule {
	uint64_t number; /* of the session it is for */
	struct options options;
	struct options_moment round, end; /* 0: there is none */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ready;
	uint64_t number; /* of the present schedule */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- waiting ---- */

/* ns until M, 0 = it has come. */
static uint64_t left_until(const struct options_moment *m)
{
	uint64_t now = m->by_clock ? os_realtime() : os_monotonic();

	return m->at > now ? m->at - now : 0;
}

/* The shorter of both; UINT64_MAX when there is neither. */
static uint64_t left(const struct schedule *s)
{
	uint64_t round = s->round.at ? left_until(&s->round) : UINT64_MAX;
	uint64_t end = s->end.at ? left_until(&s->end) : UINT64_MAX;

	return MIN(round, end);
}

/* Wait NS or until the schedule changed; false when S holds no more. */
static bool wait_for(const struct schedule *s, uint64_t ns)
{
	uint64_t at = os_monotonic() + MIN(ns, LOOK_AGAIN);
	struct timespec until = {(time_t)(at / NS_PER_S), (long)(at % NS_PER_S)};
	bool holds;
	int rc = 0;

	pthread_mutex_lock(&state.lock);
	while (rc == 0 && state.number == s->number)
		rc = pthread_cond_timedwait(&state.changed, &state.lock, &until);
	holds = state.number == s->number;
	pthread_mutex_unlock(&state.lock);
	return holds;
}

static bool holds(const struct schedule *s)
{
	bool yes;

	pthread_mutex_lock(&state.lock);
	yes = state.number == s->number;
	pthread_mutex_unlock(&state.lock);
	return yes;
}

/* ---- doing ---- */

/* The front is locked. False: there is nothing more to come. */
static bool next_round(struct schedule *s)
{
	bool last = !s->round.at || (s->end.at && left_until(&s->end) == 0);
	bool on = command_round(&s->options, last);

	if (on)
		options_moment(s->options.loop, os_realtime(), os_monotonic(), &s->round);
	return on;
}

static void *run(void *data)
{
	struct schedule *s = data;
	bool on = true;

	session_own_thread(true);
	while (on && wait_for(s, left(s))) {
		if (left(s))
			continue;
		/* while the JVM starts it takes no threads */
		if (!jvm_attach("jstrobe timer")) {
			on = wait_for(s, RETRY);
			continue;
		}
		entry_lock();
		on = holds(s) && next_round(s);
		if (!on && holds(s))
			schedule_end();
		if (!talk_jvm_is_gone())
			jvm_detach();
		entry_unlock();
	}
	session_own_thread(false);
	free(s);
	return NULL;
}

/* ---- the door ---- */

int schedule_check(const struct options *o, bool has_place, struct error *err)
{
	if (o->loop[0] && o->fdtransfer)
		return error_set(err, EINVAL, "loop does not go together with fdtransfer: each round is a "
				 "session of its own, and a command opens perf events for one");
	if (o->loop[0] && !has_place)
		return error_set(err, EINVAL, "loop: nobody said where the results shall go; give "
				 "file=FILE (-f FILE) with %%n or %%t in its name");
	return 0;
}

void schedule_end(void)
{
	pthread_mutex_lock(&state.lock);
	state.number++;
	if (state.ready)
		pthread_cond_broadcast(&state.changed);
	pthread_mutex_unlock(&state.lock);
}

static void make_ready(void)
{
	if (!state.ready)
		os_condition_init(&state.changed);
	state.ready = true;
}

int schedule_begin(const struct options *o, struct error *err)
{
	struct schedule *s;
	int rc;

	schedule_end();
	if (!o->timeout[0] && !o->loop[0])
		return 0;
	make_ready();
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(err, ENOMEM, "out of memory");
	s->options = *o;
	s->options.action = ACTION_START;
	s->number = state.number;
	if (o->loop[0])
		options_moment(o->loop, os_realtime(), os_monotonic(), &s->round);
	if (o->timeout[0])
		options_moment(o->timeout, os_realtime(), os_monotonic(), &s->end);
	rc = thread_start("jstrobe timer", run, s, err);
	if (rc)
		free(s);
	return rc;
}
