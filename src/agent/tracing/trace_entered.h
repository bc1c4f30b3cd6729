/*
 * trace_entered.h - methods that were running already when their probes came: those invocations go uncounted, and
 * the result says so.
 */
#ifndef JSTROBE_TRACING_TRACE_ENTERED_H
#define JSTROBE_TRACING_TRACE_ENTERED_H

#include <jvmti.h>

#include "agent/tracing/trace_classes.h"
#include "common/base/vector.h"
#include "profile/model/calls.h"

struct trace_entered {
	VECTOR(struct calls_entered) list;
	struct map known; /* method → place + 1 */
};

/*
 * Look at all platform threads' stacks, at one stop of the program; C has its probes. Attached, normal code. Again
 * after more classes have changed. Without memory the list is shorter.
 */
void trace_entered_look(jvmtiEnv *ti, JNIEnv *env, const struct trace_classes *c, struct trace_entered *e);
void trace_entered_free(struct trace_entered *e);

#endif
