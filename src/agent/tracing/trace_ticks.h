/*
 * trace_ticks.h - the thread that tells all probes each period to take the time. Normal code, one at a time.
 */
#ifndef JSTROBE_TRACING_TRACE_TICKS_H
#define JSTROBE_TRACING_TRACE_TICKS_H

#include "common/base/error.h"

/* Tick each PERIOD ns. The tree has begun. */
int trace_ticks_start(uint64_t period, struct error *err);
/* No tick comes after this. */
void trace_ticks_stop(void);

#endif
