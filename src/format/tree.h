/*
 * tree.h - all stacks of a profile as one tree of names, from the root.
 *
 * Node 0 is "all". Stacks whose names agree share their nodes, in whatever kinds
 * the frames ran; how many samples saw a node in which kind is kept beside it
 * where they differ.
 */
#ifndef JSTROBE_FORMAT_TREE_H
#define JSTROBE_FORMAT_TREE_H

#include "format/name_table.h"

#define TREE_NONE UINT32_MAX

struct tree_node {
	uint32_t name;   /* in tree.names; TREE_NONE for the root */
	uint32_t parent; /* TREE_NONE for the root */
	uint32_t child;  /* heaviest child or TREE_NONE */
	uint32_t next;   /* next sibling or TREE_NONE */
	uint32_t mixed;  /* index into tree.mixed, or TREE_NONE: all samples in `kind` */
	uint8_t kind;    /* enum frame_kind with most samples */
	uint64_t self, total;
	uint64_t self_weight, total_weight; /* ns */
};

struct tree_kinds {
	uint64_t samples[FRAME_KINDS];
};

struct tree {
	struct name_table names;
	struct tree_node *nodes;
	uint32_t count, capacity;
	uint32_t depth; /* deepest node; the root has 0 */
	struct tree_kinds *mixed;
	uint32_t mixed_count, mixed_capacity;

	uint32_t *slots; /* hash (parent, name) -> node, 0 = free */
	uint32_t slot_mask;
	bool by_weight;
};

/*
 * Build the tree of P with names in STYLE, below thread frames if BY_THREAD, heaviest children
 * first (by weight or by samples). 0 or -ENOMEM; free in both cases. Normal code.
 */
int tree_build(struct tree *t, const struct profile *p, unsigned style, bool by_thread,
	       bool by_weight);
void tree_free(struct tree *t);

/* The node after I in depth-first order, or TREE_NONE; *DEPTH is kept up to date. */
uint32_t tree_next(const struct tree *t, uint32_t i, uint32_t *depth);
/* The same, but past everything below I. */
uint32_t tree_skip(const struct tree *t, uint32_t i, uint32_t *depth);

static inline uint64_t tree_total(const struct tree *t, uint32_t i)
{
	return t->by_weight ? t->nodes[i].total_weight : t->nodes[i].total;
}

static inline uint64_t tree_self(const struct tree *t, uint32_t i)
{
	return t->by_weight ? t->nodes[i].self_weight : t->nodes[i].self;
}

#endif
