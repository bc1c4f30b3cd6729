/*
 * ring_view.c - a profile of the samples in the flight recorder.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/collector.h"
#include "agent/collect/held.h"
#include "agent/collect/sink.h"
#include "agent/collect/survivors.h"
#include "agent/sinks/ring/ring_state.h"

struct summing {
	struct collector *c;
	bool failed;
};

static void add(const struct sink_event *e, void *arg)
{
	struct summing *w = arg;
	struct collector *c = w->c;
	uint32_t node = aggregate_shown(c, e);
	struct stack_count *t = node ? aggregate_stack_count(c, e->event, node, e->thread + 1, e->state,
						aggregate_trace_context(c, &e->trace_context))
				: NULL;

	if (t)
		aggregate_add(c, e, c->nodes.items[e->node].end, t);
	else
		w->failed = true;
	if (e->lock)
		aggregate_wait_sums(c, e);
	if (e->fields && aggregate_is_io(c, e->event))
		aggregate_io_sum(c, e);
}

/* Losses of EVENT in the window are those of now less those of the mark at its begin. */
static void subtract(struct event_aggregate *a, const struct loss_totals *lost)
{
	int i;

	for (i = 0; i < LOSS_REASONS; i++) {
		a->losses_of_dead.count[i] -= lost->count[i];
		a->losses_of_dead.weight[i] -= lost->weight[i];
	}
}

/* What was on its way as the window began belongs to it or not: taken is what is accounted for. */
static void add_up(struct profile *p)
{
	int i;

	p->taken = p->stored;
	for (i = 0; i < LOSS_REASONS; i++)
		p->taken += p->lost[i];
}

/* FACTS as of the window from M to END. */
static struct collector_counts counts_of(const struct ring_position *m, const struct ring_position *end,
				       const struct collector_counts *counts)
{
	struct collector_counts f = *counts;

	f.started_at += f.duration - MIN(f.duration, end->time - m->time);
	f.duration = MIN(f.duration, end->time - m->time);
	f.gap = f.duration < counts->duration ? 0 : f.gap;
	f.cpu_time = end->cpu - m->cpu;
	f.own_cpu = end->own - m->own;
	f.children_cpu = end->children - m->children;
	/* the kernel's count of events is only known of the whole session */
	f.counted = 0;
	return f;
}

/* The samples of the window from M to END are summed up in C: as CUT wants them, with FACTS. */
static bool fill(struct collector *c, const struct ring_position *m, const struct ring_position *end,
		 const struct collector_cut *cut, const struct collector_counts *counts, struct profile **views)
{
	bool ok = true;
	uint32_t i;

	for (i = 0; i < cut->count; i++) {
		struct collector_counts window = counts_of(m, end, &counts[i]);

		views[i] = collect_fill_view(c, cut->first + i, &window, cut->times);
		if (views[i])
			add_up(views[i]);
		ok &= views[i] != NULL;
	}
	return ok;
}

/* The aggregate's sums are put aside for as long as the lock is held, and those of the window in their place. */
bool ring_views(struct ring *r, struct collector *c, const struct collector_cut *cut, struct profile **views)
{
	struct collector_counts counts[RECORD_EVENTS];
	struct event_aggregate aggregates[RECORD_EVENTS];
	struct summing w = {c, false};
	const struct ring_position *m, *end;
	struct ring_position now;
	typeof(c->stack_counts) *stack_counts = &c->stack_counts;
	struct stack_count *items;
	size_t count, room, sums_count;
	struct thread_sum *sums;
	struct waits_sums waits[WAITS_EVENTS];
	struct io_sums io;
	struct timeline timelines[RECORD_EVENTS];
	uint64_t began;
	bool ok = false;
	uint32_t i;

	collect_all_and_lock(c);
	collect_counts_now(c, cut, counts);
	end = ring_position_of_end(r, c, &now);
	memcpy(aggregates, c->events, sizeof(aggregates));
	items = stack_counts->items;
	count = stack_counts->count;
	room = stack_counts->room;
	sums = c->sums.items;
	memcpy(waits, c->waits.sums, sizeof(waits));
	memset(c->waits.sums, 0, sizeof(waits));
	io = c->io;
	memset(&c->io, 0, sizeof(io));
	memcpy(timelines, c->timelines, sizeof(timelines));
	memset(c->timelines, 0, sizeof(timelines));
	began = c->began;
	sums_count = c->sums.count;
	memset(stack_counts, 0, sizeof(*stack_counts));
	m = ring_position_of_window(r);
	if (m)
		c->began = m->time;
	c->sums.items = calloc(sums_count + 1, sizeof(*sums));
	for (i = 0; i < RECORD_EVENTS; i++) {
		c->events[i] = (struct event_aggregate){.ticks = aggregates[i].ticks, .timed = aggregates[i].timed,
						      .losses_of_dead = aggregates[i].losses_of_dead};
		if (m)
			subtract(&c->events[i], &m->lost[i]);
	}
	if (c->sums.items && m) {
		ring_each(r, add, &w);
		ok = survivors_sum(c) && !w.failed && fill(c, m, end, cut, counts, views);
	}
	for (i = 0; i < RECORD_EVENTS; i++)
		map_free(&c->events[i].by_node);
	PAGED_FREE(stack_counts);
	free(c->sums.items);
	stack_counts->items = items;
	stack_counts->count = count;
	stack_counts->room = room;
	c->sums.items = sums;
	for (i = 0; i < WAITS_EVENTS; i++)
		aggregate_waits_sums_free(&c->waits.sums[i]);
	memcpy(c->waits.sums, waits, sizeof(waits));
	aggregate_io_free(&c->io);
	c->io = io;
	held_drop_timelines(c);
	memcpy(c->timelines, timelines, sizeof(timelines));
	c->began = began;
	memcpy(c->events, aggregates, sizeof(aggregates));
	pthread_mutex_unlock(&c->lock);
	return ok;
}
