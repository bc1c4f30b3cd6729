/*
 * perf_data.h - the JVM's performance data (jvmstat): named counters in one region of memory, unless
 * -XX:-UsePerfData.
 */
#ifndef JSTROBE_HOTSPOT_PERF_DATA_H
#define JSTROBE_HOTSPOT_PERF_DATA_H

#include "common/hotspot/layout.h"

/*
 * Call FN with each number there is by now. VALUE is where the JVM keeps it, good for as long as the process lives,
 * also after the JVM's end. Normal code, any thread.
 */
void perf_data_each(const struct layout *l, void (*fn)(const char *name, const uint64_t *value, void *arg),
		    void *arg);

#endif
