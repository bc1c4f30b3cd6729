/*
 * diff.c - what two profiles are compared in, and their difference as JSON.
 */
#include "profile/writers/diff.h"

#include <errno.h>
#include <string.h>

#include "common/base/decimal.h"
#include "common/base/json_writer.h"
#include "profile/model/compare/compare.h"
#include "profile/model/profile_unit.h"
#include "profile/writers/writers.h"

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

int diff_compare(struct comparison *c, const struct diff *d, unsigned style)
{
	*c = (struct comparison){
		.profiles = {d->before, d->after}, .per = {d->per[0], d->per[1]}, .by_weight = d->by_weight};
	/* one file knows what a name stands for, the other, as collapsed stacks, may not */
	return compare_build(c, style | STYLE_ANY_TYPE);
}

/* ---- JSON ---- */

static void put_real(struct json_writer *w, const char *key, double value)
{
	json_put_value(w, key, decimal_short(value).text);
}

static void put_side(struct json_writer *w, const char *key, const struct comparison *c, unsigned side,
		     const char *name)
{
	const struct profile *p = c->profiles[side];

	json_object(w, key);
	json_put_texts(w, {"file", name}, {"event", p->event});
	json_put_numbers(w, {"duration_ns", p->duration}, {"samples", p->stored}, {"total", c->whole[side]});
	if (c->by != BY_SHARE)
		put_real(w, "per", c->per[side]);
	json_end(w);
}

static void put_change(struct json_writer *w, const char *key, const struct chance_change *c, bool beyond)
{
	json_object(w, key);
	put_real(w, "before", c->before);
	put_real(w, "after", c->after);
	put_real(w, "change", c->after - c->before);
	put_real(w, "low", c->low);
	put_real(w, "high", c->high);
	json_put_bool(w, "beyond_chance", beyond);
}

static void put_part(struct json_writer *w, const char *key, const struct comparison *c, const struct compare_part *p,
		     uint32_t by)
{
	put_change(w, key, &p->change, p->verdict != VERDICT_CHANCE);
	json_put_bool(w, "listed", p->verdict == VERDICT_CHANGED);
	if (p->verdict == VERDICT_EXPLAINED && by != COMPARE_NO_ROW)
		json_put_text(w, "in", c->rows[by].name);
	json_end(w);
}

static void put_row(struct json_writer *w, uint32_t i, const void *data)
{
	const struct comparison *c = data;
	const struct compare_row *r = &c->rows[i];
	const uint64_t *self = r->self.amount, *total = r->total.amount;

	json_put_text(w, "name", r->name);
	json_put_numbers(w, {"self_before", self[BEFORE]}, {"self_after", self[AFTER]},
			 {"total_before", total[BEFORE]}, {"total_after", total[AFTER]});
	put_part(w, "self", c, &r->self, COMPARE_NO_ROW);
	put_part(w, "total", c, &r->total, r->explained_by);
}

void diff_json(const struct diff *d, struct buffer *out)
{
	static const char *const words[] = {[BY_SECOND] = "second", [BY_UNIT] = "unit", [BY_SHARE] = "share"};
	struct json_writer w = JSON_WRITER(out, JSON_FILE);
	struct comparison c;
	int rc = diff_compare(&c, d, STYLE_JSON);

	json_object(&w, NULL);
	json_put_number(&w, "schema", 1);
	json_put_texts(&w, {"version", JSTROBE_VERSION},
		       {"unit", diff_is_unknown(d->before) || diff_is_unknown(d->after) ? FORMAT_UNKNOWN_UNIT :
				!d->by_weight ? "samples" : weight_kind_names[d->weight_kind].unit},
		       {"compared_by", words[c.by]}, {"per_what", d->per_what});
	put_real(&w, "certainty", CHANCE_CERTAINTY);
	json_put_number(&w, "changes_looked_at", c.tests);
	put_side(&w, "before", &c, BEFORE, d->before_name);
	put_side(&w, "after", &c, AFTER, d->after_name);
	if (c.by != BY_SHARE) {
		put_change(&w, "whole", &c.change, c.change.beyond);
		json_end(&w);
	}
	json_put_objects(&w, "methods", rc ? 0 : c.count, put_row, &c);
	json_end(&w);
	if (rc && !out->failed)
		out->failed = -rc;
	compare_free(&c);
}
