/*
 * collapsed.c - one line a stack: "root;caller;leaf count", in alphabetical order.
 *
 * Other tools read this, so it holds nothing but stacks: no comment, no header;
 * the command prints the losses on stderr. Equal lines are summed up. Samples of calls stand for different numbers of
 * them as the calls come faster or slower (agent/sources/calls): of these the number of calls is told.
 */
#include <errno.h>

#include "profile/model/sorted.h"
#include "profile/writers/writers.h"

static void put_line(struct buffer *out, const struct sorted *s, const struct sorted_range *r,
		     const struct format_options *options)
{
	bool weight = options->total ||
		      (profile_is_of_calls(s->profile) && s->profile->weight_kind == WEIGHT_COUNT);
	uint32_t level;

	if (options->event)
		buffer_printf(out, "[%s];", s->profile->event);
	for (level = 0; level < r->depth; level++) {
		if (level)
			buffer_putc(out, ';');
		buffer_puts(out, sorted_text(s, r->from, level));
	}
	buffer_printf(out, " %llu\n", (unsigned long long)(weight ? r->self_weight : r->self_samples));
}

static void put_lines(const struct profile *p, const struct format_options *options, unsigned style,
		      struct buffer *out)
{
	struct sorted s;
	uint32_t i;

	if (sorted_build(&s, p, style, format_by_thread(p, options)) && !out->failed)
		out->failed = ENOMEM;
	for (i = 0; i < s.count; i++) {
		struct sorted_range r;

		if (!sorted_is_new(&s, i))
			continue; /* the line of the item before holds this one */
		r = sorted_range(&s, i, sorted_depth(&s, i));
		/* where no call of it weighs anything, all were idle: no work of the program's */
		if (r.self_weight || (r.self_samples && p->weight_kind != WEIGHT_IO))
			put_line(out, &s, &r, options);
	}
	sorted_free(&s);
}

void format_collapsed(const struct profile *p, const struct format_options *options,
		      struct buffer *out)
{
	unsigned style = format_style(STYLE_COLLAPSED, options);
	struct narrowed n;

	if (options->minwidth <= 0) {
		put_lines(p, options, style, out);
		return;
	}
	if (prune_apply(&n, p, options, style) && !out->failed)
		out->failed = ENOMEM;
	else
		put_lines(&n.profile, options, style, out);
	prune_free(&n);
}
