#include "agent/jvm/jvm_functions.h"

#include <string.h>

#include "agent/zone/load.h"
#include "agent/zone/zone.h"

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

jclass java_class_quietly(JNIEnv *env, const char *name)
{
	jclass class_class = (*env)->FindClass(env, "java/lang/Class"), found;
	jmethodID for_name = (*env)->GetStaticMethodID(env, class_class, "forName",
						       "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
	jstring text = (*env)->NewStringUTF(env, name);

	found = text ? (*env)->CallStaticObjectMethod(env, class_class, for_name, text, JNI_FALSE, NULL) : NULL;
	if (java_clear(env))
		found = NULL;
	(*env)->DeleteLocalRef(env, text);
	(*env)->DeleteLocalRef(env, class_class);
	return found;
}

/* Class NAME of the boot loader, loaded and linked. */
static jclass linked(JNIEnv *env, const char *name)
{
	jclass class_class = (*env)->FindClass(env, "java/lang/Class"), found = java_class_quietly(env, name);
	jmethodID methods =
		(*env)->GetMethodID(env, class_class, "getDeclaredMethods", "()[Ljava/lang/reflect/Method;");

	/* links it, which nothing of JNI or JVMTI does alone */
	if (found)
		(*env)->DeleteLocalRef(env, (*env)->CallObjectMethod(env, found, methods));
	java_clear(env);
	(*env)->DeleteLocalRef(env, class_class);
	return found;
}

static bool is_named(jvmtiEnv *ti, jmethodID id, const char *name, const char *signature)
{
	char *its_name, *its_signature;
	bool same;

	if ((*ti)->GetMethodName(ti, id, &its_name, &its_signature, NULL))
		return false;
	same = strcmp(its_name, name) == 0 && strcmp(its_signature, signature) == 0;
	(*ti)->Deallocate(ti, (unsigned char *)its_name);
	(*ti)->Deallocate(ti, (unsigned char *)its_signature);
	return same;
}

jmethodID java_method_quietly(JNIEnv *env, jvmtiEnv *ti, const char *class_name, const char *name,
			      const char *signature)
{
	jclass class = linked(env, class_name);
	jmethodID *methods, found = NULL;
	jint i, count;

	if (class && !(*ti)->GetClassMethods(ti, class, &count, &methods)) {
		for (i = 0; i < count && !found; i++)
			found = is_named(ti, methods[i], name, signature) ? methods[i] : NULL;
		(*ti)->Deallocate(ti, (unsigned char *)methods);
	}
	(*env)->DeleteLocalRef(env, class);
	return found;
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
