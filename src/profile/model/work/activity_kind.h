/*
 * activity_kind.h - kinds of what a thread did, and what they come to for who has a lock. Which stacks are of which
 * kind: activity.h.
 */
#ifndef JSTROBE_MODEL_ACTIVITY_KIND_H
#define JSTROBE_MODEL_ACTIVITY_KIND_H

#include "profile/model/profile.h"

enum activity {
#define ACTIVITY(name, key, head, meaning) ACTIVITY_##name,
#include "profile/model/work/activities.def"
	ACTIVITIES
};

struct activity_name {
	const char *key;     /* "wait": in JSON */
	const char *head;    /* "Object.wait": of a column */
	const char *meaning; /* "was in Object.wait": behind "the thread" */
};
extern const struct activity_name activity_names[ACTIVITIES];

/* Whether S waits for a Condition: that gives its lock back, so that it owns none of java.util.concurrent. */
bool awaits_condition(const struct profile *p, const struct profile_stack *s);

/* What a thread in STATE did whose ACTIVITY was found: who owns a lock is not idle, since others wait for it. */
uint8_t activity_of_owner(uint8_t state, uint8_t activity);

#endif
