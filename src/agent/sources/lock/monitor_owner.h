/*
 * monitor_owner.h - who holds a monitor, read from the JVM's own memory by loads that may fault.
 *
 *   JDK 24+    ObjectMonitor::_owner is the Thread.getId of the owner
 *   ..23       it is the owner's JavaThread*, or, if the owner had locked the object before any thread had to wait,
 *              the place on the owner's stack where that is noted (LM_LEGACY)
 *   21+        or 1: the owner is the thread that has the object on its lock stack (LM_LIGHTWEIGHT; default from 23 on)
 *
 * No safepoint, no handshake, no JVMTI: GetObjectMonitorUsage stops the program. What cannot be proved is left open.
 */
#ifndef JSTROBE_SOURCES_LOCK_MONITOR_OWNER_H
#define JSTROBE_SOURCES_LOCK_MONITOR_OWNER_H

#include "agent/sources/lock/lock_waits.h"

/*
 * The owner of the monitor that the running thread, of record R, waits to enter, into B; left alone when it cannot be
 * known. HANDLE: where the object's address is, a JNI reference. Within MonitorContendedEnter, R entered.
 */
void waits_monitor_owner(const struct thread_record *r, const void *handle, struct wait_begin *b);
/* The system's number of the thread of JAVA_THREAD, a JavaThread*, if it is alive and known; else 0. R entered. */
uint32_t waits_tid_of(uintptr_t java_thread);
/* The record of the thread that holds what B waits for, or carries it; NULL: not known. */
struct thread_record *waits_owner_record(const struct wait_begin *b);

#endif
