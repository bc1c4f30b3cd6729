/*
 * profile_unit.h - what the weights of a profile are of, as a word. Pure functions, any thread.
 */
#ifndef JSTROBE_MODEL_PROFILE_UNIT_H
#define JSTROBE_MODEL_PROFILE_UNIT_H

#include <string.h>

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

/* Calls of methods: of a saved trace, which has their time, each is a sample; else samples stand for some of them. */
static inline bool profile_is_of_calls(const struct profile *p)
{
	return strcmp(p->event, "calls") == 0;
}

/* What one sample of P is to be called. */
static inline const char *profile_sample_word(const struct profile *p)
{
	return profile_is_of_calls(p) && p->weight_kind != WEIGHT_COUNT ? "call" : "sample";
}

static inline bool profile_is_time(const struct profile *p)
{
	return weight_is_time(p->weight_kind);
}

#endif
