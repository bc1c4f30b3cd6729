/*
 * aggregate_open_waits.c - waits that have not ended, as far as their time is in no sample yet: in each result, and
 * of those that last long, now and then for the sinks. A program that hangs ends none of its waits. And waits that
 * are over, of threads whose queue was full.
 */
#include "agent/collect/aggregate.h"
#include "agent/collect/drain.h"
#include "agent/zone/window.h"
#include "agent/zone/zone.h"
#include "common/os/os.h"

#define DONE_SHARE 10 /* where a million waits end at once: looking for them takes this part of the time */

/* Its stack is gone where the traces' memory was full when it was renewed. */
static void tell_done(const struct sample *s, const struct wait_note *n, const struct trace_context *trace_context,
		      void *arg)
{
	if (s->trace)
		aggregate_wait(arg, s, n, s->noted ? trace_context : NULL, &zone.records.records[s->thread]);
	else
		aggregate_lose(arg, s, LOSS_store_full);
}

/* A tick of event E was due, of a thread that did not tell of it itself. */
static void note_due(uint32_t e)
{
	atomic_fetch_add_explicit(&zone.due[e], 1, memory_order_relaxed);
}

static void tell_open(const struct sample *s, const struct wait_note *n, const struct trace_context *trace_context,
		      void *arg)
{
	if (s->weight)
		note_due(s->event);
	if (s->weight && window_keeps_out(&zone.window))
		aggregate_lose(arg, s, LOSS_outside_window);
	else if (s->weight || s->trace)
		tell_done(s, n, trace_context, arg);
}

static void forget_open(struct waits_sums *s)
{
	size_t i;

	for (i = 0; i < s->locks.count; i++)
		s->locks.items[i].open = 0;
	for (i = 0; i < s->owners.count; i++)
		s->owners.items[i].open = 0;
	for (i = 0; i < s->holders.count; i++)
		s->holders.items[i].open = 0;
}

static void tell_parked(const struct sample *s, const struct trace_context *trace_context, void *arg)
{
	note_due(s->event);
	if (window_keeps_out(&zone.window))
		aggregate_lose(arg, s, LOSS_outside_window);
	else if (!s->trace)
		aggregate_lose(arg, s, LOSS_store_full);
	else
		aggregate_reported(arg, s, s->noted ? trace_context : NULL, &zone.records.records[s->thread]);
}

void aggregate_open_waits(struct collector *c, bool lately)
{
	unsigned i;

	c->sources->vthreads_parked_open(lately, tell_parked, c);
	if (!c->with_waits)
		return;
	/* which of them are open is what the result of this moment says */
	if (!lately)
		for (i = 0; i < WAITS_EVENTS; i++)
			forget_open(&c->waits.sums[i]);
	c->sources->waits_open(lately, tell_open, c);
}

void aggregate_done_lately(struct collector *c)
{
	uint64_t now = os_monotonic();

	if (now < c->done_due)
		return;
	aggregate_done_waits(c);
	c->done_due = now + (os_monotonic() - now) * DONE_SHARE;
}

void aggregate_done_waits(struct collector *c)
{
	c->sources->parked_done(tell_parked, c);
	if (c->with_waits)
		c->sources->waits_done(tell_done, c);
}

void aggregate_up_to_now(struct collector *c)
{
	drain_all(c);
	aggregate_done_waits(c);
	aggregate_open_waits(c, false);
}
