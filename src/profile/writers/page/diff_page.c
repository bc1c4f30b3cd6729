/*
 * diff_page.c - two profiles as one page: a tree of both, with what each node had before as further columns. The
 * browser takes one from the other (web/diff.js).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/decimal.h"
#include "profile/model/compare/compare.h"
#include "profile/model/sorted.h"
#include "profile/writers/diff.h"
#include "profile/writers/page/page_put.h"

/* Both as one profile: the frames and stacks of `before`, then those of `after`, whose head it has. */
struct both {
	struct profile profile;
	uint32_t stacks_before;
	struct profile_frame *frames;
	struct profile_stack *stacks;
	uint32_t *moved; /* frames of the stacks of `after` */
};

static int join(struct both *b, const struct profile *before, const struct profile *after)
{
	uint32_t i, k, at = 0;
	size_t words = 0;

	for (i = 0; i < after->stack_count; i++)
		words += after->stacks[i].depth;
	b->profile = *after;
	b->stacks_before = before->stack_count;
	b->frames = calloc((size_t)before->frame_count + after->frame_count + 1, sizeof(*b->frames));
	b->stacks = calloc((size_t)before->stack_count + after->stack_count + 1, sizeof(*b->stacks));
	b->moved = calloc(words + 1, sizeof(*b->moved));
	if (!b->frames || !b->stacks || !b->moved)
		return -ENOMEM;
	memcpy(b->frames, before->frames, before->frame_count * sizeof(*b->frames));
	memcpy(b->frames + before->frame_count, after->frames, after->frame_count * sizeof(*b->frames));
	memcpy(b->stacks, before->stacks, before->stack_count * sizeof(*b->stacks));
	for (i = 0; i < after->stack_count; i++) {
		struct profile_stack *s = &b->stacks[before->stack_count + i];

		*s = after->stacks[i];
		s->frames = b->moved + at;
		for (k = 0; k < s->depth; k++)
			b->moved[at++] = after->stacks[i].frames[k] + before->frame_count;
	}
	b->profile.frames = b->frames;
	b->profile.frame_count = before->frame_count + after->frame_count;
	b->profile.stacks = b->stacks;
	b->profile.stack_count = before->stack_count + after->stack_count;
	/* threads of different runs are different threads */
	b->profile.per_thread = false;
	b->profile.thread_count = 0;
	return 0;
}

struct more {
	const struct diff *d;
	const struct both *both;
	const struct comparison *comparison;
	const struct format_options *options;
};

/* What the nodes of S had before, in the order of the tree: samples, or weights. */
static void put_column(struct json_writer *w, const struct more *m, const struct sorted *s, bool weight)
{
	struct page_bytes e = PAGE_BYTES(w, weight ? "weight" : "samples", m->options);
	const struct both *b = m->both;
	uint32_t i, k, level;

	for (i = 0; i < s->count; i++)
		for (level = s->items[i].shared; level < sorted_depth(s, i); level++) {
			struct sorted_range r = sorted_range(s, i, level + 1);
			uint64_t sum = 0;

			for (k = r.from; k < r.to; k++)
				if (s->items[k].stack < b->stacks_before && sorted_depth(s, k) == level + 1)
					sum += weight ? b->stacks[s->items[k].stack].weight
						      : b->stacks[s->items[k].stack].samples;
			page_varint(&e, sum);
		}
	page_bytes_end(&e);
}

/* The methods whose self or total has changed beyond chance, by their names on the page. */
static void put_changed(struct json_writer *w, const struct comparison *c, const char *key, bool total)
{
	uint32_t i;

	json_array(w, key);
	for (i = 0; i < c->count; i++)
		if ((total ? &c->rows[i].total : &c->rows[i].self)->verdict != VERDICT_CHANCE)
			json_put_text(w, NULL, c->rows[i].name);
	json_end(w);
}

/* What rates are of and how far chance may put them off, as the page looks at single nodes, too. */
static void put_chance(struct json_writer *w, const struct comparison *c)
{
	unsigned side;

	put_changed(w, c, "changedSelf", false);
	put_changed(w, c, "changedTotal", true);
	json_put_value(w, "deviations", decimal_short(c->deviations).text);
	json_put_value(w, "spread", decimal_short(CHANCE_JAVA).text);
	json_put_value(w, "runs", decimal_short(CHANCE_OF_ROW).text);
	json_put_bool(w, "byShare", c->by == BY_SHARE);
	json_array(w, "per");
	for (side = 0; side < SIDES; side++)
		json_put_value(w, NULL, decimal_short(c->by == BY_SHARE ? 1 : c->per[side]).text);
	json_end(w);
}

static void put_more(struct json_writer *w, const struct sorted *s, const void *arg)
{
	const struct more *m = arg;
	const struct profile *before = m->d->before;

	json_object(w, "diff");
	json_put_texts(w, {"before", m->d->before_name}, {"after", m->d->after_name});
	json_put_numbers(w, {"duration", before->duration}, {"stored", before->stored});
	json_put_bool(w, "byWeight", m->d->by_weight);
	put_chance(w, m->comparison);
	put_column(w, m, s, false);
	put_column(w, m, s, true);
	json_end(w);
}

void diff_page(const struct diff *d, const char *title, const struct format_options *options, struct buffer *out)
{
	struct both b = {.frames = NULL};
	struct format_options own = *options;
	struct comparison c;
	struct more m = {d, &b, &c, &own};
	int rc = diff_compare(&c, d, format_style(STYLE_PAGE, options) & ~STYLE_ANNOTATE);

	if (rc == 0)
		rc = join(&b, d->before, d->after);
	own.total = d->by_weight;
	own.minwidth = 0; /* what is narrow in one may be wide in the other */
	page_begin(out, title, "jstrobe diff prints what changed, if it is not asked for a page.\n");
	if (rc == 0)
		rc = page_data_put(out, &b.profile, &own, &(struct page_more){put_more, &m});
	page_end(out);
	if (rc && !out->failed)
		out->failed = -rc;
	compare_free(&c);
	free(b.frames);
	free(b.stacks);
	free(b.moved);
}
