/*
 * drain.h - the rounds of the collector's thread: queues are emptied into the aggregate, and what handlers read is kept
 * in shape. Inner header of the collect room.
 */
#ifndef JSTROBE_COLLECT_DRAIN_H
#define JSTROBE_COLLECT_DRAIN_H

#include "common/base/error.h"

struct collector;

/* Empty all queues once, or only those of records that were stirred since the last time. Lock held. */
void drain_all(struct collector *c);
void drain_stirred(struct collector *c);

/* What handlers read must exist before the first of them runs. */
int upkeep_open(size_t store_bytes, struct error *err);
/* Free it all, when no handler can run any more. */
void upkeep_close(struct collector *c);
/*
 * Before a drain: read the images that were opened since the last reading, so that what ran in them has names. Where
 * some were closed as well the drain comes first, for the set there is still knows those. Where the JVM has just begun
 * to run Java, find its counts of classes: they say of what was sampled meanwhile that none was unloaded. Lock held.
 */
void upkeep_opened(struct collector *c);
/* Whether the counts of classes are missing: not before the JVM runs Java, for they would tell nothing. */
bool upkeep_counts_missing(void);
/* Keep what handlers read in shape: stack store, images, decode cache, layout. Lock held. */
void upkeep(struct collector *c);

#endif
