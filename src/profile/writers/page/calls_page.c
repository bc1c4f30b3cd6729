/*
 * calls_page.c - a trace as the page that web/ draws: the same object as page_data.c makes of a profile, with
 * invocations in the place of samples and wall-clock time as weight, and `calls` with what only a trace knows:
 * the nodes' CPU times, in their order, and the methods' distributions.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/base/decimal.h"
#include "common/base/enum_names.h"
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

static int put_names(const struct calls *c, struct buffer *out)
{
	uint32_t i, count = c->method_count + c->thread_count + CALLS_WAITS;
	bool *overloads = calls_overloads(c);
	struct buffer name = BUFFER_INIT;

	if (!overloads)
		return -ENOMEM;
	buffer_puts(out, "\"names\":[");
	for (i = 0; i < count; i++) {
		name.length = 0;
		spell(c, overloads, i, &name);
		buffer_puts(out, i ? ",\n" : "\n");
		page_json(out, buffer_text(&name, out));
	}
	buffer_puts(out, "],\n\"nameTypes\":\"");
	for (i = 0; i < count; i++)
		buffer_putc(out, i < c->method_count ? '0' : '4');
	buffer_puts(out, "\",\n\"libraries\":[0,\"\"],\n");
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

static int put_tree(const struct calls *c, struct buffer *out)
{
	struct page_bytes tree = {.out = out}, cpu = {.out = out};
	struct calls_worth w;
	int rc = calls_worth_build(&w, c);
	uint64_t count = 0;
	uint32_t i, before = 0;

	buffer_puts(out, "\"tree\":\"");
	for (i = 0; rc == 0 && i + 1 < c->node_count; i++)
		before = put_node(c, &c->nodes[w.order[i]], before, &tree, &count);
	page_bytes_end(&tree);
	buffer_puts(out, "\",\n");
	page_number(out, "nodes", count);
	buffer_puts(out, "\"calls\":{\n");
	page_string(out, "timing", c->timing);
	page_flag(out, "timed", c->timed);
	page_flag(out, "cpuExact", c->cpu_exact);
	buffer_puts(out, "\"cpu\":\"");
	for (i = 0; rc == 0 && i + 1 < c->node_count; i++)
		put_cpu(&c->nodes[w.order[i]], &cpu);
	page_bytes_end(&cpu);
	buffer_puts(out, "\",\n");
	calls_worth_free(&w);
	return rc;
}

/* [min, p50, p99, max] of each method, 0 = not known; what has no probes. Ends the object `calls`. */
static void put_more(const struct calls *c, struct buffer *out)
{
	uint32_t i;

	buffer_puts(out, "\"methods\":[");
	for (i = 0; i < c->method_count; i++) {
		const struct calls_spread *s = &c->methods[i].spread;

		if (s->timed)
			buffer_printf(out, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "", s->min,
				      s->p50, s->p99, s->max);
		else
			buffer_puts(out, i ? ",0" : "0");
	}
	buffer_puts(out, "],\n\"skipped\":[");
	for (i = 0; i < c->skipped_count; i++) {
		buffer_puts(out, i ? ",\n[" : "[");
		page_json(out, c->skipped[i].name);
		buffer_putc(out, ',');
		page_json(out, c->skipped[i].reason);
		buffer_putc(out, ']');
	}
	buffer_printf(out, "],\n\"skippedMore\":%" PRIu32 "\n},\n", c->skipped_more);
}

static void put_threads(const struct calls *c, struct buffer *out)
{
	uint32_t i;

	buffer_puts(out, "\"threads\":[");
	for (i = 0; i < c->thread_count; i++) {
		buffer_printf(out, "%s[%" PRIu32 ",", i ? ",\n" : "", i);
		page_json(out, c->threads[i].name);
		buffer_printf(out, ",%" PRIu64 ",%" PRIu64 "]", c->threads[i].count, c->threads[i].self.wall);
	}
	buffer_puts(out, "],\n");
}

/* Nodes have no kinds of code: nothing is on top in any. */
static void put_top(struct buffer *out)
{
	unsigned i;

	buffer_puts(out, "\"top\":[");
	for (i = 0; i <= FRAME_KINDS; i++)
		buffer_puts(out, i ? ",[0,0]" : "[0,0]");
	buffer_puts(out, "],\n");
}

static void put_head(const struct calls *c, const struct calls_style *style, struct buffer *out)
{
	struct buffer cost = BUFFER_INIT;

	calls_overhead(c, &cost);
	page_string(out, "loss", buffer_text(&cost, out));
	buffer_free(&cost);
	page_origin(out, &(struct page_origin){"calls", c->timing, c->main_class, c->jdk, c->pid, c->started_at,
					       c->duration, c->period});
	page_number(out, "cpuTime", 0);
	page_number(out, "taken", c->count);
	page_number(out, "stored", c->count);
	page_flag(out, "inEvents", false);
	page_string(out, "unit", "time");
	page_flag(out, "warn", c->uncounted * 100 > c->count);
	page_flag(out, "byWeight", c->timed);
	page_flag(out, "lines", false);
	page_flag(out, "dots", true);
	page_flag(out, "reverse", style->reverse);
	page_flag(out, "inverted", style->inverted);
	buffer_puts(out, "\"lost\":[],\n\"ended\":[],\n");
	buffer_printf(out, "\"details\":\"Calls: %" PRIu64 " counted, %" PRIu64 " in no tree\\nProbes: %" PRIu32
		      " classes, about %s ns a call\\n", c->count, c->uncounted, c->class_count,
		      decimal(c->cost, 1).text);
	if (c->not_run)
		buffer_printf(out, "Not seen running, without probes: %" PRIu32 " classes\\n", c->not_run);
	if (c->since)
		buffer_printf(out, "Counted from their probes on, the last %s s after the start\\n",
			      decimal((double)c->since / 1e9, 1).text);
	buffer_printf(out, "Trees: %" PRIu64 " bytes\",\n", c->bytes);
}

static void put_title(const struct calls *c, const struct calls_style *style, struct buffer *out)
{
	struct buffer title = BUFFER_INIT;

	buffer_printf(&title, "%s%s", c->main_class[0] ? "Calls of " : "Calls", c->main_class);
	page_begin(out, style->title && style->title[0] ? style->title : buffer_text(&title, out));
	buffer_free(&title);
}

void calls_page(const struct calls *c, const struct calls_style *style, struct buffer *out)
{
	int rc;

	put_title(c, style, out);
	buffer_puts(out, "{\n");
	put_head(c, style, out);
	put_top(out);
	put_threads(c, out);
	rc = put_names(c, out);
	if (rc == 0)
		rc = put_tree(c, out);
	if (rc == 0)
		put_more(c, out);
	buffer_puts(out, "\"end\":true\n}\n");
	page_end(out);
	if (rc && !out->failed)
		out->failed = -rc;
}
