/*
 * java_threads.h - the Java threads of a running session: which thread of the system each one is, its name and id, and
 * whether `filter` lets it in. Told by the JVM's events, and listed when a session begins and a result is made.
 */
#ifndef JSTROBE_THREADS_JAVA_THREADS_H
#define JSTROBE_THREADS_JAVA_THREADS_H

#include <jni.h>
#include <stdbool.h>

/* A session begins: events on, Java threads made known and named. On a thread of the JVM, in normal code. */
void java_threads_begin_session(void);
/* It ends: events off. */
void java_threads_end_session(void);
/* Tell the names of all living threads anew, by jvm_give_name(). On a thread of the JVM, in normal code. */
void java_threads_name(void);

/*
 * Sessions with the option `filter` shall sample THREAD (NULL: the running one), or not (any more), whatever their list
 * says. One that has not begun, or has ended, is nothing. On a thread of the JVM, in normal code.
 */
void java_threads_let(JNIEnv *env, jobject thread, bool in);

/* What the JVM tells (struct jvm_events), on the thread that it is about. */
void java_threads_vm_init(void);
void java_threads_start(JNIEnv *env, jobject thread);
void java_threads_end(JNIEnv *env, jobject thread);

#endif
