/*
 * carry_waits.c - sums of waits in a new aggregate. Lines stay; the keys of threads that ended go, as none of their
 * waits can come any more.
 */
#include "agent/collect/aggregate.h"
#include "agent/collect/carry.h"

static bool put(struct map *m, uint64_t key, size_t index)
{
	uint32_t *slot = map_put(m, key, NULL);

	if (slot && !*slot)
		*slot = (uint32_t)index + 1;
	return slot;
}

/* The lines FROM, with their names, to TO. */
static bool carry_lines(struct generation *g, const struct wait_sum *from, size_t count, void *to)
{
	PAGED(struct wait_sum) *lines = to;
	size_t i;

	for (i = 0; i < count; i++) {
		struct wait_sum *line = PAGED_PUSH(lines);

		if (!line)
			return false;
		*line = from[i];
		line->name = carry_text(g, from[i].name);
		line->lock = carry_text(g, from[i].lock);
		line->node = from[i].node ? carry_stack(g, from[i].node) : 0;
		if (from[i].node && !line->node)
			return false;
	}
	return true;
}

/* A thread's new number + 1, of its old one; 0 = it is none any more. */
static uint32_t thread_now(const struct generation *g, uint32_t thread)
{
	return thread && thread <= g->old.threads.count ? g->threads[thread - 1] : 0;
}

static bool carry_keys(struct generation *g, const struct waits_sums *from, struct waits_sums *to)
{
	bool whole = true;
	uint32_t i;

	for (i = 0; i < to->locks.count && whole; i++)
		whole = put(&to->by_lock, aggregate_wait_key(&to->locks.items[i]), i);
	for (i = 0; i < from->by_owner.capacity && whole; i++) {
		const struct map_slot *s = &from->by_owner.slots[i];
		uint32_t thread = s->used ? thread_now(g, (uint32_t)s->key) : 0;

		if (s->used && s->value && (thread || !s->key))
			whole = put(&to->by_owner, thread, s->value - 1);
	}
	for (i = 0; i < to->holders.count && whole; i++) {
		struct wait_sum *holder = &to->holders.items[i];

		holder->thread = thread_now(g, holder->thread);
		if (holder->thread)
			whole = put(&to->by_holder, aggregate_holder_key(holder), i);
	}
	return whole;
}

static bool carry_sums(struct generation *g, const struct waits_sums *from, struct waits_sums *to)
{
	return carry_lines(g, from->locks.items, from->locks.count, &to->locks) &&
	       carry_lines(g, from->owners.items, from->owners.count, &to->owners) &&
	       carry_lines(g, from->holders.items, from->holders.count, &to->holders) &&
	       carry_keys(g, from, to);
}

bool carry_waits(struct generation *g)
{
	bool whole = true;
	unsigned i;

	for (i = 0; i < WAITS_EVENTS && whole; i++)
		whole = carry_sums(g, &g->old.waits.sums[i], &g->c->waits.sums[i]);
	return whole;
}
