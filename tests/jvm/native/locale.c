/* locale.c - the native methods of truth.Locales: what a library of the program does to the whole process. */
#include <jni.h>
#include <locale.h>

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
