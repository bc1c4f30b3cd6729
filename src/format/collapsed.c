/*
 * collapsed.c - one line a stack: "root;caller;leaf count".
 *
 * Other tools read this, so it holds nothing but stacks: no comment, no header;
 * the command prints the losses on stderr. Equal lines are summed up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/tree.h"
#include "format/writers.h"

/* Write every node that has samples of its own. ENDS: where the name of each depth ends in PATH. */
static void write_lines(const struct tree *t, struct buffer *path, size_t *ends,
			struct buffer *out)
{
	uint32_t i = 0, depth = 0;

	ends[0] = 0;
	while ((i = tree_next(t, i, &depth)) != TREE_NONE) {
		path->length = ends[depth - 1];
		if (depth > 1)
			buffer_putc(path, ';');
		buffer_puts(path, name_text(&t->names, t->nodes[i].name));
		ends[depth] = path->length;
		if (!t->nodes[i].self || path->failed)
			continue;
		buffer_append(out, path->data, path->length);
		buffer_printf(out, " %llu\n", (unsigned long long)tree_self(t, i));
	}
}

void format_collapsed(const struct profile *p, const struct format_options *options,
		      struct buffer *out)
{
	unsigned style = STYLE_COLLAPSED | (options->lines ? STYLE_LINES : 0);
	struct buffer path = BUFFER_INIT;
	size_t *ends = NULL;
	struct tree t;

	if (tree_build(&t, p, style, format_by_thread(p, options), options->total))
		goto out;
	ends = calloc((size_t)t.depth + 1, sizeof(*ends));
	if (!ends)
		goto out;
	write_lines(&t, &path, ends, out);
out:
	if (!ends || path.failed)
		out->failed = out->failed ? out->failed : ENOMEM;
	free(ends);
	buffer_free(&path);
	tree_free(&t);
}
