/*
 * trace_result.h - from the threads' trees to what the writers show.
 */
#ifndef JSTROBE_TRACING_TRACE_RESULT_H
#define JSTROBE_TRACING_TRACE_RESULT_H

#include "agent/tracing/trace_classes.h"
#include "agent/tracing/trace_entered.h"
#include "profile/model/calls.h"

/*
 * Read all trees as they are now, with ticks each PERIOD ns, BY_THREAD or merged; threads go on. C's methods are those
 * of CLASSES, under trace_classes_lock. Head fields are the caller's to fill in. -ENOMEM.
 */
int trace_result_read(struct calls *c, const struct trace_classes *classes, const struct trace_entered *entered,
		      uint64_t period, bool by_thread);
/* From when on C's methods were counted in a trace that began at BEGAN (monotonic ns); as above. */
void trace_result_since(struct calls *c, const struct trace_classes *classes, uint64_t began);
void trace_result_free(struct calls *c);

#endif
