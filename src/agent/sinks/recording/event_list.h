/*
 * event_list.h - events that wait for a thread of ours, in blocks of memory of their own: the collector's thread adds
 * to it without moving what is there, and what a storm needed goes back to the system, not to the program's heap.
 *
 * With the lock of what the list is part of held.
 */
#ifndef JSTROBE_SINKS_RECORDING_EVENT_LIST_H
#define JSTROBE_SINKS_RECORDING_EVENT_LIST_H

#include "agent/collect/sink.h"
#include "common/base/vector.h"

#define EVENT_BLOCK 1024 /* events */

struct event_list {
	VECTOR(struct sink_event *) blocks;
	size_t count;
};

/* A place for one more, zeroed; NULL when out of memory. */
struct sink_event *event_list_push(struct event_list *l);
/* Only the first COUNT events stay; of memory beyond them what a second of ordinary sampling needs. */
void event_list_cut(struct event_list *l, size_t count);
void event_list_free(struct event_list *l);

static inline struct sink_event *event_list_at(const struct event_list *l, size_t i)
{
	return &l->blocks.items[i / EVENT_BLOCK][i % EVENT_BLOCK];
}

#endif
