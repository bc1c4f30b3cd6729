/*
 * trace_events.h - what the JVM tells a tracing session of threads and their waits. Attached threads, normal code; the
 * events come on the threads they are about.
 */
#ifndef JSTROBE_TRACING_TRACE_EVENTS_H
#define JSTROBE_TRACING_TRACE_EVENTS_H

#include <jvmti.h>

#include "common/base/error.h"

/* An environment of the session's own in *TI, with its capabilities and callbacks; once, then it stays. */
int trace_events_init(jvmtiEnv **ti, struct error *err);
/* Events of threads that end, and if so wanted of those that wait, on or off. */
void trace_events_listen(jvmtiEnv *ti, bool on, bool waits);

#endif
