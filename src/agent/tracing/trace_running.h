/*
 * trace_running.h - which classes run: those whose methods stand on stacks, looked at again and again.
 *
 * A look takes some running threads' stacks and, in turn, a few of those that wait; each thread is held for as long as
 * its own stack takes. Attached thread, normal code.
 */
#ifndef JSTROBE_TRACING_TRACE_RUNNING_H
#define JSTROBE_TRACING_TRACE_RUNNING_H

#include <jvmti.h>

#include "agent/tracing/trace_classes.h"
#include "common/base/map.h"
#include "common/base/vector.h"
#include "profile/model/calls.h"

struct trace_seen {
	struct map methods; /* jmethodID → place of its class in looks */
	struct map classes; /* hash of the name → how often it was on a stack */
	struct map inside;  /* classes on the stack at hand */
	uint32_t turn;      /* where the next look begins */
	uint64_t interval;  /* ns between looks: 10 ms, or more where looks take long */
};

/* Look once. What there is no memory for is not seen. */
void trace_seen_look(struct trace_seen *s, jvmtiEnv *ti, JNIEnv *env);
/* How many stacks had the class whose name has HASH (trace_list.h). */
uint32_t trace_seen_times(const struct trace_seen *s, uint64_t hash);
void trace_seen_free(struct trace_seen *s);

/*
 * Methods that were running already when their probes came: those invocations go uncounted, and
 * the result says so.
 */

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
