/*
 * loss_line.h - what happened to the samples, in words. Normal code.
 */
#ifndef JSTROBE_MODEL_LOSS_LINE_H
#define JSTROBE_MODEL_LOSS_LINE_H

#include "common/base/buffer.h"
#include "profile/model/format_options.h"
#include "profile/model/profile.h"

/* The weight (ns) of all lost samples of P. */
uint64_t loss_weight(const struct profile *p);
/* Whether a reader must be warned: more than 1 % lost, or less than 99 % complete stacks. */
bool loss_is_bad(const struct profile *p);
/*
 * The lines "Name                : value\n" of every text header: event, process, time, losses, and
 * what loss_details_cost() adds: what a filter left, walks ended early, queues, handler, collector, own CPU time.
 */
void loss_details(struct buffer *out, const struct profile *p, const struct format_options *options);
void loss_details_cost(struct buffer *out, const struct profile *p);
/* Of these what part of the samples the result is of: by a filter, by a window. */
void loss_details_part(struct buffer *out, const struct profile *p);
/*
 * Append what happened to the samples, one line without newline: "10,012 samples taken, 10,010
 * stored, 2 lost (queue_full 2: 2.0 ms) · 9.99 s of 10.02 s CPU time sampled, 30 ms unsampled ·
 * 99.98 % complete stacks". Without samples it says why. Normal code.
 */
void format_loss_line(const struct profile *p, struct buffer *out);
/* The same without what only matters where something is wrong; all of it, where something is. */
void loss_line_brief(const struct profile *p, struct buffer *out);
/* Append what to record where P has no samples of CPU time, unless the session has other events, too. */
void loss_line_hint(const struct profile *p, const struct format_options *options, struct buffer *out);
/*
 * What is in no sample of P, stored or lost, by its other counts: CPU time of the process but for jstrobe's own,
 * or events by the kernel's count. 0 where the whole is not known.
 */
uint64_t format_unsampled(const struct profile *p);
/* The writer of these lines alone. */
void format_loss(const struct profile *p, const struct format_options *options, struct buffer *out);

#endif
