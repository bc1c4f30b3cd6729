/*
 * heap.h - how full the Java heap is, as the JVM's performance data have it: brought up to date at the end of each
 * collection. Nothing with -XX:-UsePerfData.
 */
#ifndef JSTROBE_HOTSPOT_HEAP_H
#define JSTROBE_HOTSPOT_HEAP_H

#include "common/base/vector.h"
#include "common/hotspot/layout.h"

/* Where the JVM counts. Zeroed: not found yet. */
struct heap_counters {
	VECTOR(const uint64_t *) collections, used, committed; /* of collectors, spaces, generations */
};

struct heap_state {
	uint64_t collections;      /* of all collectors so far */
	uint64_t used, committed;  /* bytes */
	uint64_t start, reserved;  /* address and bytes of the whole; 0, 0: not known */
};

/* Look for the counters. False: there are none (yet). Normal code, any thread; so are the others. */
bool heap_counters_find(const struct layout *l, struct heap_counters *c);
void heap_counters_free(struct heap_counters *c);
void heap_read(const struct layout *l, const struct heap_counters *c, struct heap_state *s);

#endif
