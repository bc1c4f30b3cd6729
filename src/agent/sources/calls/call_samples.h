/*
 * call_samples.h - calls of chosen Java methods as samples: each, or one in so many, with the stack of its callers.
 */
#ifndef JSTROBE_SOURCES_CALLS_CALL_SAMPLES_H
#define JSTROBE_SOURCES_CALLS_CALL_SAMPLES_H

#include "common/base/base.h"

/*
 * A call of a method with probes ends now on this thread, whose Java code has come here by OWN frames of the probes.
 * An attached thread in native code, which the JVM lets run on its own: nothing of the JVM is called.
 */
void calls_called(uint32_t own);

#endif
