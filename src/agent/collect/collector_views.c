/*
 * collector_views.c - results of one moment: what is queued is drained and named first.
 */
#include "agent/collect/aggregate.h"
#include "agent/collect/collector.h"
#include "agent/collect/drain.h"
#include "agent/collect/names/late_names.h"
#include "agent/collect/survivors.h"

/*
 * Symbol tables take long to read: drains go on meanwhile. Frames first seen after this
 * keep their addresses (a handful of samples at most, and only while sampling goes on).
 */
void collector_name(struct collector *c)
{
	pthread_mutex_lock(&c->images);
	pthread_mutex_lock(&c->lock);
	aggregate_names(c);
	if (c->open)
		drain_all(c);
	late_look_up(c, false);
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&c->images);
}

void collect_all_and_lock(struct collector *c)
{
	if (c->open)
		c->sources->flush();
	collector_name(c);
	/* runs that went on while names were looked up, which takes long at first */
	if (c->open)
		c->sources->flush();
	pthread_mutex_lock(&c->lock);
	if (c->open)
		aggregate_up_to_now(c);
}

/* Names that are looked up may take seconds, in which the clocks go on: they are read as the aggregate is. */
bool collector_views(struct collector *c, const struct collector_cut *cut, struct profile **views)
{
	struct collector_counts counts[RECORD_EVENTS];
	bool ok = true;
	uint32_t i;

	collect_all_and_lock(c);
	collect_counts_now(c, cut, counts);
	ok = survivors_sum(c);
	for (i = 0; i < cut->count; i++) {
		views[i] = collect_fill_view(c, cut->first + i, &counts[i], cut->times);
		ok &= views[i] != NULL;
	}
	pthread_mutex_unlock(&c->lock);
	return ok;
}

struct profile *collector_view(struct collector *c, uint32_t e, const struct collector_counts *counts)
{
	const struct collector_cut cut = {.first = e, .count = 1, .counts = counts};
	struct profile *p;

	collector_views(c, &cut, &p);
	return p;
}
