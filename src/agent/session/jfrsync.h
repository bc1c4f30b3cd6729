/*
 * jfrsync.h - the JDK's own flight recording beside ours (jfrsync=…): garbage collections, safepoints, I/O and
 * whatever else it knows. It runs as long as the session; its chunks are put behind ours when both have ended.
 *
 *   spec: a configuration of the JDK (default, profile, or a .jfc file) and events to switch on, either or
 *   both, as in "default", "+jdk.GarbageCollection+jdk.FileRead#threshold=1ms", "profile+jdk.ObjectCount"
 *
 * What a recording of ours has itself is switched off there, so that nothing is told twice; all that is in no
 * list after a +.
 *
 * Normal code, without the session's lock: Java code runs in here.
 */
#ifndef JSTROBE_SESSION_JFRSYNC_H
#define JSTROBE_SESSION_JFRSYNC_H

#include "common/base/error.h"

/* Begin as SPEC says; if the JVM is not up yet, as soon as it is. 0, or a negative errno with the reason. */
int jfrsync_begin(const char *spec, struct error *err);
/* VMInit has been. Failures go to the log: the program has begun by then. */
void jfrsync_vm_init(void);
/*
 * End it. A descriptor of what it recorded (the file has no name any more), the caller's; -ENOENT: none was
 * running; else why there is nothing to read.
 */
int jfrsync_end(struct error *err);

#endif
