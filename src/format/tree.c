#include "format/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash(uint32_t parent, uint32_t name)
{
	uint64_t h = ((uint64_t)parent << 32 | name) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(h >> 32);
}

static bool rehash(struct tree *t)
{
	size_t size = t->slots ? ((size_t)t->slot_mask + 1) * 2 : 4096;
	uint32_t *slots = calloc(size, sizeof(*slots));
	uint32_t i;

	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->slot_mask = (uint32_t)(size - 1);
	for (i = 1; i < t->count; i++) {
		uint32_t slot = hash(t->nodes[i].parent, t->nodes[i].name) & t->slot_mask;

		while (slots[slot])
			slot = (slot + 1) & t->slot_mask;
		slots[slot] = i;
	}
	return true;
}

/* A new node under PARENT, or TREE_NONE when out of memory. */
static uint32_t new_node(struct tree *t, uint32_t parent, uint32_t name, uint8_t kind)
{
	struct tree_node *n;

	if (t->count == t->capacity) {
		uint32_t wanted = t->capacity ? t->capacity * 2 : 1024;
		struct tree_node *nodes = realloc(t->nodes, (size_t)wanted * sizeof(*nodes));

		if (!nodes)
			return TREE_NONE;
		t->nodes = nodes;
		t->capacity = wanted;
	}
	n = &t->nodes[t->count];
	*n = (struct tree_node){.name = name, .parent = parent, .child = TREE_NONE,
				.next = TREE_NONE, .mixed = TREE_NONE, .kind = kind};
	if (parent != TREE_NONE) {
		n->next = t->nodes[parent].child;
		t->nodes[parent].child = t->count;
	}
	return t->count++;
}

/* The child of PARENT called NAME, made where missing; TREE_NONE when out of memory. */
static uint32_t child(struct tree *t, uint32_t parent, uint32_t name, uint8_t kind)
{
	uint32_t slot, node;

	if (t->count * 2ull > t->slot_mask && !rehash(t))
		return TREE_NONE;
	slot = hash(parent, name) & t->slot_mask;
	while ((node = t->slots[slot])) {
		if (t->nodes[node].parent == parent && t->nodes[node].name == name)
			return node;
		slot = (slot + 1) & t->slot_mask;
	}
	node = new_node(t, parent, name, kind);
	if (node != TREE_NONE)
		t->slots[slot] = node;
	return node;
}

/* Count SAMPLES of NODE in KIND, before they are added to its total. */
static bool count_kind(struct tree *t, uint32_t node, uint8_t kind, uint64_t samples)
{
	struct tree_node *n = &t->nodes[node];

	if (n->mixed == TREE_NONE) {
		if (n->kind == kind)
			return true;
		if (t->mixed_count == t->mixed_capacity) {
			uint32_t wanted = t->mixed_capacity ? t->mixed_capacity * 2 : 256;
			struct tree_kinds *mixed = realloc(t->mixed, wanted * sizeof(*mixed));

			if (!mixed)
				return false;
			t->mixed = mixed;
			t->mixed_capacity = wanted;
		}
		n->mixed = t->mixed_count++;
		memset(&t->mixed[n->mixed], 0, sizeof(*t->mixed));
		t->mixed[n->mixed].samples[n->kind] = n->total;
	}
	t->mixed[n->mixed].samples[kind] += samples;
	if (t->mixed[n->mixed].samples[kind] > t->mixed[n->mixed].samples[n->kind])
		n->kind = kind;
	return true;
}

/* One step down from *NODE; false when out of memory. */
static bool descend(struct tree *t, uint32_t *node, uint32_t name, uint8_t kind,
		    const struct profile_stack *s)
{
	struct tree_node *n;

	*node = child(t, *node, name, kind);
	if (*node == TREE_NONE || !count_kind(t, *node, kind, s->samples))
		return false;
	n = &t->nodes[*node];
	n->total += s->samples;
	n->total_weight += s->weight;
	return true;
}

static bool add(struct tree *t, const struct profile *p, const struct profile_stack *s,
		bool by_thread)
{
	uint32_t node = 0, i, depth = s->depth;

	t->nodes[0].total += s->samples;
	t->nodes[0].total_weight += s->weight;
	if (by_thread && s->thread != PROFILE_NO_THREAD) {
		if (!descend(t, &node, t->names.of_thread[s->thread], FRAME_OTHER, s))
			return false;
		depth++;
	}
	for (i = 0; i < s->depth; i++)
		if (!descend(t, &node, t->names.of_frame[s->frames[i]],
			     p->frames[s->frames[i]].kind, s))
			return false;
	if (s->depth == 0) {
		if (!descend(t, &node, t->names.no_frames, FRAME_OTHER, s))
			return false;
		depth++;
	}
	t->depth = MAX(t->depth, depth);
	t->nodes[node].self += s->samples;
	t->nodes[node].self_weight += s->weight;
	return true;
}

static int compare(const void *left, const void *right, void *arg)
{
	const struct tree *t = arg;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t x = tree_total(t, a), y = tree_total(t, b);

	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(name_text(&t->names, t->nodes[a].name),
		      name_text(&t->names, t->nodes[b].name));
}

/* Sort the children of every node. ORDER has room for as many nodes as there are. */
static void sort(struct tree *t, uint32_t *order)
{
	uint32_t i, c, n;

	for (i = 0; i < t->count; i++) {
		for (n = 0, c = t->nodes[i].child; c != TREE_NONE; c = t->nodes[c].next)
			order[n++] = c;
		if (n < 2)
			continue;
		qsort_r(order, n, sizeof(*order), compare, t);
		t->nodes[i].child = order[0];
		for (c = 0; c < n; c++)
			t->nodes[order[c]].next = c + 1 < n ? order[c + 1] : TREE_NONE;
	}
}

int tree_build(struct tree *t, const struct profile *p, unsigned style, bool by_thread,
	       bool by_weight)
{
	uint32_t *order, i;

	memset(t, 0, sizeof(*t));
	t->by_weight = by_weight;
	if (name_table_build(&t->names, p, style) || !rehash(t) ||
	    new_node(t, TREE_NONE, TREE_NONE, FRAME_OTHER) == TREE_NONE)
		return -ENOMEM;
	for (i = 0; i < p->stack_count; i++)
		if (!add(t, p, &p->stacks[i], by_thread))
			return -ENOMEM;
	order = malloc((size_t)t->count * sizeof(*order));
	if (!order)
		return -ENOMEM;
	sort(t, order);
	free(order);
	return 0;
}

void tree_free(struct tree *t)
{
	name_table_free(&t->names);
	free(t->nodes);
	free(t->mixed);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

uint32_t tree_skip(const struct tree *t, uint32_t i, uint32_t *depth)
{
	while (i != 0) {
		if (t->nodes[i].next != TREE_NONE)
			return t->nodes[i].next;
		i = t->nodes[i].parent;
		(*depth)--;
	}
	return TREE_NONE;
}

uint32_t tree_next(const struct tree *t, uint32_t i, uint32_t *depth)
{
	if (t->nodes[i].child == TREE_NONE)
		return tree_skip(t, i, depth);
	(*depth)++;
	return t->nodes[i].child;
}
