/*
 * writers.h - the writers of formats.def, for the table and for one another.
 * Inner header of the writers room.
 */
#ifndef JSTROBE_WRITERS_WRITERS_H
#define JSTROBE_WRITERS_WRITERS_H

#include <string.h>

#include "profile/model/frame_name.h"
#include "profile/model/profile_unit.h"
#include "profile/writers/format.h"

format_writer format_collapsed, format_text, format_traces, format_flat, format_calltree,
	format_hot, format_json, format_page, format_packed;

/* Of a trace: profiles that have `calls`. */
format_writer calls_collapsed, calls_text, calls_traces, calls_flat, calls_calltree, calls_hot, calls_json, calls_jfr,
	calls_loss;

struct json_writer;
/* In JSON: when the samples of P were taken, a member of the object that is open, where P says it. */
void json_times_put(struct json_writer *w, const struct profile *p);

/* One page with several profiles to choose from. */
void format_pages(const struct profile *const *profiles, uint32_t count,
		  const struct format_options *options, struct buffer *out);

/*
 * Whether P is told by weight: where that was asked for, where samples stand for very unlike numbers of bytes or are
 * waits of very unlike lengths, and where some weigh nothing, as those of calls that wait for work.
 */
static inline bool is_by_weight(const struct profile *p, const struct format_options *options)
{
	return options->total || p->weight_kind == WEIGHT_BYTES || p->weight_kind == WEIGHT_WAIT ||
	       p->weight_kind == WEIGHT_IO;
}

/* What P's samples are to be called. */
static inline const char *samples_word(const struct profile *p)
{
	if (p->unit && strcmp(p->unit, FORMAT_UNKNOWN_UNIT) == 0)
		return FORMAT_UNKNOWN_UNIT;
	return strcmp(profile_sample_word(p), "call") == 0 ? "calls" : "samples";
}

/* Minwidth: what is too narrow to be worth a box. */

struct narrowed {
	struct profile profile; /* the input, but with other stacks and frames */
	uint32_t *lists;
	struct profile_stack *stacks;
	struct profile_frame *frames;
};

/*
 * Make N the profile P with every subtree below OPTIONS->minwidth percent of all shown samples
 * (weights with `total`) replaced by one frame "[below minwidth]", summed up under each parent.
 * N borrows all else of P. 0 or -ENOMEM; free in both cases. Normal code.
 */
int prune_apply(struct narrowed *n, const struct profile *p, const struct format_options *options,
		 unsigned style);
void prune_free(struct narrowed *n);

#endif
