/*
 * java_load.c - Java code loads the library: the class that does so gets its native methods.
 *
 * async-profiler's class is moved to other packages by those who take it along, and JMH has a class of its own. Natives
 * are found by their names only where the class has kept its own, so they are bound here to the class that called
 * System.load: the one on the stack behind the frames of System and Runtime.
 */
#include <jvmti.h>
#include <string.h>

#include "agent/door/entry.h"
#include "agent/door/java_api.h"
#include "agent/jvm/jvm.h"
#include "agent/jvm/jvm_functions.h"
#include "agent/jvm/log.h"

#define FRAMES 32 /* of the JDK there are seven or so */

/* Whether CLASS has a method that loads a library for its caller. */
static bool is_loader(jvmtiEnv *ti, jclass class)
{
	char *signature;
	bool is;

	if ((*ti)->GetClassSignature(ti, class, &signature, NULL))
		return false;
	is = strcmp(signature, "Ljava/lang/System;") == 0 || strcmp(signature, "Ljava/lang/Runtime;") == 0;
	(*ti)->Deallocate(ti, (unsigned char *)signature);
	return is;
}

/* The class that called System.load, loadLibrary, or Runtime's; NULL: none is known. */
static jclass who_loads(jvmtiEnv *ti, JNIEnv *env)
{
	jvmtiFrameInfo frames[FRAMES];
	bool seen = false;
	jclass class;
	jint i, count;

	if ((*ti)->GetStackTrace(ti, NULL, 0, FRAMES, frames, &count))
		return NULL;
	for (i = 0; i < count; i++) {
		if ((*ti)->GetMethodDeclaringClass(ti, frames[i].method, &class))
			return NULL;
		if (is_loader(ti, class))
			seen = true;
		else if (seen)
			return class;
		(*env)->DeleteLocalRef(env, class);
	}
	return NULL;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	struct error err;
	JNIEnv *env;
	jvmtiEnv *ti;
	jclass class;

	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
		return JNI_ERR;
	if (entry_begin(vm, false, &err)) {
		/* the same is said by each call */
		log_error("%s", err.text);
		return JNI_VERSION_1_6;
	}
	ti = jvm_environment();
	class = ti ? who_loads(ti, env) : NULL;
	if (class) {
		java_api_bind(env, class);
		(*env)->DeleteLocalRef(env, class);
	}
	if (ti)
		(*ti)->DisposeEnvironment(ti);
	return JNI_VERSION_1_6;
}
