/*
 * class_names.h - numbers for names of classes, given on threads of the program: samples have room for a number alone.
 * Inner header of the sources room.
 */
#ifndef JSTROBE_SOURCES_CLASS_NAMES_H
#define JSTROBE_SOURCES_CLASS_NAMES_H

#include <jvmti.h>

#include "common/base/base.h"

/* Address space for them, once, negative if there is none; what they use goes back. */
int class_names_open(void);
void class_names_release(void);
/* The release that comes leaves number CLASS its name. */
void class_name_keep(uint32_t class);
/* The number of the class NAME (with slashes); 0: there are too many. Any thread. */
uint32_t class_number(const char *name);
/* The number of OBJECT's class; 0 = not known. Attached threads, normal code. */
uint32_t class_number_of(jvmtiEnv *ti, JNIEnv *env, jobject object);
/* The number of CLASS; 0 = not known. Attached threads, normal code. */
uint32_t class_number_of_class(jvmtiEnv *ti, jclass class);
/* The name of a number, NULL = not known; valid until the release. */
const char *class_name_of(uint32_t class);

#endif
