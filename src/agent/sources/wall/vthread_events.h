/*
 * vthread_events.h - how the wall clock hears of virtual threads that leave their carriers and come back (option
 * `vthreads`). Between the two there is nothing of the thread but an object in the heap.
 */
#ifndef JSTROBE_SOURCES_WALL_VTHREAD_EVENTS_H
#define JSTROBE_SOURCES_WALL_VTHREAD_EVENTS_H

#include "common/base/buffer.h"
#include "common/base/error.h"

/* As in struct engine_ops; without `vthreads` nothing happens. */
int wall_listen(struct buffer *notes, struct error *err);
void wall_listen_no_more(bool goes_on);
void wall_vm_init(void);

#endif
