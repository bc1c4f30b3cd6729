#include "agent/door/java_strings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"

#define TEXT_MAX 65536u           /* bytes of options: the longest that mean something are some KB */
#define RESULT_MAX 0x3fffffffu    /* bytes of a result */

/* -EINVAL: not all of TEXT is characters, as the JVM's own kind of UTF-8 spells them. */
static int check(const char *text, struct error *err)
{
	const unsigned char *begin = (const unsigned char *)text, *p = begin;
	uint32_t c = 1;
	size_t n;

	for (; *p; p += n) {
		n = utf8_length(p);
		if (!n)
			n = utf8_foreign(p, &c);
		if (c == 0 || c == 0xfffd)
			return error_set(err, EINVAL, "options: %s behind the first %zu bytes; remove it",
					 c ? "half of a surrogate pair stands" : "a character 0 stands",
					 (size_t)(p - begin));
	}
	return 0;
}

int java_text(JNIEnv *env, jstring string, struct buffer *out, struct error *err)
{
	const char *chars;
	jsize length;
	int rc;

	if (!string)
		return error_set(err, EINVAL, "options: null; say what to do, as in start,event=cpu");
	length = (*env)->GetStringUTFLength(env, string);
	if ((size_t)length > TEXT_MAX)
		return error_set(err, EINVAL, "options: %d bytes are too long; at most %u are possible", (int)length,
				 TEXT_MAX);
	chars = (*env)->GetStringUTFChars(env, string, NULL);
	if (!chars) {
		(*env)->ExceptionClear(env);
		return error_set(err, ENOMEM, "options: out of memory");
	}
	rc = check(chars, err);
	if (rc == 0)
		utf8_put(out, chars);
	(*env)->ReleaseStringUTFChars(env, string, chars);
	buffer_putc(out, '\0');
	if (rc == 0 && out->failed)
		rc = error_set(err, ENOMEM, "options: out of memory");
	return rc;
}

/* TEXT as UTF-16 in CHARS, which has room for a unit a byte; the number of units. */
static size_t to_utf16(const char *text, size_t length, jchar *chars)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + length;
	size_t count = 0, n;
	uint32_t c;

	for (; p < end; p += n) {
		n = utf8_length(p); /* a NUL stands at END: no sequence reaches beyond it */
		c = n ? utf8_character(p, n) : 0xfffd;
		n = n ? n : 1;
		if (c >= 0x10000) {
			chars[count++] = (jchar)(0xd800 + ((c - 0x10000) >> 10));
			c = 0xdc00 + ((c - 0x10000) & 0x3ff);
		}
		chars[count++] = (jchar)c;
	}
	return count;
}

static bool fits(JNIEnv *env, size_t length)
{
	char text[120];

	if (length <= RESULT_MAX)
		return true;
	snprintf(text, sizeof(text), "the result has %zu bytes, at most %u are possible; name a file for it", length,
		 RESULT_MAX);
	java_throw(env, JAVA_STATE, text);
	return false;
}

jstring java_string(JNIEnv *env, const char *text, size_t length)
{
	jchar *chars;
	jstring string;

	if (!fits(env, length))
		return NULL;
	chars = malloc((length + 1) * sizeof(*chars));
	if (!chars) {
		java_throw(env, JAVA_STATE, "out of memory for the result; name a file for it");
		return NULL;
	}
	string = (*env)->NewString(env, chars, (jsize)to_utf16(text, length, chars));
	free(chars);
	return string;
}

jbyteArray java_bytes(JNIEnv *env, const char *text, size_t length)
{
	jbyteArray bytes = fits(env, length) ? (*env)->NewByteArray(env, (jsize)length) : NULL;

	if (bytes)
		(*env)->SetByteArrayRegion(env, bytes, 0, (jsize)length, (const jbyte *)text);
	return bytes;
}

void java_throw(JNIEnv *env, const char *class_name, const char *text)
{
	jclass class = (*env)->FindClass(env, class_name);
	jmethodID make = class ? (*env)->GetMethodID(env, class, "<init>", "(Ljava/lang/String;)V") : NULL;
	jstring string = make ? java_string(env, text, strlen(text)) : NULL;
	jthrowable thrown = string ? (*env)->NewObject(env, class, make, string) : NULL;

	/* else another one is pending, as of a heap that is full */
	if (thrown)
		(*env)->Throw(env, thrown);
}
