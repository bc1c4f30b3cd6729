#include "profile/writers/diff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/decimal.h"
#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "profile/model/human.h"
#include "profile/model/methods.h"
#include "profile/model/profile_unit.h"
#include "profile/writers/writers.h"

struct row {
	const char *name;
	uint64_t self[2], total[2]; /* before, after */
};

struct rows {
	struct methods of[2];
	struct row *items;
	uint32_t count;
	uint64_t whole[2];
};

/* What weights are of, as a word. */
static const char *unit_of(const struct profile *p)
{
	return profile_is_time(p) ? "time" : profile_unit_shown(p);
}

bool diff_is_unknown(const struct profile *p)
{
	return strcmp(unit_of(p), FORMAT_UNKNOWN_UNIT) == 0;
}

int diff_unit(struct diff *d, bool by_samples, struct error *err)
{
	const char *before = unit_of(d->before), *after = unit_of(d->after);
	bool same = strcmp(before, after) == 0;

	/* collapsed stacks have one number, and do not say what it is of */
	if (!same && !diff_is_unknown(d->before) && !diff_is_unknown(d->after))
		return error_set(err, EINVAL, "%s has %s of %s, %s has %s of %s: a difference would mean nothing; "
				 "choose with --event", d->before_name, before, d->before->event, d->after_name,
				 after, d->after->event);
	d->by_weight = same && !by_samples;
	d->weight_kind = d->before->weight_kind;
	return 0;
}

/* ---- rows ---- */

static uint64_t size(uint64_t before, uint64_t after)
{
	return before > after ? before - after : after - before;
}

static int by_change(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	uint64_t self_x = size(x->self[0], x->self[1]), self_y = size(y->self[0], y->self[1]);
	uint64_t total_x = size(x->total[0], x->total[1]), total_y = size(y->total[0], y->total[1]);

	if (self_x != self_y)
		return self_x < self_y ? 1 : -1;
	if (total_x != total_y)
		return total_x < total_y ? 1 : -1;
	return strcmp(x->name, y->name);
}

static bool add_side(struct rows *r, unsigned side, bool by_weight, struct strings *names, struct map *places)
{
	const struct methods *m = &r->of[side];
	uint32_t i;

	for (i = 0; i < m->count; i++) {
		const char *name = name_text(&m->names, m->rows[i].name);
		bool fresh;
		uint32_t *at = map_put(places, strings_add(names, name, strlen(name)), &fresh);

		if (!at || names->failed)
			return false;
		if (fresh) {
			*at = r->count++;
			r->items[*at].name = name;
		}
		r->items[*at].self[side] += by_weight ? m->rows[i].self_weight : m->rows[i].self;
		r->items[*at].total[side] += by_weight ? m->rows[i].total_weight : m->rows[i].total;
		r->whole[side] += by_weight ? m->rows[i].self_weight : m->rows[i].self;
	}
	return true;
}

static int build(struct rows *r, const struct diff *d, unsigned style)
{
	const struct profile *profiles[] = {d->before, d->after};
	struct strings names = {.bytes = NULL};
	struct map places = {.slots = NULL};
	unsigned side;
	int rc = 0;

	memset(r, 0, sizeof(*r));
	/* one file knows what a name stands for, the other, as collapsed stacks, may not */
	for (side = 0; side < 2 && rc == 0; side++)
		rc = methods_build(&r->of[side], profiles[side], style | STYLE_ANY_TYPE, d->by_weight);
	r->items = rc ? NULL : calloc((size_t)r->of[0].count + r->of[1].count + 1, sizeof(*r->items));
	for (side = 0; side < 2 && r->items && rc == 0; side++)
		rc = add_side(r, side, d->by_weight, &names, &places) ? 0 : -ENOMEM;
	if (rc == 0 && r->items)
		qsort(r->items, r->count, sizeof(*r->items), by_change);
	strings_free(&names);
	map_free(&places);
	return r->items ? rc : -ENOMEM;
}

static void rows_free(struct rows *r)
{
	methods_free(&r->of[0]);
	methods_free(&r->of[1]);
	free(r->items);
}

/* ---- text ---- */

static struct human amount(const struct diff *d, uint64_t value)
{
	return d->by_weight ? human_amount(value, d->weight_kind) : human_count(value);
}

static void put_amount(const struct diff *d, uint64_t value, struct buffer *out)
{
	human_right(out, amount(d, value).text, 13);
}

static void put_change(const struct diff *d, const uint64_t v[2], struct buffer *out)
{
	struct human h = amount(d, size(v[0], v[1]));
	char text[sizeof(h.text) + 4];

	snprintf(text, sizeof(text), "%s%s", v[0] == v[1] ? "" : v[0] < v[1] ? "+" : "−", h.text);
	human_right(out, v[0] == v[1] ? "=" : text, 14);
}

static void put_side(const struct diff *d, const char *word, const struct profile *p, const char *name,
		     uint64_t whole, struct buffer *out)
{
	buffer_printf(out, "%-7s %s: %s", word, name, p->event);
	if (p->duration)
		buffer_printf(out, ", %s", human_time(p->duration).text);
	buffer_printf(out, ", %s %s", human_count(p->stored).text,
		      samples_word(p));
	if (d->by_weight && weight_is_time(d->weight_kind))
		buffer_printf(out, ", %s", human_time(whole).text);
	buffer_putc(out, '\n');
}

void diff_text(const struct diff *d, const struct format_options *options, unsigned hot, struct buffer *out)
{
	struct rows r;
	int rc = build(&r, d, format_style(STYLE_TEXT, options));
	uint32_t i, same = 0, shown = 0;
	double points;

	buffer_clean_begin(out);
	put_side(d, "before", d->before, d->before_name, r.whole[0], out);
	put_side(d, "after", d->after, d->after_name, r.whole[1], out);
	buffer_puts(out, "\n  self before   self after    difference  points total before  total after    difference  "
		    "method\n");
	for (i = 0; rc == 0 && i < r.count; i++) {
		const struct row *row = &r.items[i];

		if (row->self[0] == row->self[1] && row->total[0] == row->total[1]) {
			same++;
			continue;
		}
		if (hot && shown++ >= hot)
			continue;
		put_amount(d, row->self[0], out);
		put_amount(d, row->self[1], out);
		put_change(d, row->self, out);
		points = percent_of(row->self[1], r.whole[1]) - percent_of(row->self[0], r.whole[0]);
		buffer_printf(out, "  %6s", decimal_signed(points, 2).text);
		put_amount(d, row->total[0], out);
		put_amount(d, row->total[1], out);
		put_change(d, row->total, out);
		buffer_printf(out, "  %s\n", row->name);
	}
	if (hot && shown > hot)
		buffer_printf(out, "(%u more changed; -f x.txt lists all)\n", shown - hot);
	if (same)
		buffer_printf(out, "(%u methods are the same in both)\n", same);
	buffer_puts(out, "points: change of the share of the whole, in percentage points\n");
	buffer_clean_end(out);
	if (rc && !out->failed)
		out->failed = -rc;
	rows_free(&r);
}

/* ---- JSON ---- */

static void put_side_json(struct json_writer *w, const char *key, const struct profile *p, const char *name,
			  uint64_t whole)
{
	json_object(w, key);
	json_put_texts(w, {"file", name}, {"event", p->event});
	json_put_numbers(w, {"duration_ns", p->duration}, {"samples", p->stored}, {"total", whole});
	json_end(w);
}

void diff_json(const struct diff *d, struct buffer *out)
{
	struct json_writer w = JSON_WRITER(out, JSON_FILE);
	struct rows r;
	int rc = build(&r, d, STYLE_JSON);
	uint32_t i;

	json_object(&w, NULL);
	json_put_number(&w, "schema", 1);
	json_put_texts(&w, {"version", JSTROBE_VERSION},
		       {"unit", diff_is_unknown(d->before) || diff_is_unknown(d->after) ? FORMAT_UNKNOWN_UNIT :
				!d->by_weight ? "samples" : weight_kind_names[d->weight_kind].unit});
	put_side_json(&w, "before", d->before, d->before_name, r.whole[0]);
	put_side_json(&w, "after", d->after, d->after_name, r.whole[1]);
	json_array(&w, "methods");
	for (i = 0; rc == 0 && i < r.count; i++) {
		const struct row *row = &r.items[i];

		json_object(&w, NULL);
		json_put_text(&w, "name", row->name);
		json_put_numbers(&w, {"self_before", row->self[0]}, {"self_after", row->self[1]},
				 {"total_before", row->total[0]}, {"total_after", row->total[1]});
		json_end(&w);
	}
	json_end(&w);
	json_end(&w);
	if (rc && !out->failed)
		out->failed = -rc;
	rows_free(&r);
}
