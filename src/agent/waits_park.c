/*
 * waits_park.c - probes in java.util.concurrent.locks.LockSupport, through which every synchroniser of
 * java.util.concurrent waits, on virtual threads as well; and, on request, in VirtualThread.sleepNanos.
 *
 * Why not Unsafe.park: a virtual thread does not come there, and the JVM prints a warning when somebody binds a native
 * method of the JDK anew. Why not breakpoints: while one is set the JVM compiles nothing around it.
 * The hook for class files is on only while classes are changed: with a hook classes from the shared archive load
 * slower.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "agent/java.h"
#include "agent/waits.h"
#include "instrument/rewrite.h"

#define PARKS "java/util/concurrent/locks/LockSupport"
#define JNI_9 0x00090000

#define SLEEPS "java/lang/VirtualThread"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the below */
static bool wanted;
static unsigned changed; /* methods that got probes */

/* ---- the change ---- */

static bool choose(void *class_name, const struct rewrite_method *m, uint32_t *id)
{
	for (*id = 1; *id < WAIT_METHODS; ++*id)
		if (strcmp(wait_method_names[*id].class, class_name) == 0 &&
		    text_is(&m->member->name, wait_method_names[*id].method))
			return true;
	return false;
}

void JNICALL waits_park_load(jvmtiEnv *ti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
			     jobject domain, jint size, const unsigned char *bytes, jint *new_size,
			     unsigned char **new_bytes)
{
	static const struct rewrite_probes parks = {.class = WAITS_CLASS, .enter = "begin", .leave = "end",
						    .again = "again", .enter_with = "begin"};
	static const struct rewrite_probes sleeps = {.class = WAITS_CLASS, .enter = "beginSleep",
						     .leave = "endSleep", .again = "again"};
	bool sleep = name && strcmp(name, SLEEPS) == 0;
	const struct rewrite r = {.probes = sleep ? &sleeps : &parks, .data = (char *)(uintptr_t)name,
				  .choose = choose};
	struct buffer out = BUFFER_INIT;
	unsigned char *copy;
	enum skip why;

	pthread_mutex_lock(&lock);
	if (wanted && name && (sleep || strcmp(name, PARKS) == 0)) {
		changed += rewrite_class(bytes, (size_t)size, &r, &out, &why);
		if (out.length && (*ti)->Allocate(ti, (jlong)out.length, &copy) == JVMTI_ERROR_NONE) {
			memcpy(copy, out.data, out.length);
			*new_bytes = copy;
			*new_size = (jint)out.length;
		}
	}
	pthread_mutex_unlock(&lock);
	buffer_free(&out);
}

/* CLASS may call the class that the probes are of. */
static int open_door(JNIEnv *env, jvmtiEnv *ti, jclass class, struct error *err)
{
	jclass probe;
	int rc;

	if ((*env)->GetVersion(env) < JNI_9)
		return error_set(err, ENOTSUP, "it needs JDK 11 or newer");
	rc = waits_probe_define(env, ti, &probe, err);
	if (rc == 0 && !java_open_door(env, ti, class, probe)) {
		java_clear(env);
		rc = error_set(err, ENOTSUP, "this JDK does not let its classes call other ones");
	}
	return rc;
}

static int change(jvmtiEnv *ti, jclass class, bool in, struct error *err)
{
	jvmtiError rc;

	pthread_mutex_lock(&lock);
	wanted = in;
	changed = 0;
	pthread_mutex_unlock(&lock);
	if (in)
		(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	rc = (*ti)->RetransformClasses(ti, 1, &class);
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	if (rc || (in && !changed))
		return error_set(err, ENOTSUP, "the JVM does not let the class be changed (JVMTI error %d)", (int)rc);
	return 0;
}

static int put(JNIEnv *env, jvmtiEnv *ti, const char *name, bool in, struct error *err)
{
	jclass class = (*env)->FindClass(env, name);
	int rc;

	if (java_clear(env) || !class)
		return error_set(err, ENOENT, "there is no %s", name);
	rc = in ? open_door(env, ti, class, err) : 0;
	if (rc == 0)
		rc = change(ti, class, in, err);
	(*env)->DeleteLocalRef(env, class);
	return rc;
}

int waits_park_put(JNIEnv *env, jvmtiEnv *ti, bool in, struct error *err)
{
	return put(env, ti, PARKS, in, err);
}

int waits_park_virtual(JNIEnv *env, jvmtiEnv *ti, bool in, struct error *err)
{
	return put(env, ti, SLEEPS, in, err);
}
