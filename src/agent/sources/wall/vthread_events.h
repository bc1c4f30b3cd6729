/*
 * vthread_events.h - how the wall clock hears of virtual threads that leave their carriers and come back (option
 * `vthreads`). Between the two there is nothing of the thread but an object in the heap.
 */
#ifndef JSTROBE_SOURCES_WALL_VTHREAD_EVENTS_H
#define JSTROBE_SOURCES_WALL_VTHREAD_EVENTS_H

#include "common/base/buffer.h"

/* A session has begun; without `vthreads` nothing happens. NOTES gets why nothing is told. Attached threads. */
void agent_parked_begin(struct buffer *notes);
/* It ends, before engine_stop; also without a begin. GOES_ON: as agent_waits_end. */
void agent_parked_end(bool goes_on);
/* The JVM is up. */
void agent_parked_vm_init(void);

#endif
