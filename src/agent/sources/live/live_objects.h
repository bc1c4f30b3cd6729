/*
 * live_objects.h - what results ask of the survivors' source.
 */
#ifndef JSTROBE_LIVE_LIVE_OBJECTS_H
#define JSTROBE_LIVE_LIVE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

#define LIVE_ROOTS 64 /* at most, at once */

/* How some objects are held: a chain of references each, by their places; "": none was found. */
struct live_roots {
	struct buffer chains[LIVE_ROOTS];
	uint64_t took, objects; /* ns that the program stood still; objects that were met */
	bool passed, full;      /* it was given up: after so long, or after so many */
};

/* Bytes of the heap that were in use after the last collection before the last look; 0: not known. Any thread. */
uint64_t live_objects_used(void);
/* Bytes that the heap may have; 0: not known. Any thread. */
uint64_t live_objects_most(void);
/* When the last collection had ended that a result asked for, CLOCK_MONOTONIC; 0: there was none. Any thread. */
uint64_t live_objects_collected(void);
/*
 * How the COUNT objects of IDS (as in struct profile_growth) are held; the program stands still for it, for PAUSE ns at
 * most. R is to be freed in any case. -ENOTSUP: this JVM does not tell; -ENOENT: none of them is there any more.
 * Attached.
 */
int live_objects_roots(const uint64_t *ids, uint32_t count, uint64_t pause, struct live_roots *r, struct error *err);
void live_objects_roots_free(struct live_roots *r);

#endif
