/*
 * trace_statistics.h - from merged nodes to what a result says: times of subtrees and methods, lengths of calls.
 */
#ifndef JSTROBE_TRACING_TRACE_STATISTICS_H
#define JSTROBE_TRACING_TRACE_STATISTICS_H

#include "agent/tracing/trace_classes.h"
#include "profile/model/calls.h"

/* Lengths of calls by methods, of all threads together. */
struct trace_lengths {
	struct tree_stats **by_method; /* NULL: none of that method */
	uint32_t method_count;
};

/* Add what a thread knows of METHOD. -ENOMEM. */
int trace_lengths_add(struct trace_lengths *l, uint32_t method, const struct tree_stats *s);
void trace_lengths_free(struct trace_lengths *l);
/*
 * Fill in C's sums: of each node with all below it, of each method, once where it called itself. Nodes bring count,
 * stamps and self; methods come zeroed. VARIANCES of nodes' totals, in ns², go to methods' errors.
 */
void trace_sums(struct calls *c, const struct trace_classes *k, const struct trace_lengths *l, const double *variances);

#endif
