/*
 * waits.h - how the event `lock` hears that a thread begins to wait, and that it waits no more.
 *
 *   contended monitors, Object.wait   JVMTI's four monitor events; virtual threads get them, too
 *   LockSupport.park and its kin      probes in LockSupport, put there by RetransformClasses (waits_park.c)
 *   Thread.sleep, on request          its native method, bound to a function of ours (waits_sleep.c);
 *                                     of virtual threads a probe in VirtualThread (waits_park.c)
 *
 * Callbacks run on the waiting thread; what the lock is and who holds it is found out before it sleeps
 * (waits_lock.c), and kept in engine/waits.c.
 */
#ifndef JSTROBE_AGENT_WAITS_H
#define JSTROBE_AGENT_WAITS_H

#include <jvmti.h>

#include "base/buffer.h"
#include "base/error.h"
#include "engine/waits.h"

/*
 * A session that samples `lock` has begun; without one nothing happens. While the JVM starts the probes come when
 * it is up. PARKS, SLEEPS: watch those as well. NOTES gets what cannot be watched here. Attached threads, normal
 * code, one at a time, as all but the last.
 */
int agent_waits_begin(bool parks, bool sleeps, struct buffer *notes, struct error *err);
/* It ends: probes and events go. Before engine_stop. */
void agent_waits_end(void);
/* The JVM is up. */
void agent_waits_vm_init(void);
/* The JVM ends: nothing needs to be taken out any more. */
void agent_waits_vm_death(void);

/* ---- between the files ---- */

/* THREAD, the running one, begins to wait for LOCK (NULL: not known). When; 0 = nobody wants to know. */
uint64_t agent_wait_begin(JNIEnv *env, jthread thread, jobject lock, enum lock_kind kind,
			  enum wait_method method);
/* Thread.getId of THREAD, 0 = none. */
uint64_t agent_wait_thread(JNIEnv *env, jthread thread);
/* Fields and classes of the JDK that are read. False: this JDK does not have them. */
bool waits_lock_open(JNIEnv *env, jvmtiEnv *ti);
/* What LOCK is, into B: class and identity; the owner of a synchroniser of java.util.concurrent. */
void waits_lock_read(JNIEnv *env, jobject lock, struct wait_begin *b);
/* The object that THREAD says it parks for, NULL = none. */
jobject waits_lock_blocker(JNIEnv *env, jthread thread);

/* The class that probes call, and that binds natives. */
#define WAITS_CLASS "jstrobe/Waits"
/* It, defined if need be: *CLASS lives as long as the JVM. TI with capabilities; one at a time. */
int waits_probe_define(JNIEnv *env, jvmtiEnv *ti, jclass *class, struct error *err);
/* Bind the static native method NAME of TO, with one argument of type long, to FUNCTION. After the above. */
int waits_probe_bind(JNIEnv *env, jclass to, const char *name, uintptr_t function);

/* Let sleeps be told of, or (IN false) no longer. */
int waits_sleep_put(JNIEnv *env, jvmtiEnv *ti, bool in, struct error *err);
/* Put the probes in LockSupport, or in VirtualThread, or (IN false) take them out. TI with capabilities. */
int waits_park_put(JNIEnv *env, jvmtiEnv *ti, bool in, struct error *err);
int waits_park_virtual(JNIEnv *env, jvmtiEnv *ti, bool in, struct error *err);
/* For TI's ClassFileLoadHook. */
void JNICALL waits_park_load(jvmtiEnv *ti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
			     jobject domain, jint size, const unsigned char *bytes, jint *new_size,
			     unsigned char **new_bytes);

#endif
