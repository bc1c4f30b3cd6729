/*
 * trace_result.h - from the threads' trees to what the writers show.
 */
#ifndef JSTROBE_AGENT_TRACE_RESULT_H
#define JSTROBE_AGENT_TRACE_RESULT_H

#include "agent/trace_classes.h"
#include "format/calls.h"

/*
 * Read all trees as they are now, BY_THREAD or merged; threads go on. C's methods are those of CLASSES, whose texts
 * it borrows, under trace_classes_lock. Head fields are the caller's to fill in. -ENOMEM.
 */
int trace_result_read(struct calls *c, const struct trace_classes *classes, bool by_thread);
void trace_result_free(struct calls *c);

#endif
