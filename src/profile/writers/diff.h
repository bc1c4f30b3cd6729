/*
 * diff.h - two profiles side by side: what became more, what less.
 *
 * They are compared in time where both have it, else in samples. Shares are of each one's own whole, so that runs
 * of different lengths can be compared; amounts are as they were. Normal code.
 */
#ifndef JSTROBE_WRITERS_DIFF_H
#define JSTROBE_WRITERS_DIFF_H

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "profile/writers/format.h"

struct diff {
	const struct profile *before, *after;
	const char *before_name, *after_name; /* of their files */
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

/* Methods by how much their self time changed. HOT: at most so many, 0 = all. Errors stay in OUT, as below. */
void diff_text(const struct diff *d, const struct format_options *options, unsigned hot, struct buffer *out);
/* The same for programs: docs/reference/json.md. */
void diff_json(const struct diff *d, struct buffer *out);
/* Stacks with their numbers before and after, those of --total or samples. */
void diff_collapsed(const struct diff *d, const struct format_options *options, struct buffer *out);
/* The page, with a flame graph in which colours are changes. */
void diff_page(const struct diff *d, const char *title, const struct format_options *options, struct buffer *out);

#endif
