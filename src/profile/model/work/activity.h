/*
 * activity.h - what a thread did at a sample: worked, waited for something that its work needs, or waited for work.
 *
 * The JVM tells states ("parked"); what a person asks is why. Which methods tell is data: activities.def.
 */
#ifndef JSTROBE_MODEL_ACTIVITY_H
#define JSTROBE_MODEL_ACTIVITY_H

#include <string.h>

#include "profile/model/work/activity_kind.h"

/* Whether the stacks of P say what their threads did: they are of wall time or of Java's waits, with states. */
static inline bool activity_is_known(const struct profile *p)
{
	return (p->weight_kind == WEIGHT_WALL || p->weight_kind == WEIGHT_WAIT) && !p->calls &&
	       strcmp(p->event, "nativelock") != 0;
}

/* The activity of each stack of P, in their order; the caller frees it. NULL: out of memory. */
uint8_t *activity_of_stacks(const struct profile *p);

/* What a thread that is parked, or reads from a connection, wants of others. */
enum want {
	WANT_UNKNOWN,
	WANT_RESULT,  /* of a task */
	WANT_ROOM,    /* in a queue */
	WANT_OTHERS,  /* that they come to a barrier */
	WANT_LATCH,   /* that it is counted down */
	WANT_MESSAGE, /* an answer, or the next request */
	WANTS,
};

/* What the thread of each stack of P wants, as far as the methods of the JDK on it say that; as activity_of_stacks. */
uint8_t *want_of_stacks(const struct profile *p);

#endif
