/*
 * svg.c - a flame graph as a picture: one for each event, below each other, roots at the bottom. No script, nothing
 * from elsewhere: any browser, wiki or ticket shows it. Pointing at a frame shows its whole name and its share.
 *
 * Frames stand in the order of their names, so two pictures can be compared. What is narrower than half a pixel is
 * left out.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/base/utf8.h"
#include "profile/exports/export.h"
#include "profile/model/human.h"
#include "profile/model/profile_unit.h"
#include "profile/model/sorted.h"

#define WIDTH 12000 /* tenths of a pixel, as all that is measured across */
#define LEAST 5
#define MARGIN 100
#define LETTER 72   /* of the font */
#define ROW 17      /* pixels */
#define HEAD 34

static const char *const colours[FRAME_TYPES] = {
	[TYPE_JAVA] = "#8fc98a",   [TYPE_NATIVE] = "#e8a07c", [TYPE_JVM] = "#e6cf73",
	[TYPE_KERNEL] = "#c99ad0", [TYPE_OTHER] = "#c4c8ce",
};

/* One event. */
struct graph {
	struct sorted sorted;
	uint64_t total;
	uint32_t levels;   /* that have a frame wide enough */
};

struct picture {
	struct buffer *out, clean;
	unsigned top; /* of the graph in work */
};

/* TEXT, of which LETTERS are shown at most, as XML may hold it. */
static void put_text(struct picture *w, const char *text, unsigned letters)
{
	const unsigned char *p;
	size_t n;

	w->clean.length = 0;
	utf8_put(&w->clean, text);
	for (p = (const unsigned char *)buffer_text(&w->clean, w->out); *p && letters; p += n, letters--) {
		n = MAX(utf8_length(p), (size_t)1);
		if (*p == '<' || *p == '>' || *p == '&' || *p == '"')
			buffer_printf(w->out, "&#%u;", *p);
		else if (*p < ' ' || (n == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe))
			buffer_puts(w->out, "\xef\xbf\xbd"); /* no character of XML */
		else
			buffer_append(w->out, p, n);
	}
}

static void put_tenths(struct picture *w, const char *name, unsigned tenths)
{
	buffer_printf(w->out, " %s=\"%u.%u\"", name, tenths / 10, tenths % 10);
}

/* How far WEIGHT reaches. */
static unsigned across(const struct graph *g, uint64_t weight)
{
	return (unsigned)((double)weight * WIDTH / (double)g->total);
}

static void put_amount(struct picture *w, const struct graph *g, uint64_t weight)
{
	const struct profile *p = g->sorted.profile;
	bool has_unit = profile_is_time(p) || p->weight_kind == WEIGHT_BYTES;

	buffer_puts(w->out, human_amount(weight, p->weight_kind).text);
	if (!has_unit) {
		buffer_putc(w->out, ' ');
		put_text(w, profile_unit_shown(p), UINT32_MAX);
	}
	buffer_puts(w->out, ", ");
	put_text(w, human_percent(weight, g->total).text, UINT32_MAX);
}

/* The frame that range R has at its depth, FROM the left. */
static void put_frame(struct picture *w, const struct graph *g, const struct sorted_range *r, unsigned from,
		      unsigned width)
{
	uint32_t level = r->depth - 1, name = sorted_name(&g->sorted, r->from, level);
	const char *text = sorted_text(&g->sorted, r->from, level);
	unsigned y = w->top + HEAD + (g->levels - r->depth) * ROW, letters = width / LETTER;

	buffer_puts(w->out, "<g><title>");
	put_text(w, text, UINT32_MAX);
	buffer_puts(w->out, " (");
	put_amount(w, g, r->weight);
	buffer_puts(w->out, ")</title><rect");
	put_tenths(w, "x", MARGIN + from);
	put_tenths(w, "width", MAX(width, LEAST));
	buffer_printf(w->out, " y=\"%u\" height=\"%u\" fill=\"%s\"/>", y, ROW - 1,
		      colours[g->sorted.names.names[name].type]);
	if (letters >= 3) {
		buffer_puts(w->out, "<text");
		put_tenths(w, "x", MARGIN + from + 30);
		buffer_printf(w->out, " y=\"%u\">", y + 12);
		put_text(w, text, letters - 1);
		buffer_puts(w->out, "</text>");
	}
	buffer_puts(w->out, "</g>\n");
}

/* The frames of LEVEL, of 1 on; W NULL: none is put. Whether there is one. */
static bool level_of(struct picture *w, const struct graph *g, uint32_t level)
{
	uint64_t before = 0;
	bool any = false;
	uint32_t i, next;

	for (i = 0; i < g->sorted.count; i = next) {
		struct sorted_range r = {.to = i + 1};

		if (sorted_depth(&g->sorted, i) < level)
			r.weight = g->sorted.profile->stacks[g->sorted.items[i].stack].weight;
		else
			r = sorted_range(&g->sorted, i, level);
		next = r.to;
		if (r.depth && r.weight && (double)r.weight * WIDTH / (double)g->total >= LEAST) {
			unsigned from = across(g, before);

			any = true;
			if (w)
				put_frame(w, g, &r, from, across(g, before + r.weight) - from);
		}
		before += r.weight;
	}
	return any;
}

static bool build(struct graph *g, const struct profile *p, const struct format_options *options)
{
	uint32_t i;

	if (sorted_build(&g->sorted, p, format_style(STYLE_TEXT, options), false))
		return false;
	for (i = 0; i < p->stack_count; i++)
		g->total += p->stacks[i].weight;
	while (g->total && g->levels < g->sorted.depth && level_of(NULL, g, g->levels + 1))
		g->levels++;
	return true;
}

static unsigned height_of(const struct graph *g)
{
	return HEAD + g->levels * ROW + ROW;
}

static void put_graph(struct picture *w, const struct graph *g)
{
	const struct profile *p = g->sorted.profile;
	uint32_t level;

	buffer_printf(w->out, "<text x=\"10\" y=\"%u\" class=\"h\">", w->top + HEAD - 10);
	put_text(w, p->title ? p->title : p->main_class, 80);
	buffer_puts(w->out, p->title || *p->main_class ? ", " : "");
	put_text(w, p->event, UINT32_MAX);
	buffer_printf(w->out, ": %s", g->total ? "" : "no samples");
	if (g->total)
		put_amount(w, g, g->total);
	buffer_puts(w->out, "</text>\n");
	for (level = 1; level <= g->levels && !w->out->failed; level++)
		level_of(w, g, level);
	w->top += height_of(g);
}

static void put_all(struct picture *w, const struct graph *graphs, uint32_t count)
{
	unsigned height = 0, width = (WIDTH + 2 * MARGIN) / 10;
	uint32_t i;

	for (i = 0; i < count; i++)
		height += height_of(&graphs[i]);
	buffer_printf(w->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n"
		      "<style>text{font:12px monospace;fill:#1a1a1a}.h{font-weight:bold}g:hover rect{stroke:#000}"
		      "</style>\n"
		      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", width, height, width, height);
	for (i = 0; i < count; i++)
		put_graph(w, &graphs[i]);
	buffer_puts(w->out, "</svg>\n");
}

void export_svg(const struct profile *const *profiles, uint32_t count, const struct format_options *options,
		struct buffer *out)
{
	struct graph *graphs = calloc(count, sizeof(*graphs));
	struct picture w = {.out = out, .clean = BUFFER_INIT};
	bool ok = graphs;
	uint32_t i;

	for (i = 0; ok && i < count; i++)
		ok = build(&graphs[i], profiles[i], options);
	if (ok)
		put_all(&w, graphs, count);
	else if (!out->failed)
		out->failed = ENOMEM;
	for (i = 0; graphs && i < count; i++)
		sorted_free(&graphs[i].sorted);
	free(graphs);
	buffer_free(&w.clean);
}
