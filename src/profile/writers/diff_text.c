/*
 * diff_text.c - two profiles as a table of what has changed beyond chance, and counts of the rest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/decimal.h"
#include "profile/model/compare/compare.h"
#include "profile/model/human.h"
#include "profile/writers/diff.h"
#include "profile/writers/writers.h"

#define NAMES_MOST 4 /* in a line of callers */

/* A line of the table. */
struct line {
	const struct compare_row *row;
	const struct compare_part *part;
	const char *what; /* "self" or "total" */
};

struct table {
	const struct diff *d;
	const struct comparison *c;
	struct line *lines;
	uint32_t count;
	uint32_t chance, only[SIDES]; /* rows that are not listed; of them those that are in one file alone */
};

/* ---- numbers ---- */

/* Rates are shown as parts of one CPU or thread, or of the whole. */
static bool in_percent(const struct table *t)
{
	return t->c->by == BY_SHARE ||
	       (t->c->by == BY_SECOND && t->c->by_weight && weight_is_time(t->d->weight_kind));
}

/* VALUE without its sign. */
static struct human magnitude(const struct table *t, double value)
{
	uint64_t whole = value < 1e18 ? (uint64_t)(value + 0.5) : UINT64_MAX;
	struct human h;

	if (in_percent(t))
		snprintf(h.text, sizeof(h.text), "%s %%", decimal(t->c->by == BY_SHARE ? 100 * value : value / 1e7,
								   2).text);
	else if (t->c->by_weight && (weight_is_time(t->d->weight_kind) || t->d->weight_kind == WEIGHT_BYTES))
		return human_amount(whole, t->d->weight_kind);
	else if (value >= 1000)
		return human_count(whole);
	else
		snprintf(h.text, sizeof(h.text), "%s", decimal(value, 2).text);
	return h;
}

static struct human rate(const struct table *t, double value)
{
	return magnitude(t, value < 0 ? -value : value);
}

static struct human change(const struct table *t, double value)
{
	struct human h;

	snprintf(h.text, sizeof(h.text), "%s%.30s", value > 0 ? "+" : value < 0 ? "−" : "", rate(t, value).text);
	return h;
}

/* "+48 %", "×3.1", or that it was not there at all. */
static struct human relative(const struct compare_part *p)
{
	const struct chance_change *c = &p->change;
	double moved = c->after - c->before;
	struct human h = {"new"};

	if (p->samples[BEFORE] && !p->samples[AFTER])
		return (struct human){"gone"};
	if (p->samples[BEFORE] && c->before > 0 && c->after >= 3 * c->before)
		snprintf(h.text, sizeof(h.text), "×%s", decimal(c->after / c->before, 1).text);
	else if (p->samples[BEFORE] && c->before > 0)
		snprintf(h.text, sizeof(h.text), "%s%s %%", moved > 0 ? "+" : "−",
			 decimal(100 * (moved > 0 ? moved : -moved) / c->before, 0).text);
	return h;
}

static struct human interval(const struct table *t, const struct chance_change *c)
{
	struct human h;

	snprintf(h.text, sizeof(h.text), "%.17s … %.17s", change(t, c->low).text, change(t, c->high).text);
	return h;
}

/* ---- lines ---- */

static int by_size(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	double p = x->part->change.after - x->part->change.before, q = y->part->change.after - y->part->change.before;

	p = p < 0 ? -p : p;
	q = q < 0 ? -q : q;
	return p < q ? 1 : p > q ? -1 : strcmp(x->row->name, y->row->name);
}

static bool gather(struct table *t)
{
	uint32_t i;
	unsigned k;

	t->lines = calloc((size_t)t->c->count * 2 + 1, sizeof(*t->lines));
	for (i = 0; t->lines && i < t->c->count; i++) {
		const struct compare_row *r = &t->c->rows[i];
		const uint64_t *samples = r->total.samples;

		for (k = 0; k < 2; k++) {
			const struct compare_part *p = k ? &r->total : &r->self;

			if (p->verdict == VERDICT_CHANGED)
				t->lines[t->count++] = (struct line){r, p, k ? "total" : "self"};
		}
		if (compare_is_listed(r) || r->total.verdict == VERDICT_EXPLAINED)
			continue;
		t->chance++;
		t->only[BEFORE] += samples[BEFORE] && !samples[AFTER];
		t->only[AFTER] += samples[AFTER] && !samples[BEFORE];
	}
	if (t->lines)
		qsort(t->lines, t->count, sizeof(*t->lines), by_size);
	return t->lines;
}

static void put_side(const struct table *t, unsigned side, const char *word, const char *name, struct buffer *out)
{
	const struct profile *p = t->c->profiles[side];

	buffer_printf(out, "%-7s %s: %s", word, name, p->event);
	if (p->duration)
		buffer_printf(out, ", %s", human_time(p->duration).text);
	buffer_printf(out, ", %s %s", human_count(p->stored).text, samples_word(p));
	if (t->c->by_weight && weight_is_time(t->d->weight_kind))
		buffer_printf(out, ", %s", human_time(t->c->whole[side]).text);
	if (t->c->by == BY_UNIT)
		buffer_printf(out, ", %s %s", decimal_short(t->c->per[side]).text,
			      t->d->per_what[0] ? t->d->per_what : "units of work");
	buffer_putc(out, '\n');
}

static void put_whole(const struct table *t, struct buffer *out)
{
	const struct chance_change *c = &t->c->change;

	if (t->c->by == BY_SHARE)
		return;
	buffer_printf(out, "whole   %s before, %s after: %s (%s)%s\n", rate(t, c->before).text,
		      rate(t, c->after).text, change(t, c->after - c->before).text, interval(t, c).text,
		      c->beyond ? "" : ", within chance");
}

static void put_line(const struct table *t, const struct line *l, struct buffer *out)
{
	const struct chance_change *c = &l->part->change;

	human_right(out, rate(t, c->before).text, 11);
	human_right(out, rate(t, c->after).text, 12);
	human_right(out, change(t, c->after - c->before).text, 12);
	human_right(out, interval(t, c).text, 24);
	human_right(out, relative(l->part).text, 9);
	buffer_printf(out, "  %-5s  %s\n", l->what, l->row->name);
}

/* Who has changed only by what it calls. */
static void put_callers(const struct table *t, struct buffer *out)
{
	uint32_t i, n = 0;

	for (i = 0; i < t->c->count; i++)
		n += t->c->rows[i].total.verdict == VERDICT_EXPLAINED && !compare_is_listed(&t->c->rows[i]);
	if (!n)
		return;
	buffer_printf(out, "(%s caller%s changed by what %s: ", human_count(n).text, human_plural(n),
		      n == 1 ? "it calls" : "they call");
	for (i = n = 0; i < t->c->count; i++) {
		const struct compare_row *r = &t->c->rows[i];

		if (r->total.verdict != VERDICT_EXPLAINED || compare_is_listed(r))
			continue;
		if (n == NAMES_MOST)
			buffer_puts(out, ", …");
		if (n++ >= NAMES_MOST)
			break;
		buffer_printf(out, "%s%s", n > 1 ? ", " : "", r->name);
		if (r->explained_by != COMPARE_NO_ROW)
			buffer_printf(out, " in %s", t->c->rows[r->explained_by].name);
	}
	buffer_puts(out, ")\n");
}

static void put_rest(const struct table *t, uint32_t cut, struct buffer *out)
{
	if (cut)
		buffer_printf(out, "(%u more changed; -f x.txt lists all)\n", cut);
	put_callers(t, out);
	buffer_printf(out, "(%s %swithin chance", human_count(t->chance).text,
		      t->count ? "others " : t->chance == 1 ? "method: " : "methods: all ");
	if (t->only[BEFORE] || t->only[AFTER])
		buffer_printf(out, "; %u of them only before, %u only after", t->only[BEFORE], t->only[AFTER]);
	buffer_puts(out, ")\n");
	if (!t->count && t->c->change.beyond)
		buffer_puts(out, "No method has changed its share beyond chance: all have changed alike, as with more "
				 "work or a slower machine (--per N,N compares by unit of work)\n");
	if (!t->count)
		return;
	buffer_printf(out, "%sAll intervals hold at once with a certainty of 95 %%: docs/use/compare.md\n",
		      t->c->by == BY_SHARE ? "Percent are of each file's whole. " :
		      in_percent(t) ? "100 % is one CPU or thread all the time. " :
		      t->c->by == BY_UNIT ? "Amounts are by unit of work. " : "Amounts are by second. ");
}

void diff_text(const struct diff *d, const struct format_options *options, unsigned hot, struct buffer *out)
{
	struct comparison c;
	struct table t = {.d = d, .c = &c};
	int rc = diff_compare(&c, d, format_style(STYLE_TEXT, options));
	uint32_t i;

	if (rc == 0 && !gather(&t))
		rc = -ENOMEM;
	buffer_clean_begin(out);
	if (rc == 0) {
		put_side(&t, BEFORE, "before", d->before_name, out);
		put_side(&t, AFTER, "after", d->after_name, out);
		put_whole(&t, out);
		if (t.count)
			buffer_puts(out, "\n     before       after      change           95 % interval           "
					 "  what   method\n");
		for (i = 0; i < t.count && (!hot || i < hot); i++)
			put_line(&t, &t.lines[i], out);
		put_rest(&t, t.count - i, out);
	}
	buffer_clean_end(out);
	if (rc && !out->failed)
		out->failed = -rc;
	free(t.lines);
	compare_free(&c);
}
