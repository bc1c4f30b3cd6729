/*
 * diff.h - two profiles side by side: what has changed beyond chance (profile/model/compare/compare.h). Normal code.
 */
#ifndef JSTROBE_WRITERS_DIFF_H
#define JSTROBE_WRITERS_DIFF_H

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "profile/writers/format.h"

struct diff {
	const struct profile *before, *after;
	const char *before_name, *after_name; /* of their files */
	double per[2];                        /* units of work that they did; 0: not known */
	const char *per_what;                 /* "requests"; "" = not said */
	bool by_weight;                       /* diff_unit's */
	enum weight_kind weight_kind;
};

/* P is of a file that does not say what its numbers count. */
bool diff_is_unknown(const struct profile *p);
/*
 * Fill in what they are compared in; BY_SAMPLES: not in time even so. -EINVAL: they have nothing in common, with the
 * reason.
 */
int diff_unit(struct diff *d, bool by_samples, struct error *err);

struct comparison;
/* C of D, with names in STYLE. 0 or -ENOMEM; compare_free in both cases. */
int diff_compare(struct comparison *c, const struct diff *d, unsigned style);

/*
 * What has changed, the largest change first; the rest as counts. HOT: at most so many lines, 0 = all. Errors stay in
 * OUT, as below.
 */
void diff_text(const struct diff *d, const struct format_options *options, unsigned hot, struct buffer *out);
/* All of it for programs: docs/reference/json.md. */
void diff_json(const struct diff *d, struct buffer *out);
/* Stacks with their numbers before and after, those of --total or samples. */
void diff_collapsed(const struct diff *d, const struct format_options *options, struct buffer *out);
/* The page, with a flame graph in which colours are changes. */
void diff_page(const struct diff *d, const char *title, const struct format_options *options, struct buffer *out);

#endif
