/*
 * namer.h - native and kernel frames get their names before the aggregate is made anew. Until then each address is a
 * frame of its own, and each way to it a stack: carried over like that, an aggregate would grow with the addresses that
 * samples have met, of which there are many, and not with the functions.
 *
 * Symbol tables take long to read, so a thread of ours does it, which is there only meanwhile.
 */
#ifndef JSTROBE_COLLECT_NAMES_NAMER_H
#define JSTROBE_COLLECT_NAMES_NAMER_H

#include "agent/collect/aggregate.h"

/* Names are being looked up, or that has just begun: a new aggregate can wait. Collector's thread, its lock held. */
bool namer_works(struct collector *c);
/* No thread looks names up any more; false: it has not come to its end yet. The collector's thread has ended. */
bool namer_end(struct collector *c);

#endif
