/*
 * calls_page.c - what the page has of a trace in the place of stacks: its tree as page_data.c makes one of them, with
 * invocations in the place of samples and wall-clock time as weight, and `calls` with what only a trace knows:
 * the nodes' CPU times, in their order, and the methods' distributions.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/base/decimal.h"
#include "profile/model/calls_tree.h"
#include "profile/writers/page/page_put.h"

/* The names that nodes have: methods, threads, and what was waited for, in this order. */
static uint32_t name_of(const struct calls *c, const struct calls_node *n)
{
	return n->method == CALLS_THREAD ? c->method_count + n->thread : n->method;
}

static void spell(const struct calls *c, const bool *overloads, uint32_t name, struct buffer *out)
{
	uint32_t thread = name - c->method_count;

	if (name < c->method_count)
		calls_name(c, overloads, name, out);
	else if (thread < c->thread_count)
		buffer_printf(out, "[%s tid=%" PRIu32 "]", c->threads[thread].name, thread);
	else
		buffer_printf(out, "[%s]", calls_wait_words[thread - c->thread_count]);
}

static int put_names(const struct calls *c, struct json_writer *w)
{
	uint32_t i, count = c->method_count + c->thread_count + CALLS_WAITS;
	bool *overloads = calls_overloads(c);
	struct buffer name = BUFFER_INIT;

	if (!overloads)
		return -ENOMEM;
	json_array(w, "names");
	for (i = 0; i < count; i++) {
		name.length = 0;
		spell(c, overloads, i, &name);
		json_put_text(w, NULL, buffer_text(&name, w->out));
	}
	json_end(w);
	json_begin_text(w, "nameTypes");
	for (i = 0; i < count; i++)
		buffer_putc(w->out, i < c->method_count ? '0' : '4');
	json_end_text(w);
	json_array(w, "libraries");
	json_end(w);
	buffer_free(&name);
	free(overloads);
	return 0;
}

/* Node N and one for each thing that it waited for; BEFORE: the depth of the node in front. The depth of the last. */
static uint32_t put_node(const struct calls *c, const struct calls_node *n, uint32_t before, struct page_bytes *tree,
			 uint64_t *count)
{
	unsigned wait;

	page_node(tree, FRAME_C2 | PAGE_HEAD_SELF, before - (n->depth - 1), name_of(c, n));
	page_varint(tree, n->count);
	page_varint(tree, n->self.wall);
	before = n->depth;
	++*count;
	for (wait = 0; wait < CALLS_WAITS; wait++) {
		if (!n->self.waits[wait])
			continue;
		page_node(tree, FRAME_OTHER | PAGE_HEAD_SELF, before - n->depth,
			  c->method_count + c->thread_count + wait);
		page_varint(tree, 0);
		page_varint(tree, n->self.waits[wait]);
		before = n->depth + 1;
		++*count;
	}
	return before;
}

/* CPU times of the nodes in their order; waiting takes none. */
static void put_cpu(const struct calls_node *n, struct page_bytes *cpu)
{
	unsigned wait;

	page_varint(cpu, n->self.cpu);
	for (wait = 0; wait < CALLS_WAITS; wait++)
		if (n->self.waits[wait])
			page_varint(cpu, 0);
}

static int put_tree(const struct profile *p, struct json_writer *w, const struct format_options *options)
{
	const struct calls *c = p->calls;
	struct page_bytes tree = PAGE_BYTES(w, "tree", options), cpu = PAGE_BYTES(w, "cpu", options);
	struct calls_worth worth;
	int rc = calls_worth_build(&worth, c);
	uint64_t count = 0;
	uint32_t i, before = 0;

	for (i = 0; rc == 0 && i + 1 < c->node_count; i++)
		before = put_node(c, &c->nodes[worth.order[i]], before, &tree, &count);
	page_bytes_end(&tree);
	json_put_number(w, "nodes", count);
	json_object(w, "calls");
	json_put_text(w, "timing", p->engine);
	json_put_bool(w, "timed", c->timed);
	json_put_bool(w, "cpuExact", c->cpu_exact);
	for (i = 0; rc == 0 && i + 1 < c->node_count; i++)
		put_cpu(&c->nodes[worth.order[i]], &cpu);
	page_bytes_end(&cpu);
	calls_worth_free(&worth);
	return rc;
}

static void put_spread(const struct calls_spread *s, struct json_writer *w)
{
	const uint64_t values[] = {s->min, s->p50, s->p99, s->max};
	unsigned i;

	json_array(w, NULL);
	for (i = 0; i < ARRAY_LEN(values); i++)
		json_put_number(w, NULL, values[i]);
	json_end(w);
}

/* [min, p50, p99, max] of each method, 0 = not known; what has no probes. Ends the object `calls`. */
static void put_more(const struct calls *c, struct json_writer *w)
{
	uint32_t i;

	json_array(w, "methods");
	for (i = 0; i < c->method_count; i++)
		if (c->methods[i].spread.timed)
			put_spread(&c->methods[i].spread, w);
		else
			json_put_number(w, NULL, 0);
	json_end(w);
	json_array(w, "skipped");
	for (i = 0; i < c->skipped_count; i++) {
		json_array(w, NULL);
		json_put_text(w, NULL, c->skipped[i].name);
		json_put_text(w, NULL, c->skipped[i].reason);
		json_end(w);
	}
	json_end(w);
	json_put_number(w, "skippedMore", c->skipped_more);
	json_end(w);
}

void calls_page_details(const struct calls *c, struct buffer *out)
{
	buffer_printf(out, "Calls: %" PRIu64 " counted, %" PRIu64 " in no tree\nProbes: %" PRIu32
		      " classes, about %s ns a call\n", c->count, c->uncounted, c->class_count,
		      decimal(c->cost, 1).text);
	if (c->not_run)
		buffer_printf(out, "Not seen running, without probes: %" PRIu32 " classes\n", c->not_run);
	if (c->since)
		buffer_printf(out, "Counted from their probes on, the last %s s after the start\n",
			      decimal((double)c->since / 1e9, 1).text);
	buffer_printf(out, "Trees: %" PRIu64 " bytes", c->bytes);
}

int calls_page_put(struct json_writer *w, const struct profile *p, const struct format_options *options)
{
	int rc = put_names(p->calls, w);

	if (rc == 0)
		rc = put_tree(p, w, options);
	if (rc == 0)
		put_more(p->calls, w);
	return rc;
}
