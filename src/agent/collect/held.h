/*
 * held.h - what the aggregate keeps, by structure: see held.def. Inner header of the collect room.
 */
#ifndef JSTROBE_COLLECT_HELD_H
#define JSTROBE_COLLECT_HELD_H

#include "common/base/base.h"

struct collector;

/* Bytes of all rows that are renewed. Lock held. */
size_t held_bytes(const struct collector *c);
/* C's renewed rows become empty; what was in them is still known to a copy of C. */
void held_set_aside(struct collector *c);
/* C gets the renewed rows of FROM, a copy of it from before; what it has goes. */
void held_put_back(struct collector *c, const struct collector *from);
/* Give back the renewed rows of C, or of a copy; and the lasting ones. */
void held_drop(struct collector *c);
void held_drop_lasting(struct collector *c);
/* When samples were taken is not known any more. */
void held_drop_timelines(struct collector *c);

#endif
