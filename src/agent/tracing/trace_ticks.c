/*
 * trace_ticks.c - the thread that tells all probes each period to take the time. Normal code, one at a time.
 */
#include "agent/tracing/tick_places.h"

#include <pthread.h>
#include <stdatomic.h>

#include "agent/threads/own_thread.h"
#include "agent/tracing/tree.h"
#include "common/os/os.h"

#define PATIENCE (60 * NS_PER_S) /* for the turn that it is at: some 100 µs; the trees are freed behind it */

static struct {
	atomic_bool on, ended;
	uint64_t period;
} ticker;

/* The period that begins at FROM, or the one that has begun by now if that one is over: its tick stands for both. */
static uint64_t period_from(uint64_t from, uint64_t now)
{
	return now > from + ticker.period ? now - (now - from) % ticker.period : from;
}

static void *tick(void *data)
{
	uint64_t from = os_monotonic(), now = from;
	struct tick_places places;

	pthread_setname_np(pthread_self(), "jstrobe tick");
	/* late ticks are fewer ticks, and the times less sure; where it is not permitted they are taken as they come */
	os_thread_hurry();
	tick_places_begin(&places, from);
	while (atomic_load(&ticker.on)) {
		uint64_t at = from + tick_places_next(&places, ticker.period);

		os_sleep(at > now ? at - now : 0);
		tree_tick(from);
		now = os_monotonic();
		from = period_from(from + ticker.period, now);
	}
	atomic_store(&ticker.ended, true);
	return NULL;
}

int trace_ticks_start(uint64_t period, struct error *err)
{
	int rc;

	ticker.period = period;
	atomic_store(&ticker.on, true);
	atomic_store(&ticker.ended, false);
	rc = thread_start("jstrobe tick", tick, NULL, err);
	atomic_store(&ticker.on, rc == 0);
	return rc;
}

void trace_ticks_stop(void)
{
	uint64_t until = os_monotonic() + PATIENCE;

	if (!atomic_exchange(&ticker.on, false))
		return;
	while (!atomic_load(&ticker.ended) && os_monotonic() < until)
		os_sleep(100 * NS_PER_US);
}
