/*
 * generation.h - a new aggregate takes the place of one that has grown too large: what is kept gets new numbers.
 * Inner header of the collect room.
 */
#ifndef JSTROBE_COLLECT_GENERATION_H
#define JSTROBE_COLLECT_GENERATION_H

#include "common/base/base.h"

struct collector;

/*
 * A new aggregate, if the present one is worth it: all numbers of nodes are void, the sinks are told so.
 * Lock held.
 */
bool generation_begin(struct collector *c);
/* Whether a new one should begin soon: memory for traces runs out; or much of what is kept is not wanted any more. */
bool generation_is_full(const struct collector *c);
bool generation_is_due(const struct collector *c);
/* A new generation of the stack store, which has what is kept from the one before. False: not now. Lock held. */
bool generation_renew_stacks(struct collector *c);
/* No handler is at work any more that is in the one before: what they have kept since is moved, too. Lock held. */
void generation_move_kept(struct collector *c);

#endif
