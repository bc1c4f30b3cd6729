/*
 * recording_thread.c - the thread "jstrobe write": each second it names, puts and writes what came in.
 */
#include <stdlib.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/generation.h"
#include "agent/collect/names/late_names.h"
#include "agent/sinks/recording/recording_state.h"
#include "agent/threads/own_thread.h"
#include "common/base/error.h"
#include "common/os/os.h"

#define WRITE_EVERY NS_PER_S
/* Symbol tables are large: looking names up may take this part of the time. */
#define LOOK_UP_SHARE 200
#define LOOK_UP_LATEST (10 * NS_PER_S)
#define MOST_HELD (32u << 20) /* bytes, for constants of a chunk */

/*
 * Look up names that are missing, if it is time again or FORCE says so. Locks: recording's, images', and
 * the collector's, which is given up meanwhile.
 */
static void name_frames(struct recording *r, bool force, uint64_t now)
{
	uint64_t took;

	if (!r->collector->frames.late.count || (!force && now < r->held_until))
		return;
	late_look_up(r->collector, false);
	took = os_monotonic() - now;
	r->held_until = now + MIN(took * LOOK_UP_SHARE, LOOK_UP_LATEST);
}

/* Names, constants and events, in memory. Recording's lock held. */
static void gather(struct recording *r, enum urgency urgency, uint64_t now)
{
	struct collector *c = r->collector;
	bool everything = urgency != URGENCY_TICK;

	if (everything && c->open)
		c->sources->flush();
	pthread_mutex_lock(&c->images);
	pthread_mutex_lock(&c->lock);
	if (everything && c->open) {
		aggregate_names(c);
		aggregate_up_to_now(c);
	}
	recording_take_over(r);
	if (everything)
		recording_count_stored(r);
	name_frames(r, everything, now);
	recording_put_batch(r, everything);
	recording_put_losses(r, now);
	recording_put_windows(r);
	recording_put_marks(r, now);
	if (urgency == URGENCY_END)
		recording_put_counters(r, now);
	if (everything)
		recording_count_rest(r);
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&c->images);
}

static void note_failure(struct recording *r, uint64_t samples, const struct error *err)
{
	r->dropped += samples;
	r->samples -= MIN(samples, r->samples);
	if (!r->failed.code)
		r->failed = *err;
}

/* Whether memory for stacks runs out, and a new chunk would bring more. */
static bool is_short(struct recording *r)
{
	bool yes;

	pthread_mutex_lock(&r->collector->lock);
	yes = generation_is_full(r->collector);
	pthread_mutex_unlock(&r->collector->lock);
	return yes;
}

/* Whether the chunk is as large (in file or memory) or as old as it may be; what came just now counts once written. */
static bool is_full(struct recording *r, uint64_t now)
{
	uint64_t size = jfr_chunk_size(r->jfr), held = jfr_chunk_held(r->jfr) + map_bytes(&r->vthreads);

	return now - jfr_chunk_began(r->jfr) >= r->options.chunk_time || held > MOST_HELD ||
	       (size && (size >= r->options.chunk_size || is_short(r)));
}

/*
 * What came since the last drain, and then a new aggregate: numbers of nodes are void. What waits for names goes on
 * waiting, under its new numbers, unless EVERYTHING is to go. Both locks held.
 */
static void renew(struct recording *r, bool everything)
{
	recording_take_over(r);
	recording_put_batch(r, everything);
	generation_begin(r->collector);
}

/* A new aggregate in the same chunk, if the present one keeps much that is not wanted now. Recording's lock held. */
static void renew_if_due(struct recording *r)
{
	pthread_mutex_lock(&r->collector->lock);
	if (generation_is_due(r->collector))
		renew(r, false);
	pthread_mutex_unlock(&r->collector->lock);
}

/* The next chunk. Recording's lock held. */
static int rotate(struct recording *r, uint64_t now, struct error *err)
{
	struct collector *c = r->collector;
	int rc;

	pthread_mutex_lock(&c->lock);
	renew(r, true);
	recording_count_stored(r);
	recording_put_losses(r, now);
	recording_put_counters(r, now);
	recording_count_rest(r);
	pthread_mutex_unlock(&c->lock);
	rc = jfr_rotate(r->jfr, os_realtime(), now, err);
	if (rc)
		return rc;
	recording_forget_keys(r);
	recording_put_settings(r, now);
	return 0;
}

void recording_write_pending(struct recording *r, enum urgency urgency)
{
	uint64_t now = os_monotonic(), before = r->samples;
	bool full = urgency != URGENCY_END && is_full(r, now);
	struct error err;
	int rc;

	gather(r, full ? URGENCY_FLUSH : urgency, now);
	recording_load(r, now);
	if (urgency == URGENCY_TICK && !full)
		renew_if_due(r);
	if (full)
		rc = rotate(r, now, &err);
	else if (urgency == URGENCY_END)
		rc = jfr_finish(r->jfr, now, &err);
	else
		rc = jfr_flush(r->jfr, now, &err);
	if (rc)
		note_failure(r, r->samples - before, &err);
}

void recording_wake(struct recording *r, bool stop)
{
	pthread_mutex_lock(&r->wake_lock);
	r->stopping |= stop;
	r->hurry = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->wake_lock);
}

/* Wait until it is time, or a result is wanted at once; false at the end. */
static bool wait_for_tick(struct recording *r, uint64_t until)
{
	struct timespec at = {(time_t)(until / NS_PER_S), (long)(until % NS_PER_S)};
	bool go_on;
	int rc = 0;

	pthread_mutex_lock(&r->wake_lock);
	while (rc == 0 && !r->hurry)
		rc = pthread_cond_timedwait(&r->wake, &r->wake_lock, &at);
	r->hurry = false;
	go_on = !r->stopping;
	pthread_mutex_unlock(&r->wake_lock);
	return go_on;
}

void *recording_run(void *arg)
{
	struct recording *r = arg;

	own_thread_begin("jstrobe write");
	atomic_store(&r->tid, os_gettid());
	while (wait_for_tick(r, os_monotonic() + WRITE_EVERY)) {
		pthread_mutex_lock(&r->lock);
		recording_write_pending(r, URGENCY_TICK);
		pthread_mutex_unlock(&r->lock);
	}
	own_thread_end();
	return NULL;
}
