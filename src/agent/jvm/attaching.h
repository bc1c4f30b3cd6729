/*
 * attaching.h - no native thread is half attached while the JVM makes its first JVMTI environment.
 *
 * From JDK 21 on (JDK-8311556; the sources of 26 have it still) the first environment in a running JVM, whichever
 * agent's, makes the JVM go through all threads at a safepoint (SetNotifyJvmtiEventsMode). It dies of a thread that
 * AttachCurrentThread() has put into the list but has not given its java.lang.Thread yet. Threads stand there where
 * they wait for memory.
 */
#ifndef JSTROBE_JVM_ATTACHING_H
#define JSTROBE_JVM_ATTACHING_H

#include <jni.h>

#include "common/base/error.h"

/*
 * Threads that begin to attach themselves wait until attaching_go_on(), ten seconds at most. Those that are at it are
 * waited for, two seconds at most; where one is half attached even then, it is refused (EAGAIN). Nothing before JDK 21.
 * On a thread of the JVM, in native code; by one at a time. STAND_AT_SAFEPOINT returns when no safepoint is on.
 * attaching_go_on() in any case.
 */
int attaching_hold(JavaVM *vm, void (*stand_at_safepoint)(void), struct error *err);
void attaching_go_on(JavaVM *vm);

#endif
