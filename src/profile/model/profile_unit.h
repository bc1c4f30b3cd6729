/*
 * profile_unit.h - what the weights of a profile are of, as a word. Pure functions, any thread.
 */
#ifndef JSTROBE_MODEL_PROFILE_UNIT_H
#define JSTROBE_MODEL_PROFILE_UNIT_H

#include "profile/model/profile.h"

/* For programs: "ns", "events", "bytes". */
static inline const char *profile_unit(const struct profile *p)
{
	return p->unit && !weight_is_time(p->weight_kind) ? p->unit : weight_kind_names[p->weight_kind].unit;
}

/* For people: of events, their name. */
static inline const char *profile_unit_shown(const struct profile *p)
{
	return p->weight_kind == WEIGHT_COUNT && !p->unit ? p->event : profile_unit(p);
}

static inline bool profile_is_time(const struct profile *p)
{
	return weight_is_time(p->weight_kind);
}

#endif
