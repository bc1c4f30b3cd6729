/*
 * fallback.c - what AsyncGetCallTrace wants before a handler may call it (forte.cpp):
 *
 * - ClassLoad events switched on, or it refuses to answer
 * - a jmethodID for each method: it makes none itself, a method without one has no name.
 *   GetClassMethods makes them; the JVM keeps them for ever, so it is done in this mode only
 * - the thread's JNIEnv, which lies inside its JavaThread, at one distance in all of them
 *
 * And what the Zero VM does not export: where an OSThread keeps the thread's id. It is found by
 * looking for our own, and believed if all Java threads have a different living thread's there.
 */
#include "agent/jvm/fallback.h"

#include "agent/jvm/jvm.h"
#include "agent/jvm/jvm_functions.h"
#include "agent/zone/load.h"
#include "agent/zone/zone.h"
#include "common/os/os.h"

#define OSTHREAD_BYTES 512 /* of an OSThread are searched */
#define THREADS_CHECKED 64

static bool taken;

bool fallback_take(const struct layout *l)
{
	/* From 26 on (8268406) a jmethodID does not lead to its Method*. */
	taken = l->unwalked && l->jdk <= 25 && l->thread_osthread >= 0 && l->thread_state >= 0 &&
		l->method_const >= 0 && l->const_pool >= 0 && l->const_name >= 0 &&
		l->const_signature >= 0 && l->const_size && l->pool_size && l->pool_holder >= 0 &&
		l->klass_name >= 0 && l->symbol_body >= 0 &&
		layout_symbol("AsyncGetCallTrace");
	return taken;
}

bool fallback_taken(void)
{
	return taken;
}

static void make_ids(jvmtiEnv *ti, jclass class)
{
	jmethodID *methods = NULL;
	jint count;

	if ((*ti)->GetClassMethods(ti, class, &count, &methods) == JVMTI_ERROR_NONE)
		(*ti)->Deallocate(ti, (unsigned char *)methods);
}

void JNICALL fallback_class_load(jvmtiEnv *ti, JNIEnv *env, jthread thread, jclass class)
{
	/* That it is called is all AsyncGetCallTrace wants. */
}

void JNICALL fallback_class_prepare(jvmtiEnv *ti, JNIEnv *env, jthread thread, jclass class)
{
	make_ids(ti, class);
}

static void make_all_ids(jvmtiEnv *ti, JNIEnv *env)
{
	jclass *classes = NULL;
	jint i, count;

	if ((*ti)->GetLoadedClasses(ti, &count, &classes))
		return;
	java_room(env, count);
	for (i = 0; i < count; i++) {
		make_ids(ti, classes[i]);
		(*env)->DeleteLocalRef(env, classes[i]);
	}
	(*ti)->Deallocate(ti, (unsigned char *)classes);
}

/* The OSThreads of living Java threads; *OWN the calling thread's JavaThread. */
static unsigned os_threads(jvmtiEnv *ti, JNIEnv *env, uintptr_t *os_thread, uintptr_t *own)
{
	jthread *threads = NULL, self;
	unsigned n = 0;
	jint i, count;

	*own = 0;
	if ((*ti)->GetCurrentThread(ti, &self))
		return 0;
	*own = jvm_thread_behind(env, self);
	(*env)->DeleteLocalRef(env, self);
	if ((*ti)->GetAllThreads(ti, &count, &threads))
		return 0;
	java_room(env, count);
	for (i = 0; i < count; i++) {
		uintptr_t thread = jvm_thread_behind(env, threads[i]);

		if (thread && n < THREADS_CHECKED &&
		    load_word(thread + (uintptr_t)zone.layout.thread_osthread, &os_thread[n]) && os_thread[n])
			n++;
		(*env)->DeleteLocalRef(env, threads[i]);
	}
	(*ti)->Deallocate(ti, (unsigned char *)threads);
	return n;
}

/* Whether all have the id of a thread of this process at OFFSET, each another one. */
static bool ids_at(const uintptr_t *os_thread, unsigned n, uint32_t offset)
{
	uint32_t tid[THREADS_CHECKED];
	unsigned i, j;

	for (i = 0; i < n; i++) {
		if (!load_u32(os_thread[i] + offset, &tid[i]) || !os_thread_exists((pid_t)tid[i]))
			return false;
		for (j = 0; j < i; j++)
			if (tid[j] == tid[i])
				return false;
	}
	return true;
}

static bool find_tid(jvmtiEnv *ti, JNIEnv *env, uintptr_t *own)
{
	uintptr_t os_thread[THREADS_CHECKED], mine;
	unsigned n = os_threads(ti, env, os_thread, own);
	uint32_t offset, tid;

	if (n < 2 || !*own || !load_word(*own + (uintptr_t)zone.layout.thread_osthread, &mine))
		return false;
	for (offset = 0; offset < OSTHREAD_BYTES; offset += 4)
		if (load_u32(mine + offset, &tid) && (pid_t)tid == os_gettid() &&
		    ids_at(os_thread, n, offset)) {
			zone.layout.osthread_tid = (int32_t)offset;
			return true;
		}
	return false;
}

void fallback_begin(jvmtiEnv *ti, JNIEnv *env)
{
	uintptr_t own;
	void *agct;

	if (!taken || !find_tid(ti, env, &own))
		return;
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_LOAD, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
	make_all_ids(ti, env);
	zone.agct_env = (uintptr_t)env - own;
	agct = layout_symbol("AsyncGetCallTrace");
	atomic_store(&zone.agct, (void (*)(void *, int32_t, void *))agct);
}

void fallback_end(jvmtiEnv *ti)
{
	if (!taken)
		return;
	atomic_store(&zone.agct, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_LOAD, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
}
