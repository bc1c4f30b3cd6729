/*
 * one_kind.h - a method that is called at one place of the call tree and ran as different kinds of code gets the kind
 * that most of its samples there have: with `ann` jfrconv has one line for it.
 */
#ifndef JSTROBE_READERS_ONE_KIND_H
#define JSTROBE_READERS_ONE_KIND_H

#include "common/options/options.h"
#include "profile/model/profile.h"

/* LISTS holds the frames of all stacks of P, and is changed. 0 or -ENOMEM. */
int one_kind(struct profile *p, uint32_t *lists, const struct options *o);

#endif
