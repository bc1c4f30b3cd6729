#include "agent/session/source_options.h"

#include <errno.h>
#include <string.h>

#define DRAIN_EVERY (10 * NS_PER_MS)
#define DRAIN_RARELY (50 * NS_PER_MS)
#define DRAIN_INTERVALS 5 /* samples of a thread between two drains, where they come rarely */
#define WAIT_QUEUE 128  /* entries; a wait takes two */
#define EVENT_QUEUE 200 /* entries; what a thread may give in one pass of the collector, see handler.c */

/*
 * How often queues are emptied. Each time the collector wakes it takes a core from the program for a
 * moment: at an interval of 10 ms a hundred times a second costs more than the samples themselves do.
 */
static uint64_t drain_period(const struct engine_event *events, uint32_t count)
{
	uint64_t shortest = DRAIN_RARELY;
	uint32_t e;

	for (e = 0; e < count; e++)
		shortest = MIN(shortest, events[e].time ? events[e].interval : 0);
	return MIN(MAX(DRAIN_INTERVALS * shortest, DRAIN_EVERY), DRAIN_RARELY);
}

uint32_t source_options_queue(const struct options *o, const struct engine_event *events, uint32_t count)
{
	uint64_t wanted = 0, period = drain_period(events, count);
	uint32_t e;

	for (e = 0; e < count; e++)
		wanted += events[e].waits ? WAIT_QUEUE : events[e].time ? 4 * period / events[e].interval
					 : MAX(EVENT_QUEUE / events[e].interval, (uint64_t)QUEUE_START);
	if (o->queue_start)
		return o->queue_start;
	return (uint32_t)MIN(MAX(wanted, (uint64_t)QUEUE_START), (uint64_t)QUEUE_LIMIT);
}

/* What O says of the interval of event NAME, the FIRST or another one; 0 = nothing. */
static uint64_t interval_of(const char *name, bool first, const struct options *o)
{
	if (o->wall > 1 && strcmp(name, "wall") == 0)
		return o->wall;
	if (o->lock > 1 && o->lock != OPTIONS_ALL && strcmp(name, "lock") == 0)
		return o->lock;
	return first ? o->interval : 0;
}

int source_options_events(const struct options *o, struct engine_event *events, struct error *err)
{
	char list[sizeof(o->event)], *at = NULL, *name;
	int count = 0, rc;

	strcpy(list, o->event);
	for (name = strtok_r(list, ",", &at); name; name = strtok_r(NULL, ",", &at)) {
		if (count == RECORD_EVENTS)
			return error_set(err, EINVAL, "too many events: %s; a session takes %d", o->event,
					 RECORD_EVENTS);
		rc = event_resolve(name, interval_of(name, !count, o), &events[count], err);
		if (rc)
			return rc;
		if (events[count].waits && o->lock == OPTIONS_ALL)
			events[count].interval = 0;
		if (events[count].ticks == TICKS_CPU && strcmp(o->time, "wall") == 0)
			events[count].ticks = TICKS_WALL;
		count++;
	}
	return count;
}

struct collector *source_options_collector(const struct options *o, const struct engine_event *events, uint32_t count)
{
	struct collector_options c = {
		.events = count,
		.drain_every = drain_period(events, count),
		.per_thread = o->threads,
		.per_trace_context = o->contexts,
		.lines = o->lines || o->last || strcmp(o->format, "jfr") == 0,
		.stats = o->stats,
		.java_only = strcmp(o->cstack, "no") == 0,
		.depth_kept = o->depth_kept,
		.sched = o->sched,
		.record_cpu = o->record_cpu,
		.hold_ms = o->collector_hold_ms,
		.renew_at = o->renew_at,
		.store_bytes = o->memlimit,
	};
	uint32_t e;

	for (e = 0; e < count; e++) {
		c.ticks[e] = events[e].ticks != TICKS_NONE || events[e].waits;
		c.waits[e] = events[e].waits;
	}
	return collector_new(&engine_of_collector, &c);
}

bool source_options_partial(const struct options *o)
{
	return o->filter[0] || o->alluser || o->target_cpu != OPTIONS_ANY_CPU;
}

struct format_options source_options_format(const struct options *o)
{
	return (struct format_options){
		.total = o->total,
		.lines = o->lines,
		.threads = o->threads,
		.owners = o->owners,
		.flat = o->flat,
		.traces = o->traces,
		.color = o->color,
		.simple = o->simple,
		.dot = o->dot,
		.norm = o->norm,
		.sig = o->sig,
		.ann = o->ann,
		.lib = o->lib,
		.reverse = o->reverse,
		.inverted = o->inverted,
		.minwidth = o->minwidth / 1000.0,
		.include = o->include,
		.exclude = o->exclude,
	};
}
