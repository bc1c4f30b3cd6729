/*
 * collector.c - the collector's thread.
 */
#include "agent/collect/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/drain.h"
#include "agent/collect/held.h"
#include "agent/collect/names/late_names.h"
#include "agent/collect/names/method_identity.h"
#include "agent/collect/survivors.h"
#include "agent/threads/own_thread.h"
#include "agent/threads/records.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "common/base/knob.h"
#include "common/elf/elf.h"
#include "common/os/os.h"

#define FULL_EVERY NS_PER_S /* all records, stirred or not */
#define DRAIN_OFTEN (10 * NS_PER_MS)

struct collector *collector_new(const struct collect_sources *sources, const struct collector_options *o)
{
	struct collector *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->sources = sources;
	c->options = *o;
	c->options.events = MAX(o->events, 1u);
	if (!c->options.drain_every)
		c->options.drain_every = DRAIN_OFTEN;
	c->frames.lines = o->lines;
	method_identities_init(&c->frames.methods);
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->images, NULL);
	pthread_mutex_init(&c->given_lock, NULL);
	return c;
}

static void drain_round(struct collector *c)
{
	bool calls = false;
	uint64_t start;

	pthread_mutex_lock(&c->lock);
	start = os_monotonic();
	aggregate_names(c);
	upkeep_opened(c);
	if (start - c->last_full < FULL_EVERY) {
		drain_stirred(c);
	} else {
		c->last_full = start;
		drain_all(c);
		calls = c->sinks != NULL && c->sources->calls_open;
		if (c->sinks)
			aggregate_open_waits(c, true);
	}
	timing_add(&c->drain, os_monotonic() - start);
	upkeep(c);
	pthread_mutex_unlock(&c->lock);
	if (calls)
		c->sources->calls_open();
}

static uint64_t pause_between(const struct collector *c)
{
	if (KNOB(c->options.hold_ms))
		return c->options.hold_ms * NS_PER_MS;
	return atomic_load(&c->hurried) ? MIN(c->options.drain_every, DRAIN_OFTEN) : c->options.drain_every;
}

static void *run(void *arg)
{
	struct collector *c = arg;

	own_thread_begin_first("jstrobe drain", &c->tid); /* where not permitted queues grow */
	while (!atomic_load(&c->stopping)) {
		drain_round(c);
		os_wait_while(&c->stopping, false, pause_between(c));
	}
	own_thread_end();
	return NULL;
}

int collector_open(struct collector *c, struct error *err)
{
	int rc = upkeep_open(c->options.store_bytes, err);

	if (rc)
		return rc;
	aggregate_open(c);
	method_epoch_look(&zone.epochs); /* what was before is of no sample */
	c->epoch_of_drain = method_epoch_now(&zone.epochs);
	c->last_look = c->last_scan = os_monotonic(); /* the engine scans by itself when it starts */
	atomic_store(&c->tid, 0);
	c->joined = true; /* there is no thread yet */
	c->open = true;
	return 0;
}

void collector_begins(struct collector *c, uint64_t at)
{
	pthread_mutex_lock(&c->lock);
	if (c->began == c->opened)
		c->began = at;
	pthread_mutex_unlock(&c->lock);
}

int collector_start(struct collector *c, struct error *err)
{
	int rc;

	atomic_store(&c->stopping, false);
	rc = own_thread_start(&c->thread, run, c, "collector", err);
	c->joined = rc != 0;
	return rc;
}

bool collector_stop(struct collector *c)
{
	if (!c->open)
		return true;
	if (!c->joined) {
		atomic_store(&c->stopping, true);
		os_wake(&c->stopping);
		if (!own_thread_join_busy(c->thread, &c->tid))
			return false;
	}
	/* from here on no thread needs it; those of the sinks may be looking names up */
	c->joined = true;
	if (!namer_end(c))
		return false;
	if (!os_lock_within(&c->images, OWN_THREAD_LONGEST))
		return false;
	if (!os_lock_within(&c->lock, OWN_THREAD_PATIENCE)) {
		pthread_mutex_unlock(&c->images);
		return false;
	}
	c->open = false;
	aggregate_names(c);
	aggregate_up_to_now(c);
	aggregate_close(c);
	aggregate_peak_look(c, true);
	survivors_settle(c);
	frames_name_late(&c->frames, &zone);
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&c->images);
	return true;
}

void collector_release(struct collector *c)
{
	records_release();
	upkeep_close(c);
	stack_store_close(&zone.store);
}

void collector_free(struct collector *c)
{
	/* its thread, or that of a sink, which did not end in time, may use it yet */
	if (!c || c->open || c->sinks)
		return;
	held_drop(c);
	held_drop_lasting(c);
	aggregate_peak_forget(c);
	frames_free(&c->frames);
	kernel_table_free(c->kernel);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->images);
	pthread_mutex_destroy(&c->given_lock);
	free(c);
}

void collector_name_thread(struct collector *c, int tid, uint64_t java_id, const char *name)
{
	size_t at, length = strlen(name), i;
	struct given_name *g;

	pthread_mutex_lock(&c->given_lock);
	at = c->given_text.count;
	for (i = 0; i <= length; i++) {
		char *place = PAGED_PUSH(&c->given_text);

		if (!place)
			break;
		*place = name[i];
	}
	g = i > length ? PAGED_PUSH(&c->given) : NULL;
	if (g)
		*g = (struct given_name){tid, java_id, os_monotonic(), at};
	else
		c->given_text.count = at;
	pthread_mutex_unlock(&c->given_lock);
}

void collector_redefined(struct collector *c, const char *class_name)
{
	method_identities_redefined(&c->frames.methods, class_name);
}

void collector_totals(struct collector *c, struct collector_totals *t)
{
	struct loss_totals losses;
	uint32_t e;
	int i;

	/* a thread that is held may have the lock; what was told before is better than no answer */
	if (!os_lock_within(&c->lock, COLLECTOR_SHORT)) {
		pthread_mutex_lock(&c->given_lock);
		*t = c->totals;
		pthread_mutex_unlock(&c->given_lock);
		return;
	}
	memset(t, 0, sizeof(*t));
	if (c->open)
		drain_all(c); /* what is on its way is neither open nor lost */
	for (e = 0; e < c->options.events; e++) {
		aggregate_all_losses(c, e, &losses);
		t->taken += losses.taken;
		t->stored += c->events[e].stored;
		t->open += c->open ? c->sources->open_ticks(e) : 0;
		for (i = 0; i < LOSS_REASONS; i++)
			*(i == LOSS_outside_window ? &t->outside : &t->lost) += losses.count[i];
	}
	t->queue_bytes = c->queues.bytes;
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_lock(&c->given_lock);
	c->totals = *t;
	pthread_mutex_unlock(&c->given_lock);
}

/* Lock held. */
static void read_event_totals(struct collector *c, uint32_t e, struct collector_event_totals *t)
{
	struct loss_totals losses;

	aggregate_all_losses(c, e, &losses);
	t->taken = losses.taken;
	t->open = c->open ? c->sources->open_ticks(e) : 0;
	t->stored = c->events[e].stored;
	t->value = c->events[e].weight_stored;
	memcpy(t->lost, losses.count, sizeof(t->lost));
}

void collector_event_totals(struct collector *c, struct collector_event_totals *t)
{
	/* as collector_totals */
	bool known = os_lock_within(&c->lock, COLLECTOR_SHORT);
	size_t bytes = c->options.events * sizeof(*t);
	uint32_t e;

	if (known) {
		if (c->open)
			drain_all(c);
		for (e = 0; e < c->options.events; e++)
			read_event_totals(c, e, &t[e]);
		pthread_mutex_unlock(&c->lock);
	}
	pthread_mutex_lock(&c->given_lock);
	if (known)
		memcpy(c->event_totals, t, bytes);
	else
		memcpy(t, c->event_totals, bytes);
	pthread_mutex_unlock(&c->given_lock);
}
