/*
 * filter.h - include and exclude: which stacks of a profile are shown. Normal code.
 */
#ifndef JSTROBE_MODEL_FILTER_H
#define JSTROBE_MODEL_FILTER_H

#include "common/base/buffer.h"
#include "profile/model/format_options.h"

/* What the patterns say of a stack's names, all of them together. */
enum filter_verdict {
	FILTER_WANTED = 1,   /* one that `include` asks for is among them */
	FILTER_UNWANTED = 2, /* one that `exclude` does not want */
};

/* Whether TEXT matches PATTERN[0..LENGTH), in which '*' stands for anything at its begin and end. */
bool filter_match(const char *pattern, size_t length, const char *text);
/* The verdict (bits of enum filter_verdict) on the bare name of a thread. */
unsigned filter_judge(const struct format_options *options, const char *name);
/* The same on FRAME, by all its spellings; SCRATCH has room for them. Out of memory: scratch->failed. */
unsigned filter_judge_frame(const struct format_options *options, const struct profile_frame *frame,
			    struct buffer *scratch);
/* Whether a stack of which VERDICT was said is shown. */
bool filter_shows(const struct format_options *options, unsigned verdict);
/* Whether OPTIONS leave any stack out at all. */
bool filter_is_set(const struct format_options *options);
/*
 * Make VIEW the part of P that OPTIONS let through; it borrows all of P but its stacks, which the
 * caller frees: free((void *)view->stacks). 0 or -ENOMEM (nothing to free).
 */
int filter_apply(const struct profile *p, const struct format_options *options,
		 struct profile *view);

#endif
