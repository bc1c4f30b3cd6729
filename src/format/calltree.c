/*
 * calltree.c - the tree from the root as text, heaviest branch first.
 *
 * Java stacks are deep and mostly straight, so a line moves to the right only
 * where the tree branches: an only child stands under its parent at the same
 * indent. The number in brackets is the true depth. Branches below PRUNE of all
 * are not drawn; one line tells how many and how heavy they were.
 */
#include <errno.h>
#include <stdlib.h>

#include "format/frame_name.h"
#include "format/human.h"
#include "format/text.h"
#include "format/tree.h"

#define PRUNE 2000 /* one in so many: 0.05 % */
#define INDENT_MAX 40

struct drawing {
	const struct tree *t;
	struct buffer *out;
	uint32_t *indents; /* of each depth */
	bool is_time;
};

static void put_line(struct drawing *d, uint32_t i, uint32_t depth)
{
	const struct tree *t = d->t;
	uint64_t all = tree_total(t, 0);
	double scale = all ? 100.0 / (double)all : 0;

	buffer_printf(d->out, "%6.2f%%  %6.2f%%  ", (double)tree_total(t, i) * scale,
		      (double)tree_self(t, i) * scale);
	human_right(d->out, d->is_time ? human_time(tree_total(t, i)).text
				       : human_count(tree_total(t, i)).text, 10);
	buffer_printf(d->out, "  [%3u] %*s%s\n", depth,
		      (int)MIN(d->indents[depth], INDENT_MAX) * 2, "",
		      i ? name_text(&t->names, t->nodes[i].name) : "all");
}

/* Heavy enough to be drawn. */
static bool drawn(const struct tree *t, uint32_t i)
{
	return tree_total(t, i) * PRUNE >= tree_total(t, 0);
}

/*
 * Indent of the children of I (at DEPTH): one more where more than one is drawn or I has samples
 * of its own.
 */
static uint32_t child_indent(const struct drawing *d, uint32_t i, uint32_t depth)
{
	const struct tree *t = d->t;
	uint32_t first = t->nodes[i].child, second;

	if (i == 0)
		return 0;
	second = first == TREE_NONE ? TREE_NONE : t->nodes[first].next;
	return d->indents[depth] +
	       (tree_self(t, i) > 0 || (second != TREE_NONE && drawn(t, second)));
}

static void draw(struct drawing *d)
{
	const struct tree *t = d->t;
	uint32_t i = 0, depth = 0, pruned = 0;
	uint64_t weight = 0;

	d->indents[0] = 0;
	while (i != TREE_NONE) {
		if (i && !drawn(t, i)) {
			pruned++;
			weight += tree_total(t, i);
			i = tree_skip(t, i, &depth);
			continue;
		}
		put_line(d, i, depth);
		if (t->nodes[i].child != TREE_NONE)
			d->indents[depth + 1] = child_indent(d, i, depth);
		i = tree_next(t, i, &depth);
	}
	if (pruned)
		buffer_printf(d->out,
			      "(%s branches below 0.05 %% each, %s together, are not shown)\n",
			      human_count(pruned).text,
			      human_percent(weight, tree_total(t, 0)).text);
}

void format_calltree(const struct profile *p, const struct format_options *options,
		     struct buffer *out)
{
	unsigned style = STYLE_TEXT | (options->lines ? STYLE_LINES : 0);
	struct drawing d = {.out = out, .is_time = options->total};
	struct tree t;

	text_header(out, p);
	if (!p->stored)
		return;
	if (!tree_build(&t, p, style, format_by_thread(p, options), options->total))
		d.indents = calloc((size_t)t.depth + 2, sizeof(*d.indents));
	if (d.indents) {
		d.t = &t;
		buffer_printf(out, "  total     self  %10s  depth  frame\n",
			      options->total ? "time" : "samples");
		draw(&d);
	} else if (!out->failed) {
		out->failed = ENOMEM;
	}
	free(d.indents);
	tree_free(&t);
}
