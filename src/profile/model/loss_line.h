/*
 * loss_line.h - what happened to the samples, in words. Inner header of the model room;
 * the line itself is in format.h (format_loss_line).
 */
#ifndef JSTROBE_MODEL_LOSS_LINE_H
#define JSTROBE_MODEL_LOSS_LINE_H

#include "common/base/buffer.h"
#include "profile/model/profile.h"

/* All lost samples of P. */
uint64_t loss_total(const struct profile *p);
/* The weight (ns) of all lost samples of P. */
uint64_t loss_weight(const struct profile *p);
/* Whether a reader must be warned: more than 1 % lost, or less than 99 % complete stacks. */
bool loss_is_bad(const struct profile *p);
/*
 * The lines "Name                : value\n" of every text header: event, process, time, losses, and
 * what loss_details_cost() adds: what a filter left, walks ended early, queues, handler, collector, own CPU time.
 */
void loss_details(struct buffer *out, const struct profile *p);
void loss_details_cost(struct buffer *out, const struct profile *p);

#endif
