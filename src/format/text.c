/*
 * text.c - header, stacks and methods as plain text, laid out as async-profiler
 * lays them out; what it does not know follows in the same header.
 */
#include "format/text.h"

#include <errno.h>
#include <stdlib.h>

#include "format/frame_name.h"
#include "format/human.h"
#include "format/loss_line.h"
#include "format/methods.h"
#include "format/tree.h"

#define TEXT_TRACES 100
#define TEXT_FLAT 200

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_reason(struct buffer *out, const char *name, uint64_t count, uint64_t whole)
{
	if (count)
		buffer_printf(out, "%-20s: %llu (%.2f%%)\n", name, (unsigned long long)count,
			      percent(count, whole));
}

void text_header(struct buffer *out, const struct profile *p)
{
	unsigned i;

	buffer_puts(out, "--- Execution profile ---\n");
	buffer_printf(out, "Total samples       : %llu\n", (unsigned long long)p->stored);
	for (i = 0; i < LOSS_REASONS; i++)
		put_reason(out, loss_names[i].name, p->lost[i], p->taken);
	for (i = 0; i < WALK_ENDS; i++)
		put_reason(out, walk_end_names[i].name, p->ended_early[i], p->taken);
	loss_details(out, p);
	buffer_putc(out, '\n');
}

static int compare_self(const void *left, const void *right, void *arg)
{
	const struct tree *t = arg;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t x = tree_self(t, a), y = tree_self(t, b);

	if (x != y)
		return x < y ? 1 : -1;
	return a < b ? -1 : a > b;
}

/* One block: the stack that ends in node LEAF. */
static void put_trace(struct buffer *out, const struct tree *t, uint32_t leaf)
{
	const struct tree_node *n = &t->nodes[leaf];
	unsigned number = 0;

	buffer_printf(out, "--- %llu ns (%.2f%%), %llu sample%s\n",
		      (unsigned long long)n->self_weight,
		      percent(n->self_weight, t->nodes[0].total_weight),
		      (unsigned long long)n->self, n->self == 1 ? "" : "s");
	for (; n->parent != TREE_NONE; n = &t->nodes[n->parent])
		buffer_printf(out, "  [%2u] %s\n", number++, name_text(&t->names, n->name));
	buffer_putc(out, '\n');
}

int text_traces(struct buffer *out, const struct profile *p, const struct format_options *options,
		unsigned limit)
{
	unsigned style = STYLE_TEXT | (options->lines ? STYLE_LINES : 0);
	uint32_t *leaves = NULL, count = 0, shown, i;
	uint64_t rest = 0;
	struct tree t;
	int result = -ENOMEM;

	if (tree_build(&t, p, style, format_by_thread(p, options), options->total))
		goto out;
	leaves = malloc((size_t)t.count * sizeof(*leaves));
	if (!leaves)
		goto out;
	for (i = 1; i < t.count; i++)
		if (t.nodes[i].self)
			leaves[count++] = i;
	qsort_r(leaves, count, sizeof(*leaves), compare_self, &t);
	shown = MIN(count, limit);
	for (i = 0; i < shown; i++)
		put_trace(out, &t, leaves[i]);
	for (; i < count; i++)
		rest += t.nodes[leaves[i]].self;
	if (rest)
		buffer_printf(out, "(%s more stacks with %s samples, %s, are not shown)\n\n",
			      human_count(count - shown).text, human_count(rest).text,
			      human_percent(rest, p->stored).text);
	result = 0;
out:
	free(leaves);
	tree_free(&t);
	return result;
}

int text_flat(struct buffer *out, const struct profile *p, const struct format_options *options,
	      unsigned limit)
{
	unsigned style = STYLE_TEXT | (options->lines ? STYLE_LINES : 0);
	struct methods m;
	uint32_t i, count = 0;

	if (methods_build(&m, p, style, options->total)) {
		methods_free(&m);
		return -ENOMEM;
	}
	buffer_puts(out, "          ns  percent  samples  top\n"
			 "  ----------  -------  -------  ---\n");
	for (i = 0; i < m.count && count < limit; i++) {
		const struct method *row = &m.rows[i];

		if (!row->self)
			continue;
		count++;
		buffer_printf(out, "%12llu  %6.2f%%  %7llu  %s\n",
			      (unsigned long long)row->self_weight,
			      percent(row->self_weight, p->weight_stored),
			      (unsigned long long)row->self, name_text(&m.names, row->name));
	}
	methods_free(&m);
	return 0;
}

/* Header, then TRACES stacks and FLAT methods; 0 leaves a part out. */
static void write_text(const struct profile *p, const struct format_options *options,
		       struct buffer *out, unsigned traces, unsigned flat)
{
	int result = 0;

	text_header(out, p);
	if (p->stored && traces)
		result = text_traces(out, p, options, traces);
	if (p->stored && flat && !result)
		result = text_flat(out, p, options, flat);
	if (result && !out->failed)
		out->failed = -result;
}

void format_text(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	write_text(p, options, out, options->traces ? options->traces : TEXT_TRACES,
		   options->flat ? options->flat : TEXT_FLAT);
}

void format_traces(const struct profile *p, const struct format_options *options,
		   struct buffer *out)
{
	write_text(p, options, out, options->traces ? options->traces : TEXT_ALL, options->flat);
}

void format_flat(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	write_text(p, options, out, options->traces, options->flat ? options->flat : TEXT_ALL);
}
