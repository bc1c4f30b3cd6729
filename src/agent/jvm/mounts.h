/*
 * mounts.h - virtual threads that leave their carriers and come back.
 *
 * JVMTI's extension events com.sun.hotspot.events.VirtualThreadUnmount and VirtualThreadMount (JDK 21+), on the
 * carrier's thread. No class is changed for them, and what they cost ends with their environment.
 */
#ifndef JSTROBE_JVM_MOUNTS_H
#define JSTROBE_JVM_MOUNTS_H

#include <jvmti.h>

/* Let both be called (after TI: JNIEnv *, jthread) from now on; NULL: this JVM does not tell. Attached threads. */
jvmtiEnv *mounts_listen(jvmtiExtensionEvent unmount, jvmtiExtensionEvent mount);

#endif
