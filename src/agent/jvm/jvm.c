#include "agent/jvm/jvm.h"

#include <errno.h>
#include <jvmti.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/fallback.h"
#include "agent/jvm/half_attached.h"
#include "agent/jvm/jvm_functions.h"
#include "agent/jvm/redefine.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "common/hotspot/flags.h"
#include "common/hotspot/layout.h"
#include "common/hotspot/stubs.h"

static JavaVM *vm;
static jvmtiEnv *ti;
static atomic_bool live;      /* VMInit has been: all of JVMTI and JNI may be used */
static const struct jvm_events *events;
static char main_class[1024], version[128];

/* ---- what later rooms are told ---- */

void jvm_give_name(pid_t tid, uint64_t java_id, const char *name)
{
	events->named(tid, java_id, name);
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	events->thread_start(env, thread);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	events->thread_end(env, thread);
}

static void JNICALL on_exhausted(jvmtiEnv *jvmti, JNIEnv *env, jint flags, const void *reserved,
				 const char *description)
{
	events->exhausted();
}

/* ---- generated code ---- */

static void JNICALL on_code(jvmtiEnv *jvmti, const char *name, const void *address, jint length)
{
	stubs_note(name, (uintptr_t)address, (uintptr_t)address + (uintptr_t)length);
	/* While the JVM starts: from here on its code can be walked. */
	if (zone.has_jvm && !atomic_load(&zone.layout.code_ready))
		layout_refresh(&zone.layout);
}

/* ---- life of the JVM ---- */

static void read_property(const char *name, char *out, size_t size)
{
	char *value;

	if ((*ti)->GetSystemProperty(ti, name, &value))
		return;
	strncpy(out, value, size - 1);
	(*ti)->Deallocate(ti, (unsigned char *)value);
}

void jvm_each_property(void (*fn)(const char *key, const char *value, void *arg), void *arg)
{
	char **keys, *value;
	jint i, count;

	if (!ti || (*ti)->GetSystemProperties(ti, &count, &keys))
		return;
	for (i = 0; i < count; i++) {
		if ((*ti)->GetSystemProperty(ti, keys[i], &value) == 0) {
			fn(keys[i], value, arg);
			(*ti)->Deallocate(ti, (unsigned char *)value);
		}
		(*ti)->Deallocate(ti, (unsigned char *)keys[i]);
	}
	(*ti)->Deallocate(ti, (unsigned char *)keys);
}

static void read_facts(void)
{
	if (main_class[0] == '\0') {
		read_property("sun.java.command", main_class, sizeof(main_class));
		main_class[strcspn(main_class, " ")] = '\0';
	}
	if (version[0] == '\0')
		read_property("java.vm.version", version, sizeof(version));
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	events->vm_init();
}

void jvm_is_up(void)
{
	atomic_store(&live, true);
	read_facts();
	fallback_begin(ti, jvm_jni());
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
	events->vm_death();
	atomic_store(&zone.vm_exiting, true);
	atomic_store(&live, false);
}

static void enable(bool on, jvmtiEvent event)
{
	if (ti)
		(*ti)->SetEventNotificationMode(ti, on ? JVMTI_ENABLE : JVMTI_DISABLE, event, NULL);
}

int jvm_watch_exhaustion(bool on, struct error *err)
{
	jvmtiCapabilities wanted;

	memset(&wanted, 0, sizeof(wanted));
	wanted.can_generate_resource_exhaustion_heap_events = 1;
	wanted.can_generate_resource_exhaustion_threads_events = 1;
	if (on && (!ti || (*ti)->AddCapabilities(ti, &wanted)))
		return error_set(err, ENOTSUP, "onoom: this JVM does not tell of OutOfMemoryErrors");
	enable(on, JVMTI_EVENT_RESOURCE_EXHAUSTED);
	return 0;
}

void jvm_may_come(const struct jvm_events *told)
{
	events = told;
}

JavaVM *jvm_created(void)
{
	jint (*get)(JavaVM **, jsize, jsize *) = (jint (*)(JavaVM **, jsize, jsize *))
		layout_symbol("JNI_GetCreatedJavaVMs");
	JavaVM *made = NULL;
	jsize count = 0;

	return get && get(&made, 1, &count) == JNI_OK && count ? made : NULL;
}

bool jvm_is_known(void)
{
	return ti != NULL;
}

int jvm_init(JavaVM *java, bool at_load, const struct jvm_events *told, struct error *err)
{
	jvmtiEventCallbacks callbacks;
	int held = 0;
	jint rc;

	if (ti)
		return 0;
	vm = java;
	events = told;
	if (!at_load)
		held = attaching_hold(vm, jvm_stand_at_safepoint, err);
	rc = held ? JNI_ERR : (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2);
	if (rc != JNI_OK)
		ti = NULL;
	if (!at_load)
		attaching_go_on(vm);
	if (held)
		return held;
	/* between VMStart and VMInit there is no JVMTI; from JDK 21 on the JVM loads no agent then */
	if (!ti && rc == JNI_EDETACHED)
		return error_set(err, EAGAIN, "the JVM is just starting up: try again in a moment");
	if (!ti)
		return error_set(err, ENOTSUP, "this JVM offers no JVMTI: its threads cannot be found");
	memset(&callbacks, 0, sizeof(callbacks));
	callbacks.VMInit = on_vm_init;
	callbacks.VMDeath = on_vm_death;
	callbacks.ThreadStart = on_thread_start;
	callbacks.ThreadEnd = on_thread_end;
	callbacks.DynamicCodeGenerated = on_code;
	callbacks.ClassLoad = fallback_class_load;
	callbacks.ClassPrepare = fallback_class_prepare;
	callbacks.ResourceExhausted = on_exhausted;
	(*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks));
	enable(true, JVMTI_EVENT_VM_DEATH);
	if (at_load) {
		enable(true, JVMTI_EVENT_VM_INIT);
		enable(true, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	} else {
		atomic_store(&live, true);
		read_facts();
	}
	return 0;
}

bool jvm_attach(const char *name)
{
	JavaVMAttachArgs args = {.version = JNI_VERSION_1_6, .name = (char *)(uintptr_t)name};
	JNIEnv *env;

	/* Before VMInit the JVM takes the thread into a list that is not made yet, and dies of it; later it waits. */
	return atomic_load(&live) && (*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, &args) == JNI_OK;
}

void jvm_detach(void)
{
	(*vm)->DetachCurrentThread(vm);
}

JNIEnv *jvm_jni(void)
{
	JNIEnv *env;

	return vm && (*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK ? env : NULL;
}

void jvm_stand_at_safepoint(void)
{
	JNIEnv *env = jvm_jni();

	/* each function but a few enters the JVM, and waits at its door */
	if (env)
		(*env)->ExceptionCheck(env);
}

jvmtiEnv *jvm_environment(void)
{
	jvmtiEnv *jvmti;

	return vm && (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) == JNI_OK ? jvmti : NULL;
}

bool jvm_is_live(void)
{
	return atomic_load(&live);
}

JNIEnv *jvm_live_jni(void)
{
	return jvm_is_live() ? jvm_jni() : NULL;
}

jvmtiEnv *jvm_own(void)
{
	return ti;
}

/* ---- sessions ---- */

void jvm_generated_code(void)
{
	enable(true, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	if (atomic_load(&live))
		(*ti)->GenerateEvents(ti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
}

JNIEnv *jvm_session_begin(void)
{
	JNIEnv *env;

	if (!ti)
		return NULL;
	redefine_watch(ti, events->redefined);
	enable(true, JVMTI_EVENT_THREAD_START);
	enable(true, JVMTI_EVENT_THREAD_END);
	env = jvm_live_jni();
	if (env)
		fallback_begin(ti, env);
	return env;
}

void jvm_session_end(void)
{
	enable(false, JVMTI_EVENT_THREAD_START);
	enable(false, JVMTI_EVENT_THREAD_END);
	enable(false, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	if (!ti)
		return;
	fallback_end(ti);
	redefine_unwatch();
}

const char *jvm_main_class(void)
{
	return ti ? main_class : program_invocation_short_name;
}

const char *jvm_version(void)
{
	return version;
}

void jvm_debug_non_safepoints(bool on)
{
	static bool changed;

	if (on && !changed && zone.has_jvm)
		changed = flag_set_default_bool(&zone.layout, "DebugNonSafepoints", true);
	else if (!on && changed)
		changed = !flag_write_bool(&zone.layout, "DebugNonSafepoints", false);
}
