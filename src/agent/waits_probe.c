/*
 * waits_probe.c - the class jstrobe.Waits, which probes call as a thread begins to park and is back, and from which
 * natives of the JDK are bound. It is defined once and stays for the life of the JVM.
 */
#include <errno.h>

#include "agent/java.h"
#include "agent/waits.h"
#include "waits_class.h"

static jvmtiEnv *jvmti;
static jclass probe;
static jmethodID bind;

static jlong JNICALL begin_with(JNIEnv *env, jclass class, jobject blocker, jint id)
{
	jobject own = NULL;
	jlong began = 0;
	jthread thread;

	if (waits_event() < 0 || (*jvmti)->GetCurrentThread(jvmti, &thread) || !thread)
		return 0;
	if (!blocker)
		blocker = own = waits_lock_blocker(env, thread);
	began = (jlong)agent_wait_begin(env, thread, blocker, LOCK_PARK, (enum wait_method)id);
	if (own)
		(*env)->DeleteLocalRef(env, own);
	(*env)->DeleteLocalRef(env, thread);
	return began;
}

static jlong JNICALL begin(JNIEnv *env, jclass class, jint id)
{
	return begin_with(env, class, NULL, id);
}

static jlong JNICALL begin_sleep(JNIEnv *env, jclass class, jint id)
{
	jthread thread;
	jlong began;

	if (waits_event() < 0 || (*jvmti)->GetCurrentThread(jvmti, &thread) || !thread)
		return 0;
	began = (jlong)agent_wait_begin(env, thread, NULL, LOCK_SLEEP, (enum wait_method)id);
	(*env)->DeleteLocalRef(env, thread);
	return began;
}

static void end_of(JNIEnv *env, enum lock_kind kind, jlong began)
{
	jthread thread;

	if (!began || waits_event() < 0 || (*jvmti)->GetCurrentThread(jvmti, &thread) || !thread)
		return;
	waits_end(agent_wait_thread(env, thread), kind, (uint64_t)began);
	(*env)->DeleteLocalRef(env, thread);
}

static void JNICALL end(JNIEnv *env, jclass class, jlong began)
{
	end_of(env, LOCK_PARK, began);
}

static void JNICALL end_sleep(JNIEnv *env, jclass class, jlong began)
{
	end_of(env, LOCK_SLEEP, began);
}

static jint JNICALL bind_now(JNIEnv *env, jclass class, jclass to, jstring name, jlong function)
{
	const char *chars = (*env)->GetStringUTFChars(env, name, NULL);
	JNINativeMethod method = {(char *)(uintptr_t)chars, (char *)"(J)V", (void *)(uintptr_t)function};
	jint rc = chars ? (*env)->RegisterNatives(env, to, &method, 1) : JNI_ENOMEM;

	if (chars)
		(*env)->ReleaseStringUTFChars(env, name, chars);
	return rc;
}

int waits_probe_bind(JNIEnv *env, jclass to, const char *name, uintptr_t function)
{
	jstring text = (*env)->NewStringUTF(env, name);
	jint rc = text ? (*env)->CallStaticIntMethod(env, probe, bind, to, text, (jlong)function) : JNI_ENOMEM;

	if (java_clear(env))
		rc = JNI_ERR;
	if (text)
		(*env)->DeleteLocalRef(env, text);
	return rc ? -EINVAL : 0;
}

int waits_probe_define(JNIEnv *env, jvmtiEnv *ti, jclass *defined, struct error *err)
{
	static const JNINativeMethod natives[] = {
		{(char *)"begin", (char *)"(Ljava/lang/Object;I)J", begin_with},
		{(char *)"begin", (char *)"(I)J", begin},
		{(char *)"end", (char *)"(J)V", end},
		{(char *)"beginSleep", (char *)"(I)J", begin_sleep},
		{(char *)"endSleep", (char *)"(J)V", end_sleep},
		{(char *)"bindNow", (char *)"(Ljava/lang/Class;Ljava/lang/String;J)I", bind_now},
	};
	jclass class = probe;

	jvmti = ti;
	*defined = probe;
	if (probe)
		return 0;
	class = java_define(env, WAITS_CLASS, class_Waits, sizeof(class_Waits));
	if (java_clear(env) || !class)
		return error_set(err, EEXIST, "the class " WAITS_CLASS " cannot be defined; has another build of "
				 "jstrobe watched this JVM? Start it anew");
	bind = (*env)->GetStaticMethodID(env, class, "bind", "(Ljava/lang/Class;Ljava/lang/String;J)I");
	if (!bind || (*env)->RegisterNatives(env, class, natives, ARRAY_LEN(natives))) {
		java_clear(env);
		return error_set(err, ENOTSUP, "the JVM does not bind the functions of " WAITS_CLASS);
	}
	*defined = probe = class;
	return 0;
}
