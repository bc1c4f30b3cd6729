/*
 * foreign_tree.h - stacks of files that have them as a tree, or enter and leave functions one by one: a node is a frame
 * and the node that called it. It becomes a stack only if it is asked for. Inner header of the readers room.
 */
#ifndef JSTROBE_READERS_FOREIGN_TREE_H
#define JSTROBE_READERS_FOREIGN_TREE_H

#include "profile/readers/read_aggregate.h"

#define FOREIGN_TREE_ROOT UINT32_MAX /* the node of no frame */

/* Zeroed but for `to`. */
struct foreign_tree {
	struct read_aggregate *to;
	struct lists nodes;     /* caller + 1, frame */
	struct numbers stacks;  /* by node: number of the stack + 1, 0: not made yet */
	struct numbers frames;
};

/* The node of FRAME called by NODE. LISTS_FAILED with to->no_memory: out of memory. */
uint32_t foreign_tree_child(struct foreign_tree *t, uint32_t node, uint32_t frame);
/* NODE's caller. */
uint32_t foreign_tree_caller(const struct foreign_tree *t, uint32_t node);
/* NODE's frame. */
uint32_t foreign_tree_frame(const struct foreign_tree *t, uint32_t node);
/* NODE as a stack of the aggregate. LISTS_FAILED: out of memory, or too much was asked for. */
uint32_t foreign_tree_stack(struct foreign_tree *t, uint32_t node);
void foreign_tree_free(struct foreign_tree *t);

#endif
