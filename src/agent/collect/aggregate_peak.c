/*
 * aggregate_peak.c - of all that was allocated, what was there when most was: blocks of native memory are added up
 * some times a second, and at a new highest point what is there is kept, as sums.
 *
 * A point that is hardly higher than the one that is kept (1/32) is not worth another look at all blocks; the last one
 * of a session is looked at whatever it is.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/collect/aggregate.h"
#include "common/base/clock_ns.h"
#include "common/os/os.h"

#define LOOK_EVERY (250 * NS_PER_MS)
#define HARDLY 32

struct total {
	const struct collector *c;
	uint32_t event;
	uint64_t bytes;
};

static uint32_t add_up(const struct block_there *b, void *arg)
{
	struct total *t = arg;

	if (b->owner && b->owner <= t->c->stack_counts.count &&
	    t->c->stack_counts.items[b->owner - 1].event == t->event)
		t->bytes += b->weight;
	return b->owner;
}

static void keep(struct collector *c, uint32_t e, uint64_t now, uint64_t total)
{
	struct stack_count *sums = aggregate_live(c, e, false);
	struct peak *p = &c->peaks[e];

	if (!sums)
		return; /* the next look may find memory */
	free(p->sums);
	p->sums = sums;
	p->count = c->stack_counts.count;
	p->total = total;
	p->time = now;
}

static void look(struct collector *c, uint32_t e, bool last)
{
	struct total total = {.c = c, .event = e};
	struct peak *p = &c->peaks[e];
	uint64_t now = os_monotonic();

	if (!last && now < p->looked + LOOK_EVERY)
		return;
	p->looked = now;
	c->sources->blocks(e, add_up, &total);
	if (total.bytes > p->total + (last ? 0 : p->total / HARDLY))
		keep(c, e, now, total.bytes);
}

void aggregate_peak_look(struct collector *c, bool last)
{
	uint32_t e;

	for (e = 0; e < c->options.events; e++)
		if (c->options.peak[e])
			look(c, e, last);
}

struct stack_count *aggregate_peak(struct collector *c, uint32_t e)
{
	struct stack_count *sums = aggregate_empty_sums(c);
	const struct peak *p = &c->peaks[e];
	size_t i;

	for (i = 0; sums && i < MIN(p->count, c->stack_counts.count); i++)
		if (p->sums[i].event == e) {
			sums[i].samples = p->sums[i].samples;
			sums[i].weight = p->sums[i].weight;
		}
	return sums;
}

static void move(struct peak *p, size_t kept, const uint32_t *now, size_t count)
{
	struct stack_count *sums = p->sums ? calloc(kept + 1, sizeof(*sums)) : NULL;
	size_t i;

	for (i = 0; sums && i < MIN(count, p->count); i++) {
		if (!now[i] || now[i] > kept)
			continue;
		sums[now[i] - 1].event = p->sums[i].event;
		sums[now[i] - 1].samples += p->sums[i].samples;
		sums[now[i] - 1].weight += p->sums[i].weight;
	}
	free(p->sums);
	p->sums = sums;
	p->count = sums ? kept : 0;
	if (!sums)
		p->total = 0; /* no memory: the next look begins anew */
}

void aggregate_peak_moved(struct collector *c, const uint32_t *now, size_t count)
{
	uint32_t e;

	for (e = 0; e < RECORD_EVENTS; e++)
		move(&c->peaks[e], c->stack_counts.count, now, count);
}

void aggregate_peak_forget(struct collector *c)
{
	uint32_t e;

	for (e = 0; e < RECORD_EVENTS; e++)
		free(c->peaks[e].sums);
	memset(c->peaks, 0, sizeof(c->peaks));
}
