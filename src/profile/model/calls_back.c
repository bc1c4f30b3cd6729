/*
 * calls_back.c - back traces: who called the methods that the time was spent in.
 *
 *      as it was:  run ─ total ─ round (3 ms self)        upside down:  round (5 ms) ─ total (3 ms) ─ run
 *                      └ print ─ round (2 ms self)                                  └ print (2 ms) ─ run
 */
#include <errno.h>
#include <stdlib.h>

#include "common/base/vector.h"
#include "profile/model/calls_tree.h"

struct back {
	const struct calls *c;
	VECTOR(struct calls_node) nodes;
	struct map places; /* place of the callee and method (or thread) of the caller → place */
};

/* The node for what stands in N, called under PARENT; 0: out of memory. */
static uint32_t place(struct back *b, uint32_t parent, const struct calls_node *n)
{
	uint32_t key = n->method == CALLS_THREAD ? CALLS_THREAD - 1 - n->thread : n->method;
	bool fresh;
	uint32_t *at = map_put(&b->places, (uint64_t)parent << 32 | key, &fresh);
	struct calls_node *made = at && fresh ? VECTOR_PUSH(&b->nodes) : NULL;

	if (!at || (fresh && !made))
		return 0;
	if (fresh) {
		*at = (uint32_t)b->nodes.count - 1;
		made->method = n->method;
		made->thread = n->thread;
		made->parent = parent;
		made->depth = b->nodes.items[parent].depth + 1;
	}
	return *at;
}

/* What node I did itself, on all the way up from it; where its method called itself there is one step, not many. */
static bool add(struct back *b, uint32_t i, uint32_t depth)
{
	const struct calls_node *n = &b->c->nodes[i];
	uint32_t at = 0, up = i;

	for (; up && depth; up = b->c->nodes[up].parent) {
		const struct calls_node *parent = &b->c->nodes[b->c->nodes[up].parent];
		struct calls_node *to;

		if (n->method == b->c->nodes[up].method && n->method == parent->method)
			continue;
		depth--;
		at = place(b, at, &b->c->nodes[up]);
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
	struct back b = {.c = c};
	struct calls_node *root = VECTOR_PUSH(&b.nodes);
	bool failed = !order || !chosen || !root;
	uint32_t i;

	if (!failed)
		root->method = CALLS_ROOT;
	for (i = 0; !failed && i < c->method_count && i < wanted; i++)
		chosen[order[i] - c->methods] = true;
	for (i = 1; !failed && i < c->node_count; i++)
		if (c->nodes[i].method != CALLS_THREAD && chosen[c->nodes[i].method])
			failed = !add(&b, i, depth);
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
