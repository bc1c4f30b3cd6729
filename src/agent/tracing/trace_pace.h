/*
 * trace_pace.h - how many classes are changed at a time, and how long the program is left alone afterwards.
 *
 * The JVM stops the program once for each call of RetransformClasses: for a time that grows with the classes it has
 * loaded, and for some more with each class that changes. Both are measured as it goes on. Plain data.
 */
#ifndef JSTROBE_TRACING_TRACE_PACE_H
#define JSTROBE_TRACING_TRACE_PACE_H

#include "common/base/base.h"

#define TRACE_PAUSE (50 * NS_PER_MS)      /* the program is to stop no longer at a time */
#define TRACE_SHARE 10                    /* of the time one in so many is for changing classes; */
#define TRACE_SHARE_AWAITED 2             /* while a command waits for it */
#define TRACE_AT_ONCE (NS_PER_S / 2)      /* so much of it comes without rests: most patterns need no more */

struct trace_pace {
	double batches, classes, pauses, squares, products; /* sums over the batches, older ones counting less */
	uint64_t spent;     /* ns in all calls so far */
	uint32_t last;      /* classes of the last batch */
};

/* Classes for the next batch, at least 1. */
uint32_t trace_pace_size(const struct trace_pace *p);
/* A batch of COUNT classes stopped the program for PAUSE ns, in a call of WHOLE ns. */
void trace_pace_note(struct trace_pace *p, uint32_t count, uint64_t pause, uint64_t whole);
/* ns to rest after a call of WHOLE ns that was noted; AWAITED: a command waits. */
uint64_t trace_pace_rest(const struct trace_pace *p, uint64_t whole, bool awaited);

#endif
