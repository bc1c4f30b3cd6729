/*
 * reference_fields.h - classes, and their fields by the numbers that JVMTI gives them in the heap, as Java spells them.
 *
 * JVMTI counts the fields of all interfaces of a class first, then those of its superclasses from Object on, then its
 * own. Normal code, attached.
 */
#ifndef JSTROBE_LIVE_REFERENCE_FIELDS_H
#define JSTROBE_LIVE_REFERENCE_FIELDS_H

#include <jvmti.h>

#include "common/base/buffer.h"

/* How many fields the interfaces of CLASS and of its superclasses have. */
jint reference_fields_of_interfaces(jvmtiEnv *ti, JNIEnv *env, jclass class);
/* Append BEFORE and field INDEX of CLASS, called by the class that declares it: "java.util.HashMap.table". */
void reference_fields_put(jvmtiEnv *ti, JNIEnv *env, jclass class, jint index, const char *before, struct buffer *out);
/* Append BEFORE and "java.lang.Object[]" */
void reference_fields_put_class(jvmtiEnv *ti, jclass class, const char *before, struct buffer *out);
/* " of Shop.serve" */
void reference_fields_put_method(jvmtiEnv *ti, JNIEnv *env, jmethodID method, struct buffer *out);

#endif
