/*
 * calltree.c - the tree from the root as text, heaviest branch first.
 *
 * Java stacks are deep and mostly straight, so a line moves to the right only
 * where the tree branches: an only child stands under its parent at the same
 * indent. The number in brackets is the true depth. Branches below `minwidth`
 * percent of all are not drawn; one line tells how many and how heavy they were.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/base/decimal.h"
#include "common/base/vector.h"
#include "profile/model/human.h"
#include "profile/model/profile_unit.h"
#include "profile/model/sorted.h"
#include "profile/writers/text.h"

#define MINWIDTH 0.05 /* percent */
#define INDENT_MAX 40

struct branch {
	struct sorted_range range;
	uint64_t total, self; /* in the unit asked for */
	uint32_t indent;
};

struct drawing {
	const struct sorted *s;
	struct buffer *out;
	bool by_weight;
	enum weight_kind kind;
	VECTOR(struct branch) open; /* branches still to draw, the next one last */
	uint64_t all;      /* of the profile; a filter may leave less for the root */
	double minwidth;   /* percent */
	uint32_t pruned;
	uint64_t pruned_total;
};

static void put_line(struct drawing *d, const struct branch *b)
{
	double scale = d->all ? 100.0 / (double)d->all : 0;
	uint32_t depth = b->range.depth;

	buffer_printf(d->out, "%6s%%  %6s%%  ", decimal((double)b->total * scale, 2).text,
		      decimal((double)b->self * scale, 2).text);
	human_right(d->out,
		    d->by_weight ? human_amount(b->total, d->kind).text : human_count(b->total).text, 10);
	buffer_printf(d->out, "  [%3u] %*s%s\n", depth, (int)MIN(b->indent, INDENT_MAX) * 2, "",
		      depth ? sorted_text(d->s, b->range.from, depth - 1) : "all");
}

static int lightest_first(const void *left, const void *right)
{
	const struct branch *a = left, *b = right;

	if (a->total != b->total)
		return a->total < b->total ? -1 : 1;
	return a->range.from < b->range.from ? 1 : -1;
}

/* Put the children of B on d->open; false when out of memory. */
static bool open_children(struct drawing *d, const struct branch *b)
{
	size_t first = d->open.count;
	uint32_t i = b->range.from, indent;
	struct branch *child;
	uint64_t total;

	while (i < b->range.to && sorted_depth(d->s, i) == b->range.depth)
		i++; /* stacks that end here sort first */
	while (i < b->range.to) {
		struct sorted_range r = sorted_range(d->s, i, b->range.depth + 1);

		i = r.to;
		total = d->by_weight ? r.weight : r.samples;
		if ((double)total * 100 < (double)d->all * d->minwidth) {
			d->pruned++;
			d->pruned_total += total;
			continue;
		}
		child = VECTOR_PUSH(&d->open);
		if (!child)
			return false;
		child->range = r;
		child->total = total;
		child->self = d->by_weight ? r.self_weight : r.self_samples;
	}
	/* to the right where the tree branches or a part ends */
	indent = b->indent + (b->range.depth > 0 && (b->self || d->open.count > first + 1));
	for (; first < d->open.count; first++)
		d->open.items[first].indent = indent;
	return true;
}

/* Draw all from the root; 0 or -ENOMEM. */
static int draw(struct drawing *d)
{
	const struct profile *p = d->s->profile;
	struct branch root = {.range = {.to = d->s->count}};
	size_t before;

	d->all = d->by_weight ? p->weight_stored : p->stored;
	root.total = d->all - (d->by_weight ? p->left_out_weight : p->left_out);
	put_line(d, &root);
	if (!open_children(d, &root))
		return -ENOMEM;
	qsort(d->open.items, d->open.count, sizeof(root), lightest_first);
	while (d->open.count) {
		struct branch b = d->open.items[--d->open.count];

		before = d->open.count;
		put_line(d, &b);
		if (!open_children(d, &b))
			return -ENOMEM;
		qsort(d->open.items + before, d->open.count - before, sizeof(b), lightest_first);
	}
	if (d->pruned)
		buffer_printf(d->out,
			      "(%s branches below %s %% each, %s together, are not shown)\n",
			      human_count(d->pruned).text, decimal_short(d->minwidth).text,
			      human_percent(d->pruned_total, d->all).text);
	return 0;
}

void format_calltree(const struct profile *p, const struct format_options *options,
		     struct buffer *out)
{
	unsigned style = format_style(STYLE_TEXT, options);
	struct drawing d = {
		.out = out,
		.by_weight = is_by_weight(p, options),
		.kind = p->weight_kind,
		.minwidth = options->minwidth > 0 ? options->minwidth : MINWIDTH,
	};
	struct sorted s;

	text_header(out, p, options);
	if (!p->stored)
		return;
	d.s = &s;
	buffer_printf(out, "  total     self  %10s  depth  frame\n",
		      !d.by_weight ? samples_word(p) : profile_is_time(p) ? "time" : profile_unit(p));
	if ((sorted_build(&s, p, style, format_by_thread(p, options)) || draw(&d)) && !out->failed)
		out->failed = ENOMEM;
	free(d.open.items);
	sorted_free(&s);
}
