/*
 * aggregate_losses.c - what was taken and not stored, by reason: of living records, of dead ones, of none.
 */
#include <string.h>

#include "agent/collect/aggregate.h"
#include "common/os/os.h"

/* R will take no sample any more: the weight it carries for the next one is lost. */
static void lose_carried(struct thread_record *r)
{
	uint32_t e;

	for (e = 0; e < RECORD_EVENTS; e++) {
		/* what short waits have come to is no loss: it makes no sample yet */
		if (atomic_load(&r->state) != RECORD_FREE && r->sources[e].carried && !zone.events[e].waits)
			atomic_fetch_add(&r->lost[e].weight[LOSS_recursion], r->sources[e].carried);
		r->sources[e].carried = 0;
	}
}

/* Losses of R's event E added to T. */
static void add_losses(struct thread_record *r, uint32_t e, struct loss_totals *t)
{
	struct record_losses *lost = &r->lost[e];
	int i;

	t->taken += atomic_load(&lost->taken);
	for (i = 0; i < LOSS_REASONS; i++) {
		t->count[i] += atomic_load(&lost->count[i]);
		t->weight[i] += atomic_load(&lost->weight[i]);
	}
}

void aggregate_end(struct collector *c, struct thread_record *r)
{
	uint32_t e;

	lose_carried(r);
	for (e = 0; e < c->options.events; e++)
		add_losses(r, e, &c->events[e].losses_of_dead);
}

static void forget_unknown(void)
{
	uint32_t e;
	int i;

	for (e = 0; e < RECORD_EVENTS; e++) {
		atomic_store(&zone.due[e], 0);
		for (i = 0; i < LOSS_REASONS; i++) {
			atomic_store(&zone.lost_count[e][i], 0);
			atomic_store(&zone.lost_weight[e][i], 0);
		}
	}
}

/* What counts while it is there has no time. */
static bool is_timed(const struct collector *c, uint32_t e)
{
	const struct event_fields *fields = &c->options.fields[e];

	return !c->options.live[e] && !c->options.peak[e] &&
	       event_field_of_kind(fields, EVENT_FIELD_ID) == fields->count;
}

void aggregate_open(struct collector *c)
{
	uint32_t n, e, count = atomic_load(&zone.records.count);

	forget_unknown();
	c->opened = os_monotonic();
	c->timeline_most = MIN((size_t)TIMELINES_BYTES, zone.store.size / TIMELINES_PART) / c->options.events;
	if (!c->began)
		c->began = c->opened;
	c->runs.count = 0;
	for (e = 0; e < c->options.events; e++) {
		c->events[e].ticks = c->options.ticks[e];
		c->events[e].timed = is_timed(c, e);
		c->with_waits |= c->options.waits[e];
	}
	aggregate_io_open(c);
	atomic_store(&zone.own_weight, 0);
	/* A record that outlived its session has the number of that one's entry. */
	for (n = 0; n < count; n++)
		zone.records.records[n].thread_entry = zone.records.records[n].counted = 0;
}

void aggregate_close(struct collector *c)
{
	uint32_t e, n, count = atomic_load(&zone.records.count);
	struct loss_totals all;

	aggregate_io_close(c);
	for (n = 0; n < count; n++)
		lose_carried(&zone.records.records[n]);
	for (e = 0; e < c->options.events; e++) {
		aggregate_all_losses(c, e, &all);
		c->events[e].losses_of_dead = all;
	}
	forget_unknown();
	for (n = 0; n < count; n++)
		memset(zone.records.records[n].lost, 0, sizeof(zone.records.records[n].lost));
}

void aggregate_all_losses(struct collector *c, uint32_t e, struct loss_totals *t)
{
	uint32_t n, count = atomic_load(&zone.records.count);
	int i;

	*t = c->events[e].losses_of_dead;
	t->taken += atomic_load(&zone.due[e]);
	for (n = 0; n < count; n++)
		if (atomic_load(&zone.records.records[n].state) != RECORD_FREE)
			add_losses(&zone.records.records[n], e, t);
	for (i = 0; i < LOSS_REASONS; i++) {
		uint64_t lost = atomic_load(&zone.lost_count[e][i]);

		t->count[i] += lost;
		/* Ticks that were missed are among those that were due. */
		if (!zone.events[e].ticks)
			t->taken += lost;
		t->weight[i] += atomic_load(&zone.lost_weight[e][i]);
	}
}
