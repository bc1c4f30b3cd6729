/*
 * fallback.h - JVMs that cannot be walked, but can be asked: AsyncGetCallTrace.
 */
#ifndef JSTROBE_JVM_FALLBACK_H
#define JSTROBE_JVM_FALLBACK_H

#include <jvmti.h>

#include "common/hotspot/layout.h"

/*
 * Whether the JVM of L, which layout_read has refused, can be asked instead. Then all sessions of
 * this process do so. Normal code, session lock held.
 */
bool fallback_take(const struct layout *l);
/* Whether it was taken. */
bool fallback_taken(void);
/*
 * Let handlers ask from now on; without effect unless taken. Of a session each begin is undone by
 * fallback_end. The JVM is up, ENV is the caller's,
 * whose thread is a Java thread. Enables events of TI and makes jmethodIDs for all methods, which the
 * JVM keeps. When something it needs is missing, stacks show native frames only.
 */
void fallback_begin(jvmtiEnv *ti, JNIEnv *env);
/* Let no handler ask any more. */
void fallback_end(jvmtiEnv *ti);

/* JVMTI callbacks. */
void JNICALL fallback_class_load(jvmtiEnv *ti, JNIEnv *env, jthread thread, jclass class);
void JNICALL fallback_class_prepare(jvmtiEnv *ti, JNIEnv *env, jthread thread, jclass class);

#endif
