/*
 * java_api.h - native methods for Java code: of one.profiler.AsyncProfiler, under whatever name a class has them, and
 * of jstrobe.Profiler. Commands go the way of all others, to the control thread; the Java thread waits for it.
 *
 * Class loaders load copies of the library, each under a name of its own. They pass calls on to the one that has a
 * session, or else to the first copy, so that one profiler serves a JVM.
 */
#ifndef JSTROBE_DOOR_JAVA_API_H
#define JSTROBE_DOOR_JAVA_API_H

#include <jni.h>

/* Show other copies that Java code may call this one. Normal code. */
void java_api_show(void);
/* Bind those native methods that CLASS has. An attached thread. */
void java_api_bind(JNIEnv *env, jclass class);

#endif
