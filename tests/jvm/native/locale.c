/* locale.c - the native methods of truth.Locales: what a library of the program does to the whole process. */
#include <errno.h>
#include <jni.h>
#include <libintl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

JNIEXPORT jboolean JNICALL Java_truth_Locales_choose(JNIEnv *env, jclass class, jstring name)
{
	const char *text = (*env)->GetStringUTFChars(env, name, NULL);
	jboolean chosen = text && setlocale(LC_ALL, text) != NULL;

	(*env)->ReleaseStringUTFChars(env, name, text);
	return chosen;
}

/* What printf puts between 2 and 73. */
JNIEXPORT jint JNICALL Java_truth_Locales_point(JNIEnv *env, jclass class)
{
	return (unsigned char)localeconv()->decimal_point[0];
}

/* The texts of libc's errors are those of the catalogs in FOLDER; what ENOENT is then. */
JNIEXPORT jstring JNICALL Java_truth_Locales_errors(JNIEnv *env, jclass class, jstring folder)
{
	const char *text = (*env)->GetStringUTFChars(env, folder, NULL);

	if (text)
		bindtextdomain("libc", text);
	(*env)->ReleaseStringUTFChars(env, folder, text);
	return (*env)->NewStringUTF(env, strerror(ENOENT));
}
