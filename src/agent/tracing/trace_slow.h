/*
 * trace_slow.h - calls that took long, each with its stack: kept in memory up to a limit, counted beyond it.
 *
 * A slow call's own thread notes it, when it ends; names are looked up at once, while all classes are there.
 */
#ifndef JSTROBE_TRACING_TRACE_SLOW_H
#define JSTROBE_TRACING_TRACE_SLOW_H

#include <jvmti.h>

#include "common/base/error.h"
#include "profile/model/calls.h"

/* Keep what the probes tell from now on. FIRST: number of the first method. */
void trace_slow_begin(jvmtiEnv *ti, uint32_t first);
/* Nothing is noted after this; what was stays. */
void trace_slow_end(void);
/* Put events, stacks, frames and their texts into C, which owns them then. -ENOMEM. */
int trace_slow_read(struct calls *c);
void trace_slow_forget(void);

#endif
