#include "agent/java.h"

#include <string.h>

#include "signal/load.h"
#include "signal/zone.h"

#define GET_MODULE 233        /* JNI, from JDK 9 on */
#define IS_VIRTUAL_THREAD 234 /* JNI, from JDK 21 on */
#define ADD_MODULE_READS 93   /* JVMTI, from JDK 9 on: function 94 */
#define ROOM_BEYOND 32        /* references that are made while those of a list are there */
#define JMETHOD_NUMBERS 26
#define JNI_9 0x00090000
#define JNI_21 0x00150000

bool java_is_virtual(JNIEnv *env, jthread thread)
{
	jboolean(JNICALL * ask)(JNIEnv *, jobject);

	if ((*env)->GetVersion(env) < JNI_21)
		return false;
	memcpy(&ask, (const void *const *)*env + IS_VIRTUAL_THREAD, sizeof(ask));
	return ask(env, thread);
}

void java_room(JNIEnv *env, jint references)
{
	/* a warning is all that -Xcheck:jni has for who goes beyond; the JVM makes room anyhow */
	if ((*env)->EnsureLocalCapacity(env, references + ROOM_BEYOND))
		java_clear(env);
}

bool java_open_door(JNIEnv *env, jvmtiEnv *ti, jclass from, jclass to)
{
	jobject(JNICALL * module_of)(JNIEnv *, jclass);
	jvmtiError(JNICALL * add_reads)(jvmtiEnv *, jobject, jobject);
	jobject reader, read;
	bool done;

	if ((*env)->GetVersion(env) < JNI_9)
		return false;
	memcpy(&module_of, (const void *const *)*env + GET_MODULE, sizeof(module_of));
	memcpy(&add_reads, (const void *const *)*ti + ADD_MODULE_READS, sizeof(add_reads));
	reader = module_of(env, from);
	read = module_of(env, to);
	done = reader && read && add_reads(ti, reader, read) == JVMTI_ERROR_NONE;
	(*env)->DeleteLocalRef(env, reader);
	(*env)->DeleteLocalRef(env, read);
	return done;
}

bool java_clear(JNIEnv *env)
{
	bool thrown = (*env)->ExceptionCheck(env);

	(*env)->ExceptionClear(env);
	return thrown;
}

uintptr_t java_method(jmethodID id)
{
	uintptr_t method;

	if (zone.layout.jdk >= JMETHOD_NUMBERS || !load_word((uintptr_t)id, &method) || (method & 7))
		return 0;
	return method;
}

jclass java_define(JNIEnv *env, const char *name, const unsigned char *bytes, size_t size)
{
	jclass local = (*env)->DefineClass(env, name, NULL, (const jbyte *)bytes, (jsize)size), global = NULL;

	if (local)
		global = (*env)->NewGlobalRef(env, local);
	(*env)->DeleteLocalRef(env, local);
	return global;
}
