/*
 * trace_statistics.c - from merged nodes to what a result says: times of subtrees and methods, lengths of calls.
 */
#include "agent/tracing/trace_result.h"

#include <errno.h>
#include <stdlib.h>

/* ---- lengths ----------------------------------------------------------------------------------- */

int trace_lengths_add(struct trace_lengths *l, uint32_t method, const struct tree_stats *s)
{
	struct tree_stats *to;
	unsigned i;

	if (method >= l->method_count || s->max < s->min)
		return 0;
	to = l->by_method[method];
	if (!to) {
		to = l->by_method[method] = calloc(1, sizeof(*to));
		if (!to)
			return -ENOMEM;
		to->min = INT64_MAX;
	}
	to->min = MIN(to->min, s->min);
	to->max = MAX(to->max, s->max);
	for (i = 0; i < TREE_BUCKETS; i++)
		to->buckets[i] += s->buckets[i];
	return 0;
}

void trace_lengths_free(struct trace_lengths *l)
{
	uint32_t i;

	for (i = 0; l->by_method && i < l->method_count; i++)
		free(l->by_method[i]);
	free(l->by_method);
}

/* The length that SHARE of COUNT calls do not exceed, evenly spread within its bucket. */
static uint64_t quantile(const struct tree_stats *s, uint64_t count, double share)
{
	double rank = share * (double)count, before = 0, at;
	unsigned i;

	for (i = 0; i < TREE_BUCKETS - 1 && before + (double)s->buckets[i] < rank; i++)
		before += (double)s->buckets[i];
	at = s->buckets[i] ? (rank - before) / (double)s->buckets[i] : 0;
	at = (double)tree_bucket_from(i) + at * (double)(tree_bucket_from(i + 1) - tree_bucket_from(i));
	return MIN(MAX((uint64_t)at, (uint64_t)s->min), (uint64_t)s->max);
}

/* √X by Newton's steps; the agent does without libm. */
static double root(double x)
{
	double r = MAX(x, 1.0);
	int i;

	for (i = 0; i < 100; i++)
		r = (r + x / r) / 2;
	return r;
}

static void spread(struct calls_method *m, const struct tree_stats *s)
{
	uint64_t count = 0;
	unsigned i;

	for (i = 0; i < TREE_BUCKETS; i++)
		count += s->buckets[i];
	if (!count)
		return;
	m->spread = (struct calls_spread){count, (uint64_t)s->min, quantile(s, count, 0.5), quantile(s, count, 0.99),
					  (uint64_t)s->max};
}

/* ---- times ------------------------------------------------------------------------------------- */

/* Time in a method that waits is no work, but for what it ran in. */
static void make_wait(struct calls_times *self, int kind)
{
	if (kind < 0)
		return;
	calls_times_wait(self, (unsigned)kind);
}

static int wait_of(const struct trace_classes *k, uint32_t method)
{
	return method < k->methods.count ? k->methods.items[method].wait : -1;
}

/* Children come behind their parents: at its turn a node has all of theirs in `total`. */
static void sum_nodes(struct calls *c, const struct trace_classes *k)
{
	uint32_t i;

	for (i = c->node_count; i-- > 0;) {
		struct calls_node *n = &c->nodes[i];

		if (i)
			make_wait(&n->self, wait_of(k, n->method));
		calls_times_add(&n->total, &n->self);
		n->total.wall += calls_waited(&n->self);
		if (i)
			calls_times_add(&c->nodes[n->parent].total, &n->total);
	}
}

static void sum_methods(struct calls *c, const double *variances)
{
	const struct calls_node *nodes = c->nodes;
	uint32_t i, at;

	for (i = 1; i < c->node_count; i++) {
		struct calls_method *method;

		if (nodes[i].method == CALLS_THREAD)
			continue;
		method = &c->methods[nodes[i].method];
		method->count += nodes[i].count;
		method->stamps += nodes[i].stamps;
		calls_times_add(&method->self, &nodes[i].self);
		c->count += nodes[i].count;
		for (at = nodes[i].parent; at && nodes[at].method != nodes[i].method; at = nodes[at].parent)
			;
		if (at)
			continue;
		calls_times_add(&method->total, &nodes[i].total);
		method->error = (uint64_t)root((double)method->error * (double)method->error + variances[i]);
	}
}

void trace_sums(struct calls *c, const struct trace_classes *k, const struct trace_lengths *l, const double *variances)
{
	uint32_t i;

	sum_nodes(c, k);
	sum_methods(c, variances);
	for (i = 0; i < l->method_count; i++)
		if (l->by_method[i])
			spread(&c->methods[i], l->by_method[i]);
}
