/*
 * aggregate_peak.c - of all that was allocated, what was there when most was: the blocks of native memory are added up
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

static uint32_t add_up(const struct block_there *b, void *arg)
{
	*(uint64_t *)arg += b->owner ? b->weight : 0;
	return b->owner;
}

static void keep(struct collector *c, uint32_t e, uint64_t now, uint64_t total)
{
	struct stack_count *sums = aggregate_live(c, e, false);

	if (!sums)
		return; /* the next look may find memory */
	free(c->peak.sums);
	c->peak.sums = sums;
	c->peak.count = c->stack_counts.count;
	c->peak.total = total;
	c->peak.time = now;
}

static void look(struct collector *c, uint32_t e, bool last)
{
	uint64_t now = os_monotonic(), total = 0;

	if (!last && now < c->peak.looked + LOOK_EVERY)
		return;
	c->peak.looked = now;
	c->sources->blocks(add_up, &total);
	if (total > c->peak.total + (last ? 0 : c->peak.total / HARDLY))
		keep(c, e, now, total);
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
	size_t i;

	for (i = 0; sums && i < MIN(c->peak.count, c->stack_counts.count); i++)
		if (c->peak.sums[i].event == e) {
			sums[i].samples = c->peak.sums[i].samples;
			sums[i].weight = c->peak.sums[i].weight;
		}
	return sums;
}

void aggregate_peak_moved(struct collector *c, const uint32_t *now, size_t count)
{
	size_t kept = c->stack_counts.count, i;
	struct stack_count *sums = c->peak.sums ? calloc(kept + 1, sizeof(*sums)) : NULL;

	for (i = 0; sums && i < MIN(count, c->peak.count); i++) {
		if (!now[i] || now[i] > kept)
			continue;
		sums[now[i] - 1].event = c->peak.sums[i].event;
		sums[now[i] - 1].samples += c->peak.sums[i].samples;
		sums[now[i] - 1].weight += c->peak.sums[i].weight;
	}
	free(c->peak.sums);
	c->peak.sums = sums;
	c->peak.count = sums ? kept : 0;
	if (!sums)
		c->peak.total = 0; /* no memory: the next look begins anew */
}

void aggregate_peak_forget(struct collector *c)
{
	free(c->peak.sums);
	memset(&c->peak, 0, sizeof(c->peak));
}
