/*
 * lock_bind.c - native methods of the JDK that are bound to functions of ours, which call what was bound before.
 *
 * Why not probes in the JDK's classes: the first change of a class in a JVM that was not started for it makes the JVM
 * throw all compiled code away. The JVM warns on stdout of those who bind natives of the JDK from outside of it, so the
 * class jstrobe.Waits does, one of the boot loader; it is defined once and stays.
 *
 * A method that was bound stays so, for the life of the JVM: at each binding the JVM leaves the code behind that it
 * made to call the one before (JDK-8369219), and another agent may have taken our function for what it passes on to.
 * Between sessions ours do nothing but that.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "agent/jvm/jvm_functions.h"
#include "agent/sources/lock/lock_events.h"
#include "agent/zone/zone.h"
#include "waits_class.h"

#define WAITS_CLASS "jstrobe/Waits"
#define BIND_SIGNATURE "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;J)I"

static jclass binder;
static jmethodID bind;

/* ---- the class that binds ---- */

static jint JNICALL bind_now(JNIEnv *env, jclass class, jclass to, jstring name, jstring signature, jlong function)
{
	JNINativeMethod m = {.fnPtr = (void *)(uintptr_t)function};
	jint rc = JNI_ENOMEM;

	m.name = (char *)(uintptr_t)(*env)->GetStringUTFChars(env, name, NULL);
	m.signature = m.name ? (char *)(uintptr_t)(*env)->GetStringUTFChars(env, signature, NULL) : NULL;
	if (m.signature)
		rc = (*env)->RegisterNatives(env, to, &m, 1);
	if (m.signature)
		(*env)->ReleaseStringUTFChars(env, signature, m.signature);
	if (m.name)
		(*env)->ReleaseStringUTFChars(env, name, m.name);
	return rc;
}

static int define(JNIEnv *env, struct error *err)
{
	static const JNINativeMethod natives[] = {{(char *)"bindNow", (char *)BIND_SIGNATURE, bind_now}};
	jclass class;

	if (binder)
		return 0;
	class = java_define(env, WAITS_CLASS, class_Waits, sizeof(class_Waits));
	if (java_clear(env) || !class)
		return error_set(err, EEXIST, "the class " WAITS_CLASS " cannot be defined; has another build of "
				 "jstrobe watched this JVM? Start it anew");
	bind = (*env)->GetStaticMethodID(env, class, "bind", BIND_SIGNATURE);
	if (java_clear(env) || (*env)->RegisterNatives(env, class, natives, ARRAY_LEN(natives))) {
		java_clear(env);
		(*env)->DeleteGlobalRef(env, class);
		return error_set(err, ENOTSUP, "the JVM does not bind the functions of " WAITS_CLASS);
	}
	binder = class;
	return 0;
}

static int bind_to(JNIEnv *env, jclass to, const char *name, const char *signature, void *function)
{
	jint rc = JNI_ENOMEM;
	jstring a, b;

	a = (*env)->NewStringUTF(env, name);
	b = a ? (*env)->NewStringUTF(env, signature) : NULL;
	if (b)
		rc = (*env)->CallStaticIntMethod(env, binder, bind, to, a, b, (jlong)(uintptr_t)function);
	if (java_clear(env))
		rc = JNI_ERR;
	(*env)->DeleteLocalRef(env, b);
	(*env)->DeleteLocalRef(env, a);
	return rc;
}

/* ---- what is bound now ---- */

/* The method of N in this JDK; NULL: none that is native. */
static jmethodID find(JNIEnv *env, jvmtiEnv *ti, jclass class, const struct waits_native *n, const char **name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(n->names) && n->names[i]; i++) {
		jboolean native = JNI_FALSE;
		jmethodID id = n->is_static ? (*env)->GetStaticMethodID(env, class, n->names[i], n->signature)
					    : (*env)->GetMethodID(env, class, n->names[i], n->signature);

		*name = n->names[i];
		if (!java_clear(env) && id && (*ti)->IsMethodNative(ti, id, &native) == JVMTI_ERROR_NONE && native)
			return id;
	}
	return NULL;
}

/* The function that ID is bound to: it stands behind the Method. NULL = this JDK does not say. */
static void *bound_to(jmethodID id)
{
	uintptr_t method = java_method(id);

	if (!method || !zone.layout.method_size)
		return NULL;
	return *(void **)(method + (uintptr_t)zone.layout.method_size);
}

/* ---- what the JDK itself binds, where that is not said ---- */

static struct {
	pthread_t thread;
	const struct waits_native *native;
	void *found;
	jint(JNICALL *real)(JNIEnv *, jclass, const JNINativeMethod *, jint);
} asked;

/* In place of JNI's RegisterNatives, for everybody, while registerNatives of a class runs on our thread. */
static jint JNICALL note_natives(JNIEnv *env, jclass class, const JNINativeMethod *methods, jint count)
{
	jint i;

	if (!pthread_equal(asked.thread, pthread_self()))
		return asked.real(env, class, methods, count);
	for (i = 0; i < count; i++)
		if (strcmp(methods[i].name, asked.native->names[0]) == 0 &&
		    strcmp(methods[i].signature, asked.native->signature) == 0)
			asked.found = methods[i].fnPtr;
	return JNI_OK;
}

static void *ask_class(JNIEnv *env, jvmtiEnv *ti, jclass class, const struct waits_native *n)
{
	jmethodID id = (*env)->GetStaticMethodID(env, class, "registerNatives", "()V");
	jniNativeInterface *table;

	asked.found = NULL;
	if (java_clear(env) || !id || (*ti)->GetJNIFunctionTable(ti, &table))
		return NULL;
	asked.thread = pthread_self();
	asked.native = n;
	asked.real = table->RegisterNatives;
	table->RegisterNatives = note_natives;
	if ((*ti)->SetJNIFunctionTable(ti, table) == JVMTI_ERROR_NONE) {
		(*env)->CallStaticVoidMethod(env, class, id);
		java_clear(env);
		table->RegisterNatives = asked.real;
		(*ti)->SetJNIFunctionTable(ti, table);
	}
	(*ti)->Deallocate(ti, (unsigned char *)table);
	return asked.found;
}

/* ---- the door ---- */

/* CLASS's method ID, called NAME, gets our function, unless it has it. */
static int put(JNIEnv *env, jvmtiEnv *ti, jclass class, struct waits_native *n, jmethodID id, const char *name,
	       struct error *err)
{
	void *now = bound_to(id);

	if (n->theirs && (!now || now == n->ours))
		return 0;
	/* It may lead to ours, so that a call would go in circles. */
	if (n->theirs && now != n->theirs)
		return error_set(err, EBUSY, "another agent has bound %s.%s since", n->class_name, name);
	if (!n->theirs)
		n->theirs = now ? now : n->known ? n->known : ask_class(env, ti, class, n);
	if (!n->theirs)
		return error_set(err, ENOTSUP, "this JDK does not say what %s.%s is bound to", n->class_name, name);
	if (bind_to(env, class, name, n->signature, n->ours))
		return error_set(err, ENOTSUP, "the JVM does not let %s.%s be bound", n->class_name, name);
	return 0;
}

int waits_bind(JNIEnv *env, jvmtiEnv *ti, struct waits_native *n, struct error *err)
{
	jclass class = (*env)->FindClass(env, n->class_name);
	const char *name = NULL;
	jmethodID id;
	int rc;

	if (java_clear(env) || !class)
		return error_set(err, ENOENT, "there is no %s", n->class_name);
	id = find(env, ti, class, n, &name);
	rc = id ? define(env, err) : error_set(err, ENOTSUP, "this JDK's %s is not as expected", n->class_name);
	if (rc == 0)
		rc = put(env, ti, class, n, id, name, err);
	(*env)->DeleteLocalRef(env, class);
	return rc;
}
