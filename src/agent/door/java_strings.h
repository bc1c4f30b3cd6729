/*
 * java_strings.h - texts on their way from Java code to ours and back, and exceptions.
 *
 * On threads of the JVM, in normal code, with no exception pending.
 */
#ifndef JSTROBE_DOOR_JAVA_STRINGS_H
#define JSTROBE_DOOR_JAVA_STRINGS_H

#include <jni.h>
#include <stdbool.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

/*
 * STRING (may be NULL) as UTF-8 with a NUL at its end, in OUT. -EINVAL: it is null, too long for options, or has
 * characters that no option has (0, half of a surrogate pair).
 */
int java_text(JNIEnv *env, jstring string, struct buffer *out, struct error *err);
/* TEXT as a String; what is no UTF-8 becomes U+FFFD. NULL with an exception: it is too long, or the heap is full. */
jstring java_string(JNIEnv *env, const char *text, size_t length);
/* TEXT as bytes; the same. */
jbyteArray java_bytes(JNIEnv *env, const char *text, size_t length);
/* An exception of CLASS ("java/io/IOException") that says TEXT is pending afterwards. */
void java_throw(JNIEnv *env, const char *class, const char *text);

#define JAVA_ARGUMENT "java/lang/IllegalArgumentException"
#define JAVA_STATE "java/lang/IllegalStateException"
#define JAVA_IO "java/io/IOException"

#endif
