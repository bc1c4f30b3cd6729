/*
 * calls_tree.h - other views of a trace's tree: in reading order, upside down, by class and package. Inner header.
 *
 * What these functions make belongs to the caller and borrows texts of the trace. Normal code.
 */
#ifndef JSTROBE_MODEL_CALLS_TREE_H
#define JSTROBE_MODEL_CALLS_TREE_H

#include "common/base/buffer.h"
#include "common/base/strings.h"
#include "common/base/vector.h"
#include "profile/model/calls.h"

/* A tree that is being put together: a node is found again by its parent and what it stands for. Begins zeroed. */
struct calls_merge {
	VECTOR(struct calls_node) nodes; /* the result's */
	struct map places;               /* place of the parent, and method or thread → place */
};
/* The root, before all else. False: out of memory. */
bool calls_merge_begin(struct calls_merge *m);
/* The node for METHOD, CALLS_THREAD: for THREAD, under PARENT, a new one if need be; 0: out of memory. */
uint32_t calls_merge_place(struct calls_merge *m, uint32_t parent, uint32_t method, uint32_t thread);

/* What a node is worth: its time with all below; where calls are not timed, its calls with all below. */
struct calls_worth {
	uint64_t *of_node;
	uint32_t *order; /* the nodes but the root, depth first, the heaviest child first; node_count - 1 of them */
};
/* -ENOMEM; free in both cases. */
int calls_worth_build(struct calls_worth *w, const struct calls *c);
void calls_worth_free(struct calls_worth *w);

/*
 * The trace upside down: below each of the WANTED methods with the most self time (or calls) who called it, up to
 * DEPTH levels. A node's count and times are the invocations and the self times of that method which came this
 * way, as its `total`. Only nodes and node_count differ from C. -ENOMEM; free B->nodes in both cases.
 */
int calls_back(const struct calls *c, uint32_t wanted, uint32_t depth, struct calls *b);

/* The methods, the one with the most self time (or calls) first: pointers into C. NULL: out of memory. */
const struct calls_method **calls_hottest(const struct calls *c);

/*
 * Sums by class, or by package: a trace with the groups as its methods (class_name is the group's, the others are
 * ""), whose `total` counts time once where a method of a group calls another of it. -ENOMEM; calls_groups_free.
 */
enum calls_level { CALLS_BY_CLASS, CALLS_BY_PACKAGE };
struct calls_groups {
	struct calls calls; /* methods, method_count and the head of C's */
	struct strings names;
};
int calls_groups_build(struct calls_groups *g, const struct calls *c, enum calls_level level);
void calls_groups_free(struct calls_groups *g);

/* For each method whether another one of its class has its name; NULL: out of memory. */
bool *calls_overloads(const struct calls *c);
/* Append the method's name; with its parameters if OVERLOADS says that they are needed. */
void calls_name(const struct calls *c, const bool *overloads, uint32_t method, struct buffer *out);
/* Append what stands for a node: its method, or its thread. */
void calls_node_name(const struct calls *c, const bool *overloads, const struct calls_node *n, struct buffer *out);

#endif
