/*
 * trace_context_read.h - what a thread works for at this moment, read from the table that the program writes
 * (trace_context.h) or from its record of OpenTelemetry. Signal zone.
 */
#ifndef JSTROBE_ZONE_TRACE_CONTEXT_READ_H
#define JSTROBE_ZONE_TRACE_CONTEXT_READ_H

#include "agent/zone/trace_context.h"

struct thread_record;

/*
 * What Java thread THREAD (Thread.getId, 0 = none), or the thread of R, works for now. False: nothing, or it cannot be
 * told at this moment; OUT is all 0 then. Any context; R may be another thread's that is held or waits.
 */
bool trace_context_of(uint64_t thread, struct trace_context *out);
bool trace_context_of_record(const struct thread_record *r, struct trace_context *out);

#endif
