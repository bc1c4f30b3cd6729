/*
 * survivors.h - samples of objects that count only while their object is there. Inner header of the collect room.
 *
 * They are kept one by one, each in the place that its object's number says, so that they are as many as its source
 * keeps objects. For a profile those are summed up whose object is there.
 */
#ifndef JSTROBE_COLLECT_SURVIVORS_H
#define JSTROBE_COLLECT_SURVIVORS_H

#include "common/base/base.h"

struct collector;
struct generation;
struct sink;
struct sink_event;

/* Whether samples of event E are of this kind. */
bool survivors_are_of(const struct collector *c, uint32_t e);
/* E, a sample with fields, is kept; that of its object's place before goes. False: out of memory. Lock held. */
bool survivors_add(struct collector *c, const struct sink_event *e);
/* The sums of all such events become those of the objects that are there. False: out of memory. Lock held. */
bool survivors_sum(struct collector *c);
/* Tell TO of each object that is there, at time NOW. Lock held. */
void survivors_tell(struct collector *c, struct sink *to, uint64_t now);
/* Sampling has ended, and the source is about to forget: what it says now stands. Lock held. */
void survivors_settle(struct collector *c);
/* New numbers in place of the old ones. Lock held. */
void survivors_carry(struct generation *g);

#endif
