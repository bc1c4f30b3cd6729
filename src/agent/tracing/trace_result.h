/*
 * trace_result.h - from the threads' trees to what the writers show.
 */
#ifndef JSTROBE_TRACING_TRACE_RESULT_H
#define JSTROBE_TRACING_TRACE_RESULT_H

#include "agent/tracing/trace_classes.h"
#include "agent/tracing/trace_running.h"
#include "profile/model/calls.h"

/*
 * Read all trees as they are now, with ticks each PERIOD ns, BY_THREAD or merged; threads go on. C's methods are those
 * of CLASSES, under trace_classes_lock. Head fields are the caller's to fill in. -ENOMEM.
 */
int trace_result_read(struct calls *c, const struct trace_classes *classes, const struct trace_entered *entered,
		      uint64_t period, bool by_thread);
/* From when on C's methods were counted in a trace that began at BEGAN (monotonic ns); as above. */
void trace_result_since(struct calls *c, const struct trace_classes *classes, uint64_t began);
void trace_result_free(struct calls *c);

/* From merged nodes to what a result says: times of subtrees and methods, lengths of calls. */

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
