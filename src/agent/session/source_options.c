#include "agent/session/source_options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/jvm/jvm.h"

#define DRAIN_EVERY (10 * NS_PER_MS)
#define DRAIN_RARELY (50 * NS_PER_MS)
#define DRAIN_INTERVALS 5 /* samples of a thread between two drains, where they come rarely */
#define WAIT_QUEUE 128  /* entries; a wait takes two */
#define BYTES_QUEUE (40u << 20) /* bytes that a thread may bring between two drains: 4 GB a second */
#define MAP_QUEUE 240   /* entries; a mapping takes two, and queues grow where they come fast */
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
		shortest = MIN(shortest, weight_is_time(events[e].weight) ? events[e].interval : 0);
	return MIN(MAX(DRAIN_INTERVALS * shortest, DRAIN_EVERY), DRAIN_RARELY);
}

/* Entries of a queue for what E brings in PERIOD. */
static uint64_t entries_of(const struct engine_event *e, uint64_t period)
{
	if (e->weight == WEIGHT_WAIT)
		return WAIT_QUEUE;
	if (e->weight == WEIGHT_IO) /* a sample takes up to three */
		return e->interval ? MAX(3 * period / e->interval, (uint64_t)WAIT_QUEUE) : QUEUE_LIMIT;
	if (weight_is_time(e->weight))
		return 4 * period / e->interval;
	if (e->weight == WEIGHT_BYTES && e->ops == &engine_nativemap)
		return MAP_QUEUE;
	if (e->weight == WEIGHT_BYTES) /* a sample takes up to three */
		return MAX(3 * BYTES_QUEUE / MAX(e->interval, (uint64_t)1), (uint64_t)QUEUE_START);
	if (e->ops == &engine_calls) /* they come as fast as the program calls; what is not used takes no memory */
		return MAX(20 * QUEUE_LIMIT / e->interval, (uint64_t)EVENT_QUEUE);
	return MAX(EVENT_QUEUE / e->interval, (uint64_t)QUEUE_START) * (event_fields_of(e->name).count ? 2 : 1);
}

uint32_t source_options_queue(const struct options *o, const struct engine_event *events, uint32_t count)
{
	uint64_t wanted = 0, period = drain_period(events, count);
	uint32_t e;

	for (e = 0; e < count; e++)
		wanted += entries_of(&events[e], period);
	if (o->queue_start)
		return o->queue_start;
	return (uint32_t)MIN(MAX(wanted, (uint64_t)QUEUE_START), (uint64_t)QUEUE_LIMIT);
}

static bool is_of_objects(const struct engine_event *e)
{
	return strcmp(e->name, "alloc") == 0 || strcmp(e->name, "live") == 0;
}

/* What O says of the interval of event NAME, the FIRST or another one; 0 = nothing. */
static uint64_t interval_of(const char *name, bool first, const struct options *o)
{
	uint64_t own = options_event_interval(o, name);

	if (own > 1 && own != OPTIONS_ALL)
		return own;
	return first ? o->interval : 0;
}

/* The JVM has one interval for samples of objects: what was SAID of one of their two events is the other's, too. */
static void share_interval(struct engine_event *events, int count, const bool *said)
{
	int e, other;

	for (e = 0; e < count; e++)
		for (other = 0; other < count; other++)
			if (is_of_objects(&events[e]) && is_of_objects(&events[other]) && said[e] && !said[other])
				events[other].interval = events[e].interval;
}

/* All CPUs may be busy: then samples come no faster than RATE a second. */
static void keep_rate(struct engine_event *e, uint32_t rate)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t least = (uint64_t)MAX(cpus, 1) * NS_PER_S / rate;

	if (e->weight == WEIGHT_CPU && e->interval < least)
		e->interval = least;
}

int source_options_events(const struct options *o, struct engine_event *events, struct error *err)
{
	bool said[RECORD_EVENTS];
	char list[sizeof(o->event)], *at = NULL, *name;
	bool objects = false;
	int count = 0, rc;

	strcpy(list, o->event);
	for (name = strtok_r(list, ",", &at); name; name = strtok_r(NULL, ",", &at)) {
		if (count == RECORD_EVENTS)
			return error_set(err, EINVAL, "too many events: %s; a session takes %d", o->event,
					 RECORD_EVENTS);
		rc = event_resolve(name, interval_of(name, !count, o), &events[count], err);
		if (rc)
			return rc;
		if (events[count].ops->java && !jvm_is_known())
			return error_set(err, ENXIO, "%s: there is no JVM in this process (yet); cpu, wall, nativemem, "
					 "nativelock and io need none", events[count].name);
		if (options_event_interval(o, events[count].name) == OPTIONS_ALL)
			events[count].interval = 0;
		if (events[count].ticks == TICKS_CPU && strcmp(o->time, "wall") == 0)
			event_by_wall(&events[count]);
		if (o->cpu_rate)
			keep_rate(&events[count], o->cpu_rate);
		objects |= is_of_objects(&events[count]);
		said[count] = strchr(name, '@') || interval_of(events[count].name, !count, o) ||
			      options_event_interval(o, events[count].name) == OPTIONS_ALL;
		count++;
	}
	share_interval(events, count, said);
	if (o->rate && !objects)
		return error_set(err, EINVAL, "rate: it is of samples of alloc and live; add one of them, or remove "
				 "it");
	if (o->sizes && !objects)
		return error_set(err, EINVAL, "sizes: it is of samples of alloc and live; add one of them, or remove "
				 "it");
	return count;
}

struct collector *source_options_collector(const struct options *o, const struct engine_event *events, uint32_t count)
{
	struct collector_options c = {
		.events = count,
		.drain_every = drain_period(events, count),
		.per_thread = o->threads,
		.per_trace_context = o->contexts,
		.survived = o->survived,
		.tail = o->tail ? o->tail - 1 : 0,
		.sizes = o->sizes,
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
	uint8_t waits = 0; /* each has a source of its own: WAITS_EVENTS at most */
	bool native;
	uint32_t e;

	for (e = 0; e < count; e++) {
		c.ticks[e] = events[e].ticks != TICKS_NONE || events[e].weight == WEIGHT_WAIT;
		c.waits[e] = events[e].weight == WEIGHT_WAIT ? ++waits : 0;
		/* which of them were idle is told by group, and nothing else tells threads of a pool from others */
		c.by_thread[e] = events[e].weight == WEIGHT_WALL || events[e].weight == WEIGHT_WAIT;
		c.fields[e] = event_fields_of(events[e].name);
		native = strcmp(events[e].name, "nativemem") == 0 || strcmp(events[e].name, "nativemap") == 0;
		c.peak[e] = o->nativemem_peak && native;
		c.live[e] = o->nativemem_live && !c.peak[e] && native;
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
		.idle = o->idle,
		.flat = o->flat,
		.traces = o->traces,
		.color = o->color,
		.details = o->verbose,
		.simple = o->simple,
		.dot = o->dot,
		.norm = o->norm,
		.lasting = !o->no_norm,
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
