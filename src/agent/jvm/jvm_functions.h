/*
 * jvm_functions.h - functions of JNI and JVMTI that headers of older JDKs do not have, by their places in the JVM's
 * tables.
 *
 * Attached threads, normal code.
 */
#ifndef JSTROBE_JVM_JVM_FUNCTIONS_H
#define JSTROBE_JVM_JVM_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <jvmti.h>

/* False before JDK 21. */
bool java_is_virtual(JNIEnv *env, jthread thread);
/* The module of FROM may call class TO from now on. False: it may not, or there are no modules (JDK 8). */
bool java_open_door(JNIEnv *env, jvmtiEnv *ti, jclass from, jclass to);
/* The caller holds so many local references at a time, as JVMTI gives them with a list; the thread is to have room. */
void java_room(JNIEnv *env, jint references);
/* Forget the exception that was thrown; whether there was one. */
bool java_clear(JNIEnv *env);
/* The Method* of ID; 0 from JDK 26 on, where a jmethodID is a number (8268406), or if there is none. */
uintptr_t java_method(jmethodID id);
/* Class NAME (with dots) of the boot loader, loaded but not initialised, as FindClass would. NULL: there is none. */
jclass java_class_quietly(JNIEnv *env, const char *name);
/*
 * Method NAME with SIGNATURE of class CLASS_NAME (with dots) of the boot loader, which is loaded and linked but not
 * initialised, as FindClass would: what its initialiser starts, a program may never need. NULL: there is none.
 */
jmethodID java_method_quietly(JNIEnv *env, jvmtiEnv *ti, const char *class_name, const char *name,
			      const char *signature);
/* Class NAME for the boot loader, a global reference; NULL with an exception, or out of memory. */
jclass java_define(JNIEnv *env, const char *name, const unsigned char *bytes, size_t size);

#endif
