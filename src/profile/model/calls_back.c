/*
 * calls_back.c - back traces: who called the methods that the time was spent in.
 *
 *      as it was:  run ─ total ─ round (3 ms self)        upside down:  round (5 ms) ─ total (3 ms) ─ run
 *                      └ print ─ round (2 ms self)                                  └ print (2 ms) ─ run
 */
#include <errno.h>
#include <stdlib.h>

#include "profile/model/calls_tree.h"

/* What node I did itself, on all the way up from it; where its method called itself there is one step, not many. */
static bool add(struct calls_merge *b, const struct calls *c, uint32_t i, uint32_t depth)
{
	const struct calls_node *n = &c->nodes[i];
	uint32_t at = 0, up = i;

	for (; up && depth; up = c->nodes[up].parent) {
		const struct calls_node *parent = &c->nodes[c->nodes[up].parent];
		struct calls_node *to;

		if (n->method == c->nodes[up].method && n->method == parent->method)
			continue;
		depth--;
		at = calls_merge_place(b, at, c->nodes[up].method, c->nodes[up].thread);
		if (!at)
			return false;
		to = &b->nodes.items[at];
		to->count += n->count;
		to->stamps += n->stamps;
		calls_times_add(&to->total, &n->self);
	}
	return true;
}

int calls_back(const struct calls *c, uint32_t wanted, uint32_t depth, struct calls *result)
{
	const struct calls_method **order = calls_hottest(c);
	bool *chosen = calloc(c->method_count + 1ul, sizeof(*chosen));
	struct calls_merge b = {.nodes = {NULL}};
	bool failed = !calls_merge_begin(&b) || !order || !chosen;
	uint32_t i;

	for (i = 0; !failed && i < c->method_count && i < wanted; i++)
		chosen[order[i] - c->methods] = true;
	for (i = 1; !failed && i < c->node_count; i++)
		if (c->nodes[i].method != CALLS_THREAD && chosen[c->nodes[i].method])
			failed = !add(&b, c, i, depth);
	if (!failed)
		b.nodes.items[0].total = c->nodes[0].total; /* what shares are of */
	*result = *c;
	result->nodes = b.nodes.items;
	result->node_count = (uint32_t)b.nodes.count;
	map_free(&b.places);
	free(chosen);
	free(order);
	return failed ? -ENOMEM : 0;
}
