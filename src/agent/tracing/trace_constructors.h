/*
 * trace_constructors.h - constructors that are gone from the stack without an exit.
 *
 * The JVM's verifier allows no handler around the call of super() or this(). An exception out of there leaves the tree
 * at that constructor until an instrumented method further out ends or catches it; and where only code without probes
 * catches it (a loop that goes on), all calls after it would be in a place where they were not made. So where a
 * constructor is on top when a call finds no place below it yet, or a tick is due, the stack says whether it still
 * runs. Neither happens often.
 */
#ifndef JSTROBE_TRACING_TRACE_CONSTRUCTORS_H
#define JSTROBE_TRACING_TRACE_CONSTRUCTORS_H

#include <jvmti.h>

#include "common/bytecode/classfile.h"

/* Method ID of class CLASS_NAME ("com/acme/Order") has probes and that name and type. One thread at a time. */
void trace_constructors_note(uint32_t id, const struct text *class_name, const struct text *name,
			     const struct text *type);
/* Whether method ID is a constructor that was noted. */
bool trace_constructors_has(uint32_t id);
/* Whether that one runs on this thread, not counting the call of it that just enters its probe. */
bool trace_constructors_runs(jvmtiEnv *ti, JNIEnv *env, uint32_t id);

#endif
