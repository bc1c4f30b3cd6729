/*
 * diff_collapsed.c - two profiles as stacks with two numbers, before and after: input of difffolded.pl and the like.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/writers/diff.h"
#include "profile/writers/writers.h"

/* A line of collapsed stacks, cut at its last blank. */
struct line {
	const char *stack, *number;
};

struct lines {
	struct buffer text;
	struct line *items;
	size_t count;
};

static int by_stack(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return strcmp(x->stack, y->stack);
}

/* The stacks of P in the order of their text. */
static bool read_lines(struct lines *l, const struct profile *p, const struct format_options *options)
{
	char *at, *end;
	size_t room = 1;

	buffer_init(&l->text, -1);
	format_collapsed(p, options, &l->text);
	buffer_putc(&l->text, '\0');
	if (l->text.failed)
		return false;
	for (at = l->text.data; (at = strchr(at, '\n')); at++)
		room++;
	l->items = calloc(room, sizeof(*l->items));
	if (!l->items)
		return false;
	for (at = l->text.data; (end = strchr(at, '\n')); at = end + 1) {
		char *blank;

		*end = '\0';
		blank = strrchr(at, ' ');
		*blank = '\0';
		l->items[l->count++] = (struct line){at, blank + 1};
	}
	qsort(l->items, l->count, sizeof(*l->items), by_stack);
	return true;
}

void diff_collapsed(const struct diff *d, const struct format_options *options, struct buffer *out)
{
	struct lines before = {.count = 0}, after = {.count = 0};
	struct format_options same = *options;
	size_t i = 0, k = 0;
	int order;

	same.total = d->by_weight && options->total;
	same.ann = false; /* how a method was compiled is no difference */
	if (!read_lines(&before, d->before, &same) || !read_lines(&after, d->after, &same)) {
		out->failed = out->failed ? out->failed : ENOMEM;
		i = before.count;
		k = after.count;
	}
	while (i < before.count || k < after.count) {
		order = i == before.count ? 1 : k == after.count ? -1 : by_stack(&before.items[i], &after.items[k]);
		buffer_printf(out, "%s %s %s\n", order > 0 ? after.items[k].stack : before.items[i].stack,
			      order > 0 ? "0" : before.items[i].number, order < 0 ? "0" : after.items[k].number);
		i += order <= 0;
		k += order >= 0;
	}
	free(before.items);
	free(after.items);
	buffer_free(&before.text);
	buffer_free(&after.text);
}
