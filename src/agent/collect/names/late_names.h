/*
 * late_names.h - names of native and kernel frames, looked up while sampling goes on: for sinks that write as they go.
 */
#ifndef JSTROBE_COLLECT_NAMES_LATE_NAMES_H
#define JSTROBE_COLLECT_NAMES_LATE_NAMES_H

#include "common/base/base.h"

struct collector;

/* Whether a frame of NODE has no name yet. Collector's lock held. */
bool late_waits(const struct collector *c, uint32_t node);
/*
 * Look up names that are missing, which may take long: symbol tables are read. KEEP: they stay in memory for the next
 * look-up, until late_forget. Locks held: images, and the collector's, which is given up meanwhile.
 */
void late_look_up(struct collector *c, bool keep);
/* Images locked. */
void late_forget(struct collector *c);

/*
 * Native and kernel frames get their names before the aggregate is made anew. Until then each address is a
 * frame of its own, and each way to it a stack: carried over like that, an aggregate would grow with the addresses that
 * samples have met, of which there are many, and not with the functions.
 */

/* Names are being looked up, or that has just begun: a new aggregate can wait. Collector's thread, its lock held. */
bool namer_works(struct collector *c);
/* No thread looks names up any more; false: it has not come to its end yet. The collector's thread has ended. */
bool namer_end(struct collector *c);

#endif
