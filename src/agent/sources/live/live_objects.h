/*
 * live_objects.h - what results ask of the survivors' source.
 */
#ifndef JSTROBE_LIVE_LIVE_OBJECTS_H
#define JSTROBE_LIVE_LIVE_OBJECTS_H

#include <stdint.h>

/* Bytes of the heap that were in use after the last collection before the last look; 0: not known. Any thread. */
uint64_t live_objects_used(void);
/* Bytes that the heap may have; 0: not known. Any thread. */
uint64_t live_objects_most(void);
/* When the last collection had ended that a result asked for, CLOCK_MONOTONIC; 0: there was none. Any thread. */
uint64_t live_objects_collected(void);

#endif
