/*
 * trace_view.c - the call tree of `jstrobe trace --live` as a screen of text.
 */
#include "cli/live/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live/screen.h"
#include "common/base/decimal.h"

#define HEAD_LINES 3

/* The nodes in the order of the screen, and which of them are on it. */
struct order {
	const struct trace_model *m;
	bool whole;
	uint32_t *nodes, *first; /* sorted by parent; where the children of a node begin there */
	bool *shown;
};

static const struct trace_sums *sums(const struct order *o, uint32_t node)
{
	const struct trace_node *n = &o->m->nodes.items[node];

	return o->whole ? &n->sums : &n->grown;
}

static int heaviest(const struct trace_sums *a, const struct trace_sums *b)
{
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return a->calls < b->calls ? 1 : a->calls > b->calls ? -1 : 0;
}

static int by_parent(const void *a, const void *b, void *order)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct order *o = order;
	const struct trace_node *nodes = o->m->nodes.items;

	if (nodes[x].parent != nodes[y].parent)
		return nodes[x].parent < nodes[y].parent ? -1 : 1;
	return heaviest(sums(o, x), sums(o, y));
}

static int by_weight(const void *a, const void *b, void *order)
{
	return heaviest(sums(order, *(const uint32_t *)a), sums(order, *(const uint32_t *)b));
}

/* The LINES heaviest nodes that are wanted, with all above them. */
static void choose(struct order *o, const struct trace_view *v, uint32_t lines)
{
	const struct trace_node *nodes = o->m->nodes.items;
	size_t i, count = o->m->nodes.count;

	for (i = 0; i + 1 < count; i++)
		o->nodes[i] = (uint32_t)i + 1;
	qsort_r(o->nodes, count - 1, sizeof(*o->nodes), by_weight, o);
	for (i = 0; i + 1 < count && lines; i++) {
		uint32_t n = o->nodes[i], need = 0, up;

		if (!sums(o, n)->calls && !sums(o, n)->total)
			return;
		if (v->filter[0] && !strstr(strings_get(&o->m->strings, nodes[n].name), v->filter))
			continue;
		for (up = n; up && !o->shown[up]; up = nodes[up].parent)
			need++;
		if (need > lines)
			continue;
		lines -= need;
		for (up = n; up && !o->shown[up]; up = nodes[up].parent)
			o->shown[up] = true;
	}
}

static void index_children(struct order *o)
{
	size_t i, count = o->m->nodes.count;

	qsort_r(o->nodes, count - 1, sizeof(*o->nodes), by_parent, o);
	for (i = count - 1; i-- > 0;)
		o->first[o->m->nodes.items[o->nodes[i]].parent] = (uint32_t)i + 1;
}

static bool make_order(struct order *o, const struct trace_view *v, uint32_t lines)
{
	size_t count = o->m->nodes.count;

	o->nodes = calloc(count, sizeof(*o->nodes));
	o->first = calloc(count, sizeof(*o->first)); /* + 1; 0 = none */
	o->shown = calloc(count, sizeof(*o->shown));
	if (!o->nodes || !o->first || !o->shown)
		return false;
	choose(o, v, lines);
	index_children(o);
	return true;
}

static void put_node(const struct order *o, uint32_t node, uint64_t span, unsigned columns, struct buffer *out)
{
	const struct trace_node *n = &o->m->nodes.items[node];
	const struct trace_sums *s = sums(o, node);
	double seconds = (double)span / 1e9;
	char line[1024];

	snprintf(line, sizeof(line), "%11s %7s%% %6s%%  %*s%.900s",
		 decimal(seconds > 0 ? (double)s->calls / seconds : 0, 0).text,
		 decimal(percent_of(s->total, span), 1).text,
		 decimal(percent_of(s->self, span), 1).text,
		 (int)MIN(n->depth - 1, 60u), "", strings_get(&o->m->strings, n->name));
	screen_line(out, line, columns);
}

/* All that is shown below PARENT. Depth is that of the tree, which has a limit of its own. */
static void put_below(const struct order *o, uint32_t parent, uint64_t span, unsigned columns, struct buffer *out)
{
	uint32_t i = o->first[parent];

	for (; i && i < o->m->nodes.count && o->m->nodes.items[o->nodes[i - 1]].parent == parent; i++) {
		uint32_t node = o->nodes[i - 1];

		if (!o->shown[node])
			continue;
		put_node(o, node, span, columns, out);
		put_below(o, node, span, columns, out);
	}
}

static void put_head(const struct trace_model *m, const struct trace_view *v, uint64_t span, struct buffer *out)
{
	uint64_t calls = v->whole ? m->calls : m->called;
	char line[512];

	snprintf(line, sizeof(line), "%u %.40s  %s s, %llu calls, %s timing, %s %s s%s", m->pid,
		 strings_get(&m->strings, m->main_class), decimal((double)m->duration / 1e9, 1).text,
		 (unsigned long long)calls,
		 strings_get(&m->strings, m->timing), v->whole ? "all" : "last",
		 decimal((double)span / 1e9, 1).text, v->paused ? "  PAUSED" : "");
	screen_line(out, line, v->columns);
	screen_line(out, "", v->columns);
	snprintf(line, sizeof(line), "    CALLS/s    TOTAL    SELF  CALL TREE%s%s", v->filter[0] ? "  with " : "",
		 v->filter);
	screen_line(out, line, v->columns);
}

static size_t lines_of(const struct buffer *b)
{
	size_t i, lines = 0;

	for (i = 0; i < b->length; i++)
		lines += b->data[i] == '\n';
	return lines;
}

int trace_view_show(const struct trace_model *m, const struct trace_view *v, struct buffer *out)
{
	unsigned taken = HEAD_LINES + (v->keys ? 1 : 0);
	struct order o = {.m = m, .whole = v->whole};
	uint64_t span = v->whole ? m->duration : m->span;
	bool made = m->nodes.count && make_order(&o, v, v->rows > taken ? v->rows - taken : 0);
	size_t lines;

	if (made) {
		put_head(m, v, span, out);
		put_below(&o, 0, span, v->columns, out);
		for (lines = lines_of(out); v->keys && lines + 1 < v->rows; lines++)
			buffer_putc(out, '\n');
		if (v->keys)
			screen_line(out, v->keys, v->columns);
	}
	free(o.nodes);
	free(o.first);
	free(o.shown);
	return made ? 0 : -ENOMEM;
}
