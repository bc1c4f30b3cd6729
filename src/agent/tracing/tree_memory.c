/*
 * tree_memory.c - nodes, their tables of children and the methods' statistics, out of the session's room.
 *
 * A thread takes chunks for itself and cuts them up; nothing is given back before the end. The last quarter
 * of the memory is for nodes alone: lengths of calls are missed less than calls.
 */
#include <string.h>

#include "agent/tracing/tree_state.h"

#define CHUNK_FIRST 1024u
#define CHUNK_LAST 65536u
#define DEPTH_MAX 8192u
#define KIDS_PER_SLOT 64u /* a table is at most that much larger than what is in it */
#define STATS_FIRST 8u    /* places of a context's first table */

uint64_t tree_take(size_t size)
{
	uintptr_t at;

	size = (size + TREE_LINE - 1) & ~(size_t)(TREE_LINE - 1);
	if (atomic_fetch_add(&tree_state.used, size) + size > tree_state.setup.limit)
		at = 0;
	else
		at = tree_room(size);
	if (at)
		return (uint64_t)at - tree_base;
	atomic_fetch_sub(&tree_state.used, size);
	return 0;
}

/* SIZE bytes from the context's own chunk. */
static uint64_t take_own(struct tree_context *c, size_t size)
{
	uint64_t at;

	if (size > CHUNK_LAST / 4)
		return tree_take(size);
	if (c->chunk + size > c->chunk_end || !c->chunk) {
		size_t chunk = c->chunk_size ? c->chunk_size : CHUNK_FIRST;

		while (chunk < size)
			chunk *= 2;
		c->chunk = tree_take(chunk);
		c->chunk_end = c->chunk ? c->chunk + chunk : 0;
		c->chunk_size = MIN(chunk * 2, (size_t)CHUNK_LAST);
		if (!c->chunk)
			return 0;
	}
	at = c->chunk;
	c->chunk += size;
	return at;
}

/* ---- statistics --------------------------------------------------------------------------- */

static uint64_t *stats_place(uint64_t *table, uint64_t mask, uint32_t id)
{
	uint64_t i = id * 0x9e3779b1u;

	for (;; i++) {
		uint64_t *place = &table[i & mask];

		if (!*place || ((struct tree_stats *)tree_place(*place))->id == id)
			return place;
	}
}

/* Room for one more in the table, which is at most half full. */
static bool grow_stats(struct tree_context *c)
{
	uint64_t size = c->stats ? c->stats_mask + 1 : 0, at, i, *old, *new;

	if (c->stats && 2 * (c->stats_count + 1u) <= size)
		return true;
	at = take_own(c, MAX(size * 2, (uint64_t)STATS_FIRST) * sizeof(uint64_t));
	if (!at)
		return false;
	old = tree_place(c->stats);
	new = tree_place(at);
	size = MAX(size * 2, (uint64_t)STATS_FIRST);
	memset(new, 0, size * sizeof(*new));
	for (i = 0; c->stats && i <= c->stats_mask; i++)
		if (old[i])
			*stats_place(new, size - 1, (uint32_t)((struct tree_stats *)tree_place(old[i]))->id) = old[i];
	c->stats_mask = 0; /* who reads meanwhile finds too little, never what is none */
	__atomic_store_n(&c->stats, at, __ATOMIC_RELEASE);
	__atomic_store_n(&c->stats_mask, size - 1, __ATOMIC_RELEASE);
	return true;
}

/* The statistics of method ID in context C; 0 without memory, or if they are not asked for. */
static uint64_t stats_of(struct tree_context *c, uint32_t id)
{
	struct tree_stats *s;
	uint64_t *place, at;

	if (!tree_times_calls() || !tree_is_method(id) || !grow_stats(c))
		return 0;
	place = stats_place(tree_place(c->stats), c->stats_mask, id);
	if (*place)
		return *place;
	at = tree_bytes() < tree_state.setup.limit / 4 * 3 ? take_own(c, sizeof(*s)) : 0;
	if (!at)
		return 0;
	s = tree_place(at);
	memset(s, 0, sizeof(*s));
	s->id = id;
	s->min = INT64_MAX;
	c->stats_count++;
	__atomic_store_n(place, at, __ATOMIC_RELEASE);
	return at;
}

const struct tree_stats *tree_stats_at(const struct tree_context *c, uint64_t i)
{
	uint64_t table = __atomic_load_n(&c->stats, __ATOMIC_ACQUIRE);
	uint64_t at = table ? __atomic_load_n((uint64_t *)tree_place(table) + i, __ATOMIC_ACQUIRE) : 0;

	return at ? tree_place(at) : NULL;
}

/* ---- nodes -------------------------------------------------------------------------------- */

/* Which calls do not count below a node ID of that depth. */
static uint32_t gates(uint32_t id, uint32_t depth)
{
	uint32_t closed = depth >= tree_state.setup.depth ? TREE_GATE_DEEP : 0;

	if (id == TREE_ROOT)
		return closed | TREE_GATE_WAIT | (tree_state.setup.rooted ? TREE_GATE_OUTSIDE : 0);
	return id >= TREE_WAITING && id < TREE_WAITING + CALLS_WAITS ? closed | TREE_GATE_WAIT : closed;
}

static uint64_t new_node(struct tree_context *c, uint64_t c_at, uint64_t parent, uint32_t id)
{
	uint64_t at = take_own(c, sizeof(struct tree_node));
	struct tree_node *n = tree_node(at);

	if (!at)
		return 0;
	memset(n, 0, sizeof(*n)); /* a table may have been tried here */
	n->context = c_at;
	n->id = id;
	n->parent = parent;
	n->depth = parent ? tree_node(parent)->depth + 1 : 0;
	n->closed = gates(id, n->depth);
	n->stats = stats_of(c, id);
	return at;
}

/* A new child; 0 without memory. */
static uint64_t make(struct tree_node *p, uint64_t parent, uint64_t c_at, uint32_t id)
{
	uint64_t at = p->depth < DEPTH_MAX ? new_node(tree_at(c_at), c_at, parent, id) : 0;

	if (!at)
		return 0;
	tree_node(at)->next = p->first;
	p->kid_count++;
	__atomic_store_n(&p->first, at, __ATOMIC_RELEASE);
	return at;
}

uint64_t tree_make_root(struct tree_context *c, uint64_t at, bool is_virtual)
{
	uint64_t root = new_node(c, at, 0, TREE_ROOT);

	if (!root)
		return 0;
	if (is_virtual) {
		/* its last exit has to come by here, to give the context to the next one */
		tree_node(root)->context = 0;
		tree_node(root)->home = at;
	}
	/* what no memory is left for is counted here */
	make(tree_node(root), root, at, TREE_OTHER);
	return root;
}

/* ---- children ----------------------------------------------------------------------------- */

/* Fill NEW, a table of SIZE, from PARENT's and with CHILD; false if two want the same place. */
static bool spread(uint64_t *new, uint64_t size, const struct tree_node *parent, uint64_t child, uint32_t id)
{
	const uint64_t *old = tree_place(parent->kids);
	uint64_t i;

	memset(new, 0, size * sizeof(*new));
	new[id & (size - 1)] = child;
	for (i = 0; parent->kids && i <= parent->mask; i++) {
		uint64_t *place;

		if (!old[i])
			continue;
		place = &new[tree_node(old[i])->id & (size - 1)];
		if (*place)
			return false;
		*place = old[i];
	}
	return true;
}

/* Put CHILD, of id ID, into PARENT's table, making it larger until it has a place; it may do without one. */
static void put_kid(struct tree_context *c, struct tree_node *parent, uint64_t child, uint32_t id)
{
	uint64_t *table = tree_place(parent->kids), size = parent->kids ? parent->mask + 1 : 0, at;

	if (!parent->elder) {
		parent->elder = child;
		return;
	}
	if (size && !table[id & parent->mask]) {
		table[id & parent->mask] = child;
		return;
	}
	for (size = size ? size * 2 : 1; size <= (uint64_t)KIDS_PER_SLOT * (parent->kid_count + 1); size *= 2) {
		at = take_own(c, size * sizeof(*table));
		if (!at)
			return;
		if (spread(tree_place(at), size, parent, child, id)) {
			parent->kids = at;
			parent->mask = size - 1;
			return;
		}
		if (c->chunk == at + size * sizeof(*table))
			c->chunk = at;
	}
}

/* Where a call of ID under PARENT belongs that is too deep for a node of its own; 0: nowhere yet. */
static uint64_t fold(uint64_t parent, uint32_t id)
{
	uint64_t at = parent;
	unsigned i;

	if (tree_node(parent)->depth < TREE_FOLD_DEPTH)
		return 0;
	for (i = 0; at && i < TREE_FOLD_DEPTH; i++, at = tree_node(at)->parent)
		if (tree_node(at)->id == id)
			return at;
	return 0;
}

static uint64_t find_kid(const struct tree_node *parent, uint32_t id)
{
	uint64_t at = parent->first;

	while (at && tree_node(at)->id != id)
		at = tree_node(at)->next;
	return at;
}

uint64_t tree_find_child(uint64_t context, uint64_t parent, uint32_t id)
{
	struct tree_node *p = tree_node(parent);
	uint64_t at;

	if (p->id == TREE_OTHER)
		return parent;
	at = find_kid(p, id);
	if (at)
		return at;
	at = fold(parent, id);
	if (!at)
		at = make(p, parent, context, id);
	if (at)
		put_kid(tree_at(context), p, at, id);
	else /* this subtree is counted in one node; the root's is made beforehand */
		at = find_kid(tree_node(tree_at(context)->root), TREE_OTHER);
	return at;
}

uint64_t tree_child(uint64_t parent, uint32_t id)
{
	uint64_t at = 0, context;

	pthread_rwlock_rdlock(&tree_state.life);
	context = tree_home(parent);
	if (context)
		at = tree_find_child(context, parent, id);
	else
		atomic_fetch_add(&tree_state.blind_calls, 1);
	pthread_rwlock_unlock(&tree_state.life);
	return at;
}
