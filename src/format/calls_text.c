/*
 * calls_text.c - a trace for people: what it counted, the hot methods, the call tree.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/calls.h"
#include "format/human.h"

#define HOT_METHODS 20
#define SKIPS_SHOWN 10
#define TREE_SHARE 200   /* of the tree, branches below 1/200 of the whole are left out */
#define TREE_DEPTH 64
#define MANY_CALLS 10000 /* a second: from here on stamps cost more than most methods */

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double per_second(const struct calls *c)
{
	return c->duration ? (double)c->count * 1e9 / (double)c->duration : 0;
}

void calls_overhead(const struct calls *c, struct buffer *out)
{
	double spent = (double)c->count * c->cost, busy = 0;
	uint32_t i;

	for (i = 0; i < c->thread_count; i++)
		busy += (double)c->threads[i].self.wall;
	buffer_printf(out, "%s calls, %s a second", human_count(c->count).text,
		      human_count((uint64_t)per_second(c)).text);
	if (c->cost <= 0) {
		buffer_puts(out, "; what a call's probes cost was not measured\n");
		return;
	}
	buffer_printf(out, "; probes cost about %.1f ns a call in compiled code, %.3f s in all", c->cost, spent / 1e9);
	if (c->timed && busy > 0)
		buffer_printf(out, " (%.1f %% of the time in instrumented methods)", 100 * spent / busy);
	buffer_putc(out, '\n');
	if (c->timed && c->timing[0] == 'e' && per_second(c) > MANY_CALLS && spent > busy / 2)
		buffer_puts(out, "recommended: --timing sampled; here time stamps cost more than what they "
			    "time\n");
	if (c->timed && c->timing[0] == 's' && c->count && per_second(c) < MANY_CALLS)
		buffer_puts(out, "recommended: --timing exact; these methods are called rarely enough for "
			    "it\n");
}

static int by_self(const void *a, const void *b)
{
	const struct calls_method *x = *(const struct calls_method *const *)a;
	const struct calls_method *y = *(const struct calls_method *const *)b;

	if (x->self.wall != y->self.wall)
		return x->self.wall < y->self.wall ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x < y ? -1 : x > y;
}

static void put_method(const struct calls *c, const struct calls_method *m, uint64_t whole, struct buffer *out)
{
	buffer_printf(out, "%14" PRIu64, m->count);
	if (c->timed)
		buffer_printf(out, "  %6.2f%%  %12.3f  %12.3f  %10.0f  %12.3f", share(m->self.wall, whole),
			      (double)m->self.wall / 1e6, (double)m->total.wall / 1e6,
			      m->count ? (double)m->total.wall / (double)m->count : 0, (double)m->self.cpu / 1e6);
	buffer_printf(out, "  %s.%s\n", m->class_name, m->name);
}

static void put_hot(const struct calls *c, unsigned limit, struct buffer *out)
{
	const struct calls_method **order = calloc(c->method_count + 1u, sizeof(*order));
	uint32_t i;

	if (!order) {
		out->failed = 12;
		return;
	}
	for (i = 0; i < c->method_count; i++)
		order[i] = &c->methods[i];
	qsort(order, c->method_count, sizeof(*order), by_self);
	buffer_puts(out, "         calls");
	if (c->timed)
		buffer_puts(out, "     self       self ms      total ms  mean ns     ≈ self CPU ms");
	buffer_puts(out, "  method\n");
	for (i = 0; i < c->method_count && i < limit && order[i]->count; i++)
		put_method(c, order[i], c->nodes[0].total.wall, out);
	free(order);
}

static void put_tree(const struct calls *c, struct buffer *out)
{
	uint64_t whole = c->timed ? c->nodes[0].total.wall : c->count;
	uint32_t i, *first = calloc(c->node_count * 2 + 1u, sizeof(*first)), *next = first + c->node_count, at;

	if (!first) {
		out->failed = 12;
		return;
	}
	for (i = c->node_count - 1; i > 0; i--) {
		next[i] = first[c->nodes[i].parent];
		first[c->nodes[i].parent] = i;
	}
	for (at = first[0]; at;) {
		const struct calls_node *n = &c->nodes[at];
		uint64_t weight = c->timed ? n->total.wall : n->count;
		bool shown = weight * TREE_SHARE >= whole && n->depth < TREE_DEPTH && n->count;

		if (shown) {
			buffer_printf(out, "%14" PRIu64, n->count);
			if (c->timed)
				buffer_printf(out, "  %6.2f%%  %12.3f", share(n->total.wall, whole),
					      (double)n->total.wall / 1e6);
			buffer_printf(out, "  %*s%s.%s\n", (int)(n->depth - 1) * 2, "",
				      c->methods[n->method].class_name, c->methods[n->method].name);
		}
		if (shown && first[at]) {
			at = first[at];
			continue;
		}
		while (at && !next[at])
			at = c->nodes[at].parent;
		at = at ? next[at] : 0;
	}
	free(first);
}

void calls_text(const struct calls *c, unsigned hot, struct buffer *out)
{
	uint32_t i;

	buffer_printf(out, "--- Calls of %" PRIu32 " methods in %" PRIu32 " classes, %s timing, %.1f s ---\n",
		      c->method_count, c->class_count, c->timing, (double)c->duration / 1e9);
	calls_overhead(c, out);
	if (c->uncounted)
		buffer_printf(out, "%" PRIu64 " calls are in no tree: by threads that were being attached, or beyond "
			      "the memory for trees\n", c->uncounted);
	buffer_putc(out, '\n');
	put_hot(c, hot ? hot : HOT_METHODS, out);
	buffer_printf(out, "\n         calls%s  call tree\n", c->timed ? "    total      total ms" : "");
	put_tree(c, out);
	for (i = 0; i < c->skipped_count && i < SKIPS_SHOWN; i++)
		buffer_printf(out, "%s%s: not instrumented, %s\n", i ? "" : "\n", c->skipped[i].name,
			      c->skipped[i].reason);
	if (c->skipped_count + c->skipped_more > SKIPS_SHOWN)
		buffer_printf(out, "(%u more are not instrumented; see the JSON output)\n",
			      c->skipped_count + c->skipped_more - SKIPS_SHOWN);
}
