/*
 * aggregate_live.c - of all that was allocated, what is still there: the blocks that have not been freed, each of which
 * knows the sum that its sample has gone to (collect_sources.blocks).
 */
#include <stdlib.h>

#include "agent/collect/aggregate.h"

struct live {
	struct stack_count *sums;
	size_t count;
	uint32_t event;
};

static uint32_t add(uint64_t weight, uint32_t owner, void *arg)
{
	const struct live *l = arg;

	if (owner && owner <= l->count && l->sums[owner - 1].event == l->event) {
		l->sums[owner - 1].samples++;
		l->sums[owner - 1].weight += weight;
	}
	return owner;
}

struct stack_count *aggregate_live(struct collector *c, uint32_t e)
{
	struct live l = {.count = c->stack_counts.count, .event = e};
	size_t i;

	l.sums = calloc(l.count + 1, sizeof(*l.sums));
	for (i = 0; l.sums && i < l.count; i++) {
		l.sums[i] = c->stack_counts.items[i];
		l.sums[i].samples = l.sums[i].weight = l.sums[i].objects = 0;
	}
	if (l.sums)
		c->sources->blocks(add, &l);
	return l.sums;
}

struct moved {
	const uint32_t *now;
	size_t count;
};

static uint32_t move(uint64_t weight, uint32_t owner, void *arg)
{
	const struct moved *m = arg;

	return owner && owner <= m->count ? m->now[owner - 1] : 0;
}

void aggregate_live_moved(struct collector *c, const uint32_t *now, size_t count)
{
	if (c->sources->blocks)
		c->sources->blocks(move, &(struct moved){now, count});
}
