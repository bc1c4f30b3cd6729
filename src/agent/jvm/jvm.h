/*
 * jvm.h - what the agent asks of the JVM through JVMTI and JNI.
 *
 * All functions need an attached thread in normal code.
 */
#ifndef JSTROBE_JVM_JVM_H
#define JSTROBE_JVM_JVM_H

#include <jni.h>
#include <jvmti.h>
#include <sys/types.h>

#include "common/base/error.h"

/* What later rooms are told: by the JVM, on the thread that it concerns, and by rooms between. None is NULL. */
struct jvm_events {
	void (*vm_init)(void);        /* calls jvm_is_up() */
	void (*vm_death)(void);
	void (*thread_start)(JNIEnv *env, jthread thread);
	void (*thread_end)(JNIEnv *env, jthread thread);
	void (*exhausted)(void);      /* the Java heap or threads are used up; after jvm_watch_exhaustion() */
	void (*named)(pid_t tid, uint64_t java_id, const char *name);
	void (*redefined)(const char *class_name);
};

/*
 * Make the JVMTI environment and set the callbacks, which tell EVENTS (kept). AT_LOAD: from Agent_OnLoad, the JVM
 * is not up yet. Idempotent. -ENOTSUP when this JVM gives none.
 */
int jvm_init(JavaVM *vm, bool at_load, const struct jvm_events *events, struct error *err);
/*
 * There is no JVM in this process yet, and perhaps never: functions below that ask one say that there is none, and what
 * rooms tell each other goes to TOLD (kept).
 */
void jvm_may_come(const struct jvm_events *told);
/* The JVM that was made in this process, whether we know it or not; NULL: none was. Any thread in normal code. */
JavaVM *jvm_created(void);
/* jvm_init has been. Any thread, no lock. */
bool jvm_is_known(void);
/* VMInit has come: from here on all of JVMTI and JNI may be used. */
void jvm_is_up(void);
/*
 * Make the running thread a daemon thread of the JVM called NAME. False: not now (it is starting, or gone). The
 * thread that attaches comes this way: asked before VMInit, or after VMDeath, a JVM crashes or keeps the thread for
 * ever.
 */
bool jvm_attach(const char *name);
void jvm_detach(void);

/* The running thread's JNI functions; NULL when it is not attached, LIVE: or before VMInit or after VMDeath. */
JNIEnv *jvm_jni(void);
JNIEnv *jvm_live_jni(void);
/* The JVMTI environment whose callbacks tell struct jvm_events; a new one, NULL: none. */
jvmtiEnv *jvm_own(void);
jvmtiEnv *jvm_environment(void);
/* VMInit has been: all of JVMTI and JNI may be used. */
bool jvm_is_live(void);
/* A thread of the JVM's stands here for as long as all of them stand at a safepoint; any other thread goes on. */
void jvm_stand_at_safepoint(void);

/* Let the JVM name the code it generated so far, for stubs_merge. Before a session begins. */
void jvm_generated_code(void);
/*
 * A session begins: events of threads and of redefined classes on. The running thread's JNI functions; NULL: the JVM is
 * starting, or this thread is not attached.
 */
JNIEnv *jvm_session_begin(void);
/* It ends: events off. */
void jvm_session_end(void);
/* The JavaThread* behind a java.lang.Thread; 0 when it has none (any more). */
uintptr_t jvm_thread_behind(JNIEnv *env, jthread thread);
/* The OS thread of a JavaThread*, 0: it has none (yet), or this JVM does not tell. */
pid_t jvm_tid(uintptr_t thread);
/* The OS thread of one, and its Thread.getId; 0 when it has none (any more), or it cannot be had. */
pid_t jvm_thread_id(JNIEnv *env, jthread thread);
uint64_t jvm_java_id(JNIEnv *env, jthread thread);
/* OS thread TID is called NAME (as JVMTI spells it); JAVA_ID 0: none of Java's. For the running session, if any. */
void jvm_give_name(pid_t tid, uint64_t java_id, const char *name);

/* Main class or jar without its arguments, the program's name before there is a JVM; "": not known yet. Static. */
const char *jvm_main_class(void);
/* "17.0.15+6-Debian-1deb12u1", "" if not known (yet). Static text. */
const char *jvm_version(void);

/* events.exhausted() is called when the Java heap or threads are used up. -ENOTSUP: this JVM does not say so. */
int jvm_watch_exhaustion(bool on, struct error *err);

/* Call FN with each system property as the JVM knows it (what Java code sets is not among them). */
void jvm_each_property(void (*fn)(const char *key, const char *value, void *arg), void *arg);

/*
 * Let compilers record where inlined code is between safepoints too, from now on (what is
 * compiled already stays coarse); only if the flag is at its default. And put it back.
 */
void jvm_debug_non_safepoints(bool on);

/* Asks Java, once, where the frames of virtual threads lie in the heap (common/hotspot/frozen.h). */

/*
 * Before JDK 21 nothing happens, nor where the JVM has no virtual threads of its own. Classes are loaded, none is
 * initialised. An attached thread, after VMInit.
 */
void agent_frozen_learn(JNIEnv *env);

#endif
