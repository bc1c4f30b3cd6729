/*
 * surroundings.h - what was going on around a profile's samples (surroundings.def). Plain data, any thread.
 */
#ifndef JSTROBE_MODEL_SURROUNDINGS_H
#define JSTROBE_MODEL_SURROUNDINGS_H

#include "common/base/base.h"

enum surrounding {
#define SURROUNDING(id, unit, meaning) AROUND_##id,
#include "profile/model/surroundings.def"
	SURROUNDINGS
};

struct surroundings {
	uint64_t value[SURROUNDINGS];
	uint64_t known; /* bit by enum surrounding */
};

_Static_assert(SURROUNDINGS <= 64, "a bit for each");

/* Its name in JSON and recordings, static. */
const char *surrounding_name(enum surrounding which);
/* SURROUNDINGS: there is none of this name. */
enum surrounding surrounding_by_name(const char *name);

static inline bool around_known(const struct surroundings *s, enum surrounding which)
{
	return s && s->known >> which & 1;
}

/* What is not known is 0. */
static inline uint64_t around(const struct surroundings *s, enum surrounding which)
{
	return around_known(s, which) ? s->value[which] : 0;
}

static inline void around_set(struct surroundings *s, enum surrounding which, uint64_t value)
{
	s->value[which] = value;
	s->known |= (uint64_t)1 << which;
}

#endif
