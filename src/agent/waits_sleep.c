/*
 * waits_sleep.c - Thread.sleep as a wait, on request: the native method behind it is bound to a function of ours, which
 * calls the JVM's own.
 *
 *   JDK 8..18   Thread.sleep(long)       JVM_Sleep
 *   JDK 19..    Thread.sleep0(long)      JVM_Sleep
 *   later       Thread.sleepNanos0(long) JVM_SleepNanos
 *
 * Why not probes in java.lang.Thread: whoever changes a class takes from frames of its old methods the proof of
 * their names (signal/era.h), and Thread.run is the root of nearly every stack. The JVM warns on stdout of anybody who
 * binds natives of the JDK from outside of it, so jstrobe.Waits does, a class of the boot loader. Virtual threads do
 * not come here: java.lang.VirtualThread is changed for them, which is in their stacks alone.
 */
#include <errno.h>
#include <string.h>

#include "agent/java.h"
#include "agent/waits.h"
#include "signal/zone.h"

#define JMETHOD_POINTS 26 /* JDK from which on a jmethodID does not lead to its Method* (8268406) */

static jvmtiEnv *jvmti;
static void (JNICALL *own)(JNIEnv *env, jclass class, jlong time); /* the JVM's; stays, for there are late callers */
static const char *bound; /* the method that is bound to ours; NULL = none */

static void JNICALL watched(JNIEnv *env, jclass class, jlong time)
{
	uint64_t id = 0, began = 0;
	jthread thread;

	if (waits_event() >= 0 && (*jvmti)->GetCurrentThread(jvmti, &thread) == JVMTI_ERROR_NONE && thread) {
		id = agent_wait_thread(env, thread);
		began = agent_wait_begin(env, thread, NULL, LOCK_SLEEP, WAIT_NO_METHOD);
		(*env)->DeleteLocalRef(env, thread);
	}
	own(env, class, time);
	/* An InterruptedException may be on its way: JNI must not be called any more. */
	if (began)
		waits_end(id, LOCK_SLEEP, began);
}

/* ---- begin and end of a session ---- */

/* The JDK's native method that sleeps; NULL = none that is known. */
static const char *find_method(JNIEnv *env, jclass thread, jmethodID *id)
{
	static const char *const names[] = {"sleepNanos0", "sleep0", "sleep"};
	jboolean native = JNI_FALSE;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		*id = (*env)->GetStaticMethodID(env, thread, names[i], "(J)V");
		if (!java_clear(env) && *id && (*jvmti)->IsMethodNative(jvmti, *id, &native) == JVMTI_ERROR_NONE &&
		    native)
			return names[i];
	}
	return NULL;
}

/* The function that ID is bound to: it stands behind the Method. 0 = this JDK does not say. */
static uintptr_t bound_to(jmethodID id)
{
	const uintptr_t *method;

	if (zone.layout.jdk >= JMETHOD_POINTS || !zone.layout.method_size)
		return 0;
	memcpy(&method, id, sizeof(method));
	return method[(size_t)zone.layout.method_size / sizeof(*method)];
}

static int put(JNIEnv *env, jclass thread, struct error *err)
{
	void *theirs = layout_symbol("JVM_SleepNanos");
	jmethodID id;
	const char *name = find_method(env, thread, &id);
	uintptr_t now = name ? bound_to(id) : 0;

	if (!theirs)
		theirs = layout_symbol("JVM_Sleep");
	if (!name || !theirs)
		return error_set(err, ENOTSUP, "this JDK's Thread.sleep is not as expected");
	if (now && now != (uintptr_t)theirs)
		return error_set(err, EBUSY, "somebody else, another agent perhaps, has bound Thread.sleep");
	memcpy(&own, &theirs, sizeof(own));
	if (waits_probe_bind(env, thread, name, (uintptr_t)watched))
		return error_set(err, ENOTSUP, "the JVM does not let Thread.%s be bound", name);
	bound = name;
	return 0;
}

static void take_out(JNIEnv *env, jclass thread)
{
	jmethodID id;
	uintptr_t now = find_method(env, thread, &id) ? bound_to(id) : 0;

	/* Whoever came after us goes on; he calls ours, which by now does nothing but sleep. */
	if (!now || now == (uintptr_t)watched)
		waits_probe_bind(env, thread, bound, (uintptr_t)own);
	bound = NULL;
}

int waits_sleep_put(JNIEnv *env, jvmtiEnv *ti, bool in, struct error *err)
{
	jclass probe, thread;
	int rc = 0;

	if (in == (bound != NULL))
		return 0;
	jvmti = ti;
	thread = (*env)->FindClass(env, "java/lang/Thread");
	if (java_clear(env) || !thread)
		return error_set(err, ENOENT, "there is no java.lang.Thread");
	if (in) {
		rc = waits_probe_define(env, ti, &probe, err);
		rc = rc ? rc : put(env, thread, err);
	} else {
		take_out(env, thread);
	}
	(*env)->DeleteLocalRef(env, thread);
	return rc;
}
