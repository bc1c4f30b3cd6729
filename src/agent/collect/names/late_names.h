/*
 * late_names.h - names of native and kernel frames, looked up while sampling goes on: for sinks that write as they go.
 */
#ifndef JSTROBE_COLLECT_NAMES_LATE_NAMES_H
#define JSTROBE_COLLECT_NAMES_LATE_NAMES_H

#include "agent/collect/aggregate.h"

/* Whether a frame of NODE has no name yet. Collector's lock held. */
bool late_waits(const struct collector *c, uint32_t node);
/*
 * Look up names that are missing, which may take long: symbol tables are read. KEEP: they stay in memory for the next
 * look-up, until late_forget. Locks held: images, and the collector's, which is given up meanwhile.
 */
void late_look_up(struct collector *c, bool keep);
/* Images locked. */
void late_forget(struct collector *c);

#endif
