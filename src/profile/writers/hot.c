/*
 * hot.c - the short report that `jstrobe record` prints when no file is asked for:
 * what is hot, and whether it can be trusted, on one screen.
 */
#include <errno.h>
#include <string.h>

#include "common/base/clean.h"
#include "common/base/decimal.h"
#include "profile/model/askers.h"
#include "profile/model/frame_name.h"
#include "profile/model/human.h"
#include "profile/model/leaks.h"
#include "profile/model/libraries.h"
#include "profile/model/loss_line.h"
#include "profile/model/methods.h"
#include "profile/model/profile_unit.h"
#include "profile/writers/text.h"
#include "profile/writers/writers.h"

#define HOT_METHODS 20
#define HOT_CLASSES 10 /* where their objects were made is below */
#define HOT_THREADS 20
#define BAR_CELLS 10

const char *const format_colours[] = {"\033[1m", "\033[2m", "\033[1;31m", "\033[33m", "\033[0m", NULL};

/* Those, all empty without colour. */
struct paint {
	const char *bold, *dim, *hot, *warm, *off;
};

static struct paint paint(bool color)
{
	const char *const *c = format_colours;

	if (!color)
		return (struct paint){"", "", "", "", ""};
	return (struct paint){c[0], c[1], c[2], c[3], c[4]};
}

/* A bar of eighths of a cell, PART of WHOLE long; of a damaged file a part may be more than its whole. */
static void put_bar(struct buffer *out, uint64_t part, uint64_t whole)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	double share = whole ? MIN((double)part / (double)whole, 1.0) : 0;
	unsigned length = (unsigned)(share * BAR_CELLS * 8 + 0.5);
	unsigned cells = length / 8 + (length % 8 ? 1 : 0), i;

	for (i = 0; i < length / 8; i++)
		buffer_puts(out, "█");
	buffer_puts(out, eighths[length % 8]);
	for (i = cells; i < BAR_CELLS; i++)
		buffer_putc(out, ' ');
}

static void put_value(struct buffer *out, uint64_t value, enum weight_kind kind)
{
	buffer_putc(out, ' '); /* minutes and hours are wider than the rest */
	human_right(out, human_amount(value, kind).text, 9);
}

/* Samples of wall time weigh differently: those of parked virtual threads are a whole wait each. */
static bool counts_weight(const struct profile *p, const struct format_options *options)
{
	return is_by_weight(p, options) || p->weight_kind == WEIGHT_WALL;
}

#define COLUMNS 50 /* in front of a method; objects take OBJECTS more */
#define OBJECTS 12

static void put_name(struct buffer *out, const char *name, const char *called, const struct profile *p,
		     const struct format_options *options)
{
	unsigned before = COLUMNS + (p->objects ? OBJECTS : 0);

	if (options->views)
		options->views->name(out, name, called, options->width > before ? options->width - before : 0);
	else
		buffer_puts(out, name);
}

static void put_row(struct buffer *out, const struct methods *m, const struct method *row, const struct profile *p,
		    bool by_weight, const struct format_options *options, const struct paint *c)
{
	uint64_t all = by_weight ? p->weight_stored : p->stored;
	uint64_t self = by_weight ? row->self_weight : row->self;
	uint64_t total = by_weight ? row->total_weight : row->total;
	const char *heat = self * 10 >= all ? c->hot : self * 33 >= all ? c->warm : "";
	double scale = all ? 100.0 / (double)all : 0;

	buffer_colour(out, heat);
	buffer_printf(out, "%6s%%", decimal((double)self * scale, 2).text);
	put_value(out, self, by_weight ? p->weight_kind : WEIGHT_COUNT);
	buffer_colour(out, *heat ? c->off : "");
	buffer_printf(out, "  %6s%%", decimal((double)total * scale, 2).text);
	put_value(out, total, by_weight ? p->weight_kind : WEIGHT_COUNT);
	if (p->objects)
		human_right(out, human_count(row->self_objects).text, OBJECTS);
	buffer_puts(out, "  ");
	buffer_colour(out, c->dim);
	put_bar(out, self, all);
	buffer_colour(out, c->off);
	buffer_puts(out, "  ");
	put_name(out, name_text(&m->names, row->name), row->called, p, options);
	buffer_putc(out, '\n');
}

/* The table; the rows that are not shown are summed up below. */
static void put_table(struct buffer *out, const struct methods *m, const struct profile *p,
		      const struct format_options *options, const struct paint *c)
{
	uint32_t rows = p->objects ? HOT_CLASSES : HOT_METHODS, limit = options->flat ? options->flat : rows;
	uint32_t i, shown = 0, with_self = 0;
	bool by_weight = counts_weight(p, options);
	uint64_t all = by_weight ? p->weight_stored : p->stored, rest = 0;
	const char *unit = !by_weight ? samples_word(p) : profile_is_time(p) ? "time" : profile_unit(p);

	buffer_colour(out, c->bold);
	buffer_printf(out, "  self%%  %8s   total%%  %8s%s              %s", unit, unit,
		      p->objects ? "     objects" : "", p->objects ? "class" : "method");
	buffer_colour(out, c->off);
	buffer_putc(out, '\n');
	for (i = 0; i < m->count; i++) {
		if (!m->rows[i].self)
			continue;
		with_self++;
		if (shown < limit) {
			put_row(out, m, &m->rows[i], p, by_weight, options, c);
			shown++;
		} else {
			rest += by_weight ? m->rows[i].self_weight : m->rows[i].self;
		}
	}
	if (rest) {
		buffer_colour(out, c->dim);
		buffer_printf(out, "%6s%%  in %s more %s",
			      decimal(100.0 * (double)rest / (double)all, 2).text, human_count(with_self - shown).text,
			      p->objects ? "classes" : "methods");
		buffer_colour(out, c->off);
		buffer_putc(out, '\n');
	}
	buffer_putc(out, '\n');
}

/* What keeps more and more objects. False: no memory. */
static bool put_leaks(struct buffer *out, const struct profile *p, const struct paint *c)
{
	struct leaks l;
	bool ok = leaks_find(&l, p) == 0;
	size_t before;
	uint32_t i;

	if (ok && l.count) {
		leaks_put_title(out, p);
		buffer_putc(out, '\n');
	}
	for (i = 0; ok && i < MIN(l.count, LEAKS_SHOWN); i++) {
		buffer_puts(out, "  ");
		leaks_put_row(out, &l, &l.rows[i], c->warm, c->off);
		if (leaks_chain(&l, &l.rows[i], p)) {
			buffer_puts(out, "\n    ");
			leaks_put_chain(out, &l, &l.rows[i], p);
		}
		buffer_putc(out, '\n');
	}
	if (ok && l.count > LEAKS_SHOWN)
		buffer_printf(out, "  and %u more\n", l.count - LEAKS_SHOWN);
	if (ok && p->chains_told) {
		clean_name(out, p->chains_told);
		buffer_putc(out, '\n');
	}
	before = out->length;
	if (ok)
		leaks_put_full(out, &l, p);
	if (ok && (l.count || p->chains_told))
		buffer_puts(out, out->length > before ? "\n\n" : "\n");
	leaks_free(&l);
	return ok;
}

#define LIBRARIES 8

/* Who asks for native memory. False: no memory. */
static bool put_libraries(struct buffer *out, const struct profile *p)
{
	struct libraries l;
	bool ok = libraries_find(&l, p) == 0;
	uint64_t rest = 0;
	uint32_t i;

	if (ok && l.count)
		buffer_puts(out, "By the library that asked:\n");
	for (i = 0; ok && i < l.count; i++) {
		if (i >= LIBRARIES) {
			rest += l.rows[i].weight;
			continue;
		}
		buffer_printf(out, "%8s %6s%%  ", human_bytes(l.rows[i].weight).text,
			      decimal(percent_of(l.rows[i].weight, p->weight_stored), 2).text);
		clean_name(out, l.rows[i].name);
		buffer_putc(out, '\n');
	}
	if (ok && l.count > LIBRARIES)
		buffer_printf(out, "%8s %6s%%  %u more\n", human_bytes(rest).text,
			      decimal(percent_of(rest, p->weight_stored), 2).text, l.count - LIBRARIES);
	if (ok && l.count)
		buffer_putc(out, '\n');
	libraries_free(&l);
	return ok;
}

#define ASKERS 10

/* For whom it was, or in what the objects were made. False: no memory. */
static bool put_askers(struct buffer *out, const struct profile *p, const struct format_options *options)
{
	uint32_t limit = options->flat ? options->flat : ASKERS, i;
	struct askers a;
	bool ok = askers_find(&a, p, format_style(STYLE_TEXT, options)) == 0;

	if (ok && a.count)
		buffer_printf(out, "   bytes      %%   samples  %s\n",
			      !p->objects ? "asked for by" : p->survivors ? "kept, and made in" : "made, and where");
	for (i = 0; ok && i < MIN(a.count, limit); i++) {
		const struct asker *row = &a.rows[i];

		human_right(out, human_bytes(row->weight).text, 8);
		buffer_printf(out, " %6s%% %9s  %s", decimal(percent_of(row->weight, p->weight_stored), 2).text,
			      human_count(row->samples).text, name_text(&a.names, row->place));
		if (row->caller != row->place)
			buffer_printf(out, p->objects ? " in %s" : " for %s", name_text(&a.names, row->caller));
		buffer_putc(out, '\n');
	}
	if (ok && a.count > limit)
		buffer_printf(out, "         and %s more places\n", human_count(a.count - limit).text);
	if (ok && a.count)
		buffer_putc(out, '\n');
	askers_free(&a);
	return ok;
}

static void put_title(struct buffer *out, const struct profile *p, bool details, const struct paint *c)
{
	buffer_colour(out, c->bold);
	buffer_printf(out, "%s profile of ", strcmp(p->event, "cpu") ? p->event : "CPU");
	clean_name(out, *p->main_class ? p->main_class : "a JVM");
	if (p->pid) { /* files of others have none */
		buffer_printf(out, " (pid %d%s", p->pid, *p->jdk ? ", JDK " : "");
		clean_name(out, p->jdk);
		buffer_putc(out, ')');
	}
	buffer_puts(out, ", ");
	buffer_puts(out, human_time(p->duration).text);
	if (details)
		buffer_printf(out, ", engine %s", p->engine);
	if (details && p->interval)
		buffer_printf(out, ", interval %s", human_amount(p->interval, p->weight_kind).text);
	buffer_colour(out, c->off);
	buffer_puts(out, "\n\n");
}

static const char separator[] = " · ";

/* The loss line: with DETAILS a line for each of its parts. */
static void put_parts(struct buffer *out, const char *line, bool details)
{
	const char *end;

	while ((end = strstr(line, separator))) {
		buffer_append(out, line, (size_t)(end - line));
		buffer_puts(out, details ? "\n" : separator);
		line = end + sizeof(separator) - 1;
	}
	buffer_puts(out, line);
}

/* What happened to the samples, in one line; with DETAILS, what taking them cost as well. */
static void put_trust(struct buffer *out, const struct profile *p, const struct format_options *options,
		      const struct paint *c)
{
	bool details = options->details;
	struct buffer text = BUFFER_INIT;
	bool bad = loss_is_bad(p);

	if (details)
		format_loss_line(p, &text);
	else
		loss_line_brief(p, &text);
	loss_line_hint(p, options, &text);
	buffer_putc(&text, '\0');
	if (!text.failed) {
		buffer_colour(out, bad ? c->hot : c->dim);
		put_parts(out, text.data, details || bad);
		buffer_colour(out, c->off);
		buffer_putc(out, '\n');
		buffer_colour(out, c->dim);
		if (details)
			loss_details_cost(out, p);
		else
			loss_details_part(out, p);
		buffer_colour(out, c->off);
	}
	if (text.failed && !out->failed)
		out->failed = text.failed;
	buffer_free(&text);
}

/* The tables: of methods, or of what P has in their place. W: P's work, NULL where it is not known. */
static void put_tables(struct buffer *out, const struct profile *p, const struct work *w, const struct methods *m,
		       const struct format_options *options, const struct paint *c)
{
	bool left_out = w && !options->idle;

	if (profile_has_waits(p))
		waits_tables(out, p, left_out ? w : NULL, options);
	else if (p->io_count)
		io_tables(out, p, options);
	else if (!left_out || w->profile.stored)
		put_table(out, m, left_out ? &w->profile : p, options, c);
	if (left_out)
		options->views->below(out, p, w);
}

/* All that stands between title and trust. False: no memory. */
static bool put_body(struct buffer *out, const struct profile *p, const struct format_options *options,
		     const struct paint *c)
{
	bool by_weight = counts_weight(p, options), known = options->views && activity_is_known(p) && p->stored;
	struct work *w = known ? options->views->begin(p, options) : NULL;
	const struct profile *shown = w && !options->idle ? &w->profile : p;
	struct methods m;
	bool ok = methods_build(&m, shown, format_style(STYLE_TEXT, options), by_weight) == 0 && (w || !known);

	if (ok && options->views)
		ok = options->views->methods(&m, shown) == 0;
	if (ok && w)
		ok = options->views->above(out, p, w, options) == 0;
	if (ok && p->stored)
		put_tables(out, p, w, &m, options, c);
	if (ok && p->stored && (p->objects || libraries_matter(p)))
		ok = put_askers(out, p, options);
	if (ok && p->stored && libraries_matter(p))
		ok = put_libraries(out, p);
	if (ok && format_by_thread(p, options))
		ok = thread_table(out, shown, &m.names, by_weight, options->flat ? options->flat : HOT_THREADS) == 0;
	methods_free(&m);
	if (known)
		options->views->end(w);
	return ok && (!leaks_known(p) || put_leaks(out, p, c));
}

void format_hot(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	struct paint c = paint(options->color);

	put_title(out, p, options->details, &c);
	if (!put_body(out, p, options, &c))
		out->failed = out->failed ? out->failed : ENOMEM;
	put_trust(out, p, options, &c);
}
