/*
 * jvm.h - what the agent asks of the JVM through JVMTI and JNI.
 *
 * All functions need an attached thread in normal code.
 */
#ifndef JSTROBE_JVM_JVM_H
#define JSTROBE_JVM_JVM_H

#include <jvmti.h>
#include <sys/types.h>

#include "common/base/error.h"

struct collector;

/*
 * Make the JVMTI environment and set the callbacks. AT_LOAD: from Agent_OnLoad, the JVM
 * is not up yet. Idempotent. -ENOTSUP when this JVM gives none.
 */
int jvm_init(JavaVM *vm, bool at_load, struct error *err);
/*
 * Make the running thread a daemon thread of the JVM called NAME. False: not now (it is starting, or gone). The
 * thread that attaches comes this way: asked before VMInit, or after VMDeath, a JVM crashes or keeps the thread for
 * ever.
 */
bool jvm_attach(const char *name);
void jvm_detach(void);

/* The running thread's JNI functions; NULL when it is not attached. Another JVMTI environment, NULL: none. */
JNIEnv *jvm_jni(void);
jvmtiEnv *jvm_environment(void);
/* VMInit has been: all of JVMTI and JNI may be used. */
bool jvm_is_live(void);
/* A thread of the JVM's stands here for as long as all of them stand at a safepoint; any other thread goes on. */
void jvm_stand_at_safepoint(void);

/* Let the JVM name the code it generated so far, for stubs_merge. Before a session begins. */
void jvm_generated_code(void);
/*
 * A session is about to begin, whose samples are told one by one: C gets the names of Java threads first. Undone by
 * jvm_session_end.
 */
void jvm_session_names(struct collector *c);
/* A session begins: events on, Java threads made known. C gets thread names. */
void jvm_session_begin(struct collector *c);
/* It ends: events off, names of all living threads brought up to date. */
void jvm_session_end(void);
/* The running session hears that CLASS_NAME (with slashes) is about to be redefined, or was. */
void jvm_tell_redefined(const char *class_name);
/* Bring the names of all living threads up to date. */
void jvm_name_threads(void);

/* The JavaThread* behind a java.lang.Thread; 0 when it has none (any more). */
uintptr_t jvm_thread_behind(JNIEnv *env, jthread thread);
/* The OS thread of a JavaThread*, 0: it has none (yet), or this JVM does not tell. */
pid_t jvm_tid(uintptr_t thread);
/* The OS thread of one, and its Thread.getId; 0 when it has none (any more), or it cannot be had. */
pid_t jvm_thread_id(JNIEnv *env, jthread thread);
uint64_t jvm_java_id(JNIEnv *env, jthread thread);
/* OS thread TID is called NAME (as JVMTI spells it); JAVA_ID 0: none of Java's. For the running session, if any. */
void jvm_give_name(pid_t tid, uint64_t java_id, const char *name);

/* Main class or jar without its arguments, "" if not known (yet). Static text. */
const char *jvm_main_class(void);
/* "17.0.15+6-Debian-1deb12u1", "" if not known (yet). Static text. */
const char *jvm_version(void);

/* Call trigger_exhausted when the Java heap or threads are used up. -ENOTSUP: this JVM does not say so. */
int jvm_watch_exhaustion(bool on, struct error *err);

/* Call FN with each system property as the JVM knows it (what Java code sets is not among them). */
void jvm_each_property(void (*fn)(const char *key, const char *value, void *arg), void *arg);

/*
 * Let compilers record where inlined code is between safepoints too, from now on (what is
 * compiled already stays coarse); only if the flag is at its default. And put it back.
 */
void jvm_debug_non_safepoints(bool on);

#endif
