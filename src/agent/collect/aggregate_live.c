/*
 * aggregate_live.c - of all that was allocated, what is still there: the blocks that have not been freed, each of which
 * knows the sum that its sample has gone to (collect_sources.blocks).
 */
#include <stdlib.h>

#include "agent/collect/aggregate.h"
#include "common/base/wide.h"
#include "profile/model/leaks.h"

struct live {
	struct collector *c;
	struct stack_count *sums;
	size_t count;
	uint32_t event;
	bool growing;  /* how it has grown is wanted, too */
	uint64_t until; /* without what has come later, os_monotonic */
	bool failed;
};

static bool is_of(const struct live *l, const struct block_there *b)
{
	return b->owner && b->owner <= l->count && l->sums[b->owner - 1].event == l->event;
}

static uint32_t add(const struct block_there *b, void *arg)
{
	struct live *l = arg;
	uint64_t middle = l->c->opened + l->c->growth_span[l->event] / 2;

	if (!is_of(l, b) || !b->weight || b->time > l->until)
		return b->owner;
	l->sums[b->owner - 1].samples++;
	l->sums[b->owner - 1].weight += b->weight;
	l->failed |= l->growing && !aggregate_grow(l->c, b->owner - 1, b->weight, b->time > middle);
	return b->owner;
}

struct profile_growth *aggregate_grow(struct collector *c, size_t place, uint64_t weight, bool half)
{
	while (c->growth.count <= place) {
		struct profile_growth *more = PAGED_PUSH(&c->growth);

		if (!more)
			return NULL;
		*more = (struct profile_growth){.example = 0};
	}
	leaks_grow(&c->growth.items[place], weight, half);
	return &c->growth.items[place];
}

struct stack_count *aggregate_empty_sums(const struct collector *c)
{
	size_t count = c->stack_counts.count, i;
	struct stack_count *sums = calloc(count + 1, sizeof(*sums));

	for (i = 0; sums && i < count; i++) {
		sums[i] = c->stack_counts.items[i];
		sums[i].samples = sums[i].weight = sums[i].objects = sums[i].outside = 0;
	}
	return sums;
}

struct stack_count *aggregate_live(struct collector *c, uint32_t e, bool growing)
{
	struct live l = {.c = c, .count = c->stack_counts.count, .event = e, .growing = growing, .until = UINT64_MAX};
	uint64_t end = c->sources->clocks ? c->sources->clocks().time : 0; /* frees are known up to now, or the stop */

	l.sums = aggregate_empty_sums(c);
	if (!l.sums)
		return NULL;
	c->growth_span[e] = end > c->opened ? end - c->opened : 0;
	if (growing && c->options.tail) {
		c->growth_span[e] -= wide_scale(c->growth_span[e], c->options.tail, 0, 100 * 1000);
		l.until = c->opened + c->growth_span[e];
	}
	c->sources->blocks(e, add, &l);
	if (!l.failed)
		return l.sums;
	free(l.sums);
	return NULL;
}

void aggregate_live_facts(const struct collector *c, uint32_t e, struct profile *p)
{
	if (c->options.peak[e])
		p->peak_after = c->peaks[e].time - MIN(c->opened, c->peaks[e].time);
	else if (c->sources->blocks_reserved)
		p->reserved = c->sources->blocks_reserved(e);
}

struct moved {
	const uint32_t *now;
	size_t count;
};

static uint32_t move(const struct block_there *b, void *arg)
{
	const struct moved *m = arg;

	return b->owner && b->owner <= m->count ? m->now[b->owner - 1] : 0;
}

void aggregate_live_moved(struct collector *c, const uint32_t *now, size_t count)
{
	uint32_t e;

	for (e = 0; e < c->options.events; e++)
		if (c->options.live[e] || c->options.peak[e])
			c->sources->blocks(e, move, &(struct moved){now, count});
}
