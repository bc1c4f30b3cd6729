/*
 * lock_events.h - how the event `lock` hears that a thread begins to wait, and that it waits no more.
 *
 *   contended monitors, Object.wait   JVMTI's four monitor events; virtual threads get them, too
 *   LockSupport.park and its kin,     native methods bound to functions of ours (lock_bind.c); of virtual threads
 *   Thread.sleep on request           JVMTI's events of their switches (lock_park.c)
 *
 * No class of the program or the JDK is changed.
 *
 * Callbacks run on the waiting thread; what the lock is and who holds it is found out before it sleeps
 * (lock_identity.c), and kept in agent/sources/lock/lock_waits.c.
 */
#ifndef JSTROBE_SOURCES_LOCK_LOCK_EVENTS_H
#define JSTROBE_SOURCES_LOCK_LOCK_EVENTS_H

#include <jvmti.h>

#include "agent/sources/lock/lock_waits.h"
#include "common/base/buffer.h"
#include "common/base/error.h"

/* As in struct engine_ops. If the session goes on in another one, ends of waits are told in between. */
int lock_listen(struct buffer *notes, struct error *err);
void lock_listen_no_more(bool goes_on);
void lock_vm_init(void);
void lock_vm_death(void);

/* ---- between the files ---- */

/*
 * THREAD, the running one, begins to wait for LOCK (NULL: not known), as B says, whose kind, skip and method are set.
 * When; 0 = it is not needed.
 */
uint64_t agent_wait_begin(JNIEnv *env, jthread thread, jobject lock, struct wait_begin *b);
/* Thread.getId of THREAD, 0 = none. */
uint64_t agent_wait_thread(JNIEnv *env, jthread thread);
/* Fields and classes of the JDK that are read. False: this JDK does not have them. */
bool waits_lock_open(JNIEnv *env, jvmtiEnv *ti);
/* What LOCK is, into B: class and identity; the owner of a synchroniser of java.util.concurrent. */
void waits_lock_read(JNIEnv *env, jobject lock, struct wait_begin *b);
/* The object that THREAD says it parks for, NULL = none. */
jobject waits_lock_blocker(JNIEnv *env, jthread thread);

/* A native method of the JDK that is bound to OURS, with the same arguments; it calls THEIRS. */
struct waits_native {
	const char *class_name;
	const char *names[4];  /* by which it may go in this JDK */
	const char *signature;
	bool is_static;
	void *ours;
	void *known;           /* what the JDK binds it to; NULL: is found out */
	void *theirs;          /* what was bound before us; set once, by waits_bind */
};
/* Bind N unless it is; for the life of the JVM. One at a time. */
int waits_bind(JNIEnv *env, jvmtiEnv *ti, struct waits_native *n, struct error *err);

/* Let parks and sleeps be told of, or no longer. NOTES gets what cannot be. */
void waits_park_begin(JNIEnv *env, jvmtiEnv *ti, bool parks, bool sleeps, struct buffer *notes);
void waits_park_end(void);

#endif
