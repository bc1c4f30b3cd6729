/*
 * perf_data.h - the JVM's performance data (jvmstat): named counters in one region of memory, unless
 * -XX:-UsePerfData.
 */
#ifndef JSTROBE_HOTSPOT_PERF_DATA_H
#define JSTROBE_HOTSPOT_PERF_DATA_H

#include "common/base/vector.h"
#include "common/hotspot/layout.h"

/*
 * Call FN with each number there is by now. VALUE is where the JVM keeps it, good for as long as the process lives,
 * also after the JVM's end. Normal code, any thread.
 */
void perf_data_each(const struct layout *l, void (*fn)(const char *name, const uint64_t *value, void *arg),
		    void *arg);

/*
 * How full the Java heap is, as the JVM's performance data have it: brought up to date at the end of each
 * collection. Nothing with -XX:-UsePerfData.
 */

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
