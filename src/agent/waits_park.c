/*
 * waits_park.c - probes in java.util.concurrent.locks.LockSupport, through which every synchroniser of
 * java.util.concurrent waits, on virtual threads as well.
 *
 * Why not Unsafe.park: a virtual thread does not come there, and the JVM prints a warning when somebody binds a native
 * method of the JDK anew. Why not breakpoints: while one is set the JVM compiles nothing around it.
 * The hook for class files is on only while LockSupport is changed: with a hook classes from the shared archive load
 * slower.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "agent/java.h"
#include "agent/waits.h"
#include "instrument/rewrite.h"
#include "waits_class.h"

#define PARKS "java/util/concurrent/locks/LockSupport"
#define PROBE "jstrobe/Waits"
#define JNI_9 0x00090000

static jvmtiEnv *jvmti;
static jclass probe;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the below */
static bool wanted;
static unsigned changed; /* methods that got probes */

/* ---- the probes ---- */

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

static void JNICALL end(JNIEnv *env, jclass class, jlong began)
{
	jthread thread;

	if (!began || waits_event() < 0 || (*jvmti)->GetCurrentThread(jvmti, &thread) || !thread)
		return;
	waits_end(agent_wait_thread(env, thread), LOCK_PARK, (uint64_t)began);
	(*env)->DeleteLocalRef(env, thread);
}

/* ---- the change ---- */

static bool choose(void *data, const struct rewrite_method *m, uint32_t *id)
{
	static const char *const names[WAIT_METHODS] = {
		[WAIT_METHOD_PARK] = "park", [WAIT_METHOD_PARK_NANOS] = "parkNanos",
		[WAIT_METHOD_PARK_UNTIL] = "parkUntil",
	};

	for (*id = 1; *id < WAIT_METHODS; ++*id)
		if (text_is(&m->member->name, names[*id]))
			return true;
	return false;
}

void JNICALL waits_park_load(jvmtiEnv *ti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
			     jobject domain, jint size, const unsigned char *bytes, jint *new_size,
			     unsigned char **new_bytes)
{
	static const struct rewrite_probes probes = {.class = PROBE, .enter = "begin", .leave = "end", .again = "again",
						     .enter_with = "begin"};
	const struct rewrite r = {.probes = &probes, .choose = choose};
	struct buffer out = BUFFER_INIT;
	unsigned char *copy;
	enum skip why;

	pthread_mutex_lock(&lock);
	if (wanted && name && strcmp(name, PARKS) == 0) {
		changed = rewrite_class(bytes, (size_t)size, &r, &out, &why);
		if (changed && (*ti)->Allocate(ti, (jlong)out.length, &copy) == JVMTI_ERROR_NONE) {
			memcpy(copy, out.data, out.length);
			*new_bytes = copy;
			*new_size = (jint)out.length;
		}
	}
	pthread_mutex_unlock(&lock);
	buffer_free(&out);
}

/* The class that the probes call, once for the life of the JVM. */
static int define(JNIEnv *env, jvmtiEnv *ti, jclass parks, struct error *err)
{
	static const JNINativeMethod natives[] = {
		{(char *)"begin", (char *)"(Ljava/lang/Object;I)J", begin_with},
		{(char *)"begin", (char *)"(I)J", begin},
		{(char *)"end", (char *)"(J)V", end},
	};
	jclass class;

	jvmti = ti;
	if (probe)
		return 0;
	if ((*env)->GetVersion(env) < JNI_9)
		return error_set(err, ENOTSUP, "it needs JDK 11 or newer");
	class = java_define(env, PROBE, class_Waits, sizeof(class_Waits));
	if (java_clear(env) || !class)
		return error_set(err, EEXIST, "the class " PROBE " cannot be defined; has another build of jstrobe "
				 "watched this JVM? Start it anew");
	if ((*env)->RegisterNatives(env, class, natives, ARRAY_LEN(natives)) ||
	    !java_open_door(env, ti, parks, class)) {
		java_clear(env);
		return error_set(err, ENOTSUP, "this JDK does not let " PARKS " call other classes");
	}
	probe = class;
	return 0;
}

static int change(jvmtiEnv *ti, jclass parks, bool in, struct error *err)
{
	jvmtiError rc;

	pthread_mutex_lock(&lock);
	wanted = in;
	changed = 0;
	pthread_mutex_unlock(&lock);
	if (in)
		(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	rc = (*ti)->RetransformClasses(ti, 1, &parks);
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	if (rc || (in && !changed))
		return error_set(err, ENOTSUP, "the JVM does not let " PARKS " be changed (JVMTI error %d)", (int)rc);
	return 0;
}

int waits_park_put(JNIEnv *env, jvmtiEnv *ti, bool in, struct error *err)
{
	jclass parks = (*env)->FindClass(env, PARKS);
	int rc;

	if (java_clear(env) || !parks)
		return error_set(err, ENOENT, "there is no " PARKS);
	rc = in ? define(env, ti, parks, err) : 0;
	if (rc == 0)
		rc = change(ti, parks, in, err);
	(*env)->DeleteLocalRef(env, parks);
	return rc;
}
