/*
 * explained_parts.h - the parts of an explanation that need more than a line of each profile. Inner header of the views
 * room.
 */
#ifndef JSTROBE_VIEWS_EXPLAINED_PARTS_H
#define JSTROBE_VIEWS_EXPLAINED_PARTS_H

#include "profile/model/profile.h"
#include "profile/views/explanation.h"
#include "profile/views/sections.h"

/* Each appends what profile P has of it to S; sections that have no rows are none. 0 or a negative errno. */
int explained_paths(struct sections *s, const struct profile *p, bool first, const struct explained *e);
int explained_waits(struct sections *s, const struct profile *p);
int explained_memory(struct sections *s, const struct profile *p);

#endif
