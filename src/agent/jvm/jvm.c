#include "agent/jvm/jvm.h"

#include <errno.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/collect/collector.h"
#include "agent/door/entry.h"
#include "agent/jvm/attaching.h"
#include "agent/jvm/fallback.h"
#include "agent/jvm/frozen_fields.h"
#include "agent/jvm/jvm_functions.h"
#include "agent/jvm/redefine.h"
#include "agent/sample/handler.h"
#include "agent/sample/zone.h"
#include "agent/session/control_thread.h"
#include "agent/session/jfrsync.h"
#include "agent/session/trigger.h"
#include "agent/sources/lock/lock_events.h"
#include "agent/sources/wall/vthread_events.h"
#include "agent/threads/records.h"
#include "agent/threads/thread_hook.h"
#include "agent/threads/wanted.h"
#include "agent/tracing/tracing.h"
#include "common/base/error.h"
#include "common/base/vector.h"
#include "common/hotspot/flags.h"
#include "common/hotspot/stubs.h"
#include "common/os/os.h"

static JavaVM *vm;
static jvmtiEnv *ti;
static atomic_bool live;      /* VMInit has been: all of JVMTI and JNI may be used */
static atomic_bool in_session;
/* in_session, account, ended. Nothing of the JVM's is called while it is held. */
static pthread_rwlock_t session_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct collector *account;
static char main_class[1024], version[128];

/* ---- threads ---- */

/*
 * What the JVM says of a thread. It is asked while session_lock is not held: a debugger may suspend who asks for as
 * long as it likes.
 */
struct told {
	uintptr_t java;  /* its JavaThread; 0 = none (any more) */
	uint64_t id;
	jvmtiThreadInfo info;
	jvmtiThreadGroupInfo group; /* if `filter` asks for it */
	bool judged;     /* so that `filter` can decide */
};

static void ask(JNIEnv *env, jthread thread, struct told *t)
{
	memset(t, 0, sizeof(*t));
	t->java = jvm_thread_behind(env, thread);
	t->id = jvm_java_id(env, thread);
	t->judged = wanted_by_name();
	if ((*ti)->GetThreadInfo(ti, thread, &t->info))
		memset(&t->info, 0, sizeof(t->info));
	else if (t->judged && t->info.thread_group)
		(*ti)->GetThreadGroupInfo(ti, t->info.thread_group, &t->group);
}

static void forget(JNIEnv *env, struct told *t)
{
	if (t->group.name)
		(*ti)->Deallocate(ti, (unsigned char *)t->group.name);
	if (t->group.parent)
		(*env)->DeleteLocalRef(env, t->group.parent);
	if (t->info.name)
		(*ti)->Deallocate(ti, (unsigned char *)t->info.name);
	if (t->info.thread_group)
		(*env)->DeleteLocalRef(env, t->info.thread_group);
	if (t->info.context_class_loader)
		(*env)->DeleteLocalRef(env, t->info.context_class_loader);
}

/* The name of thread TID, and whether it is sampled with the option `filter`. session_lock held. */
static void note(const struct told *t, pid_t tid)
{
	const char *name = t->info.name;

	if (!account || !name)
		return;
	if (name[0])
		collector_name_thread(account, tid, t->id, name);
	/* Asked before the session had its filter: who lists the threads meets it afterwards. */
	if (t->judged && wanted_by_name())
		records_judge(tid, wanted_java(tid, name, t->group.name));
}

void jvm_give_name(pid_t tid, uint64_t java_id, const char *name)
{
	pthread_rwlock_rdlock(&session_lock);
	if (account)
		collector_name_thread(account, tid, java_id, name);
	pthread_rwlock_unlock(&session_lock);
}

/*
 * JavaThreads that ended while the threads are listed: what the list says of them is over. A new thread at such an
 * address makes itself known.
 */
static struct {
	bool listing, incomplete;
	VECTOR(uintptr_t) items;
} ended;

static void list_begins(void)
{
	pthread_rwlock_wrlock(&session_lock);
	ended.listing = true;
	pthread_rwlock_unlock(&session_lock);
}

static void list_ends(void)
{
	pthread_rwlock_wrlock(&session_lock);
	free(ended.items.items);
	memset(&ended, 0, sizeof(ended));
	pthread_rwlock_unlock(&session_lock);
}

/* session_lock held for writing. */
static void note_end(uintptr_t java)
{
	uintptr_t *item = ended.listing ? VECTOR_PUSH(&ended.items) : NULL;

	if (item)
		*item = java;
	else if (ended.listing)
		ended.incomplete = true;
}

/* session_lock held for writing. */
static bool has_ended(uintptr_t java)
{
	size_t i;

	for (i = 0; i < ended.items.count; i++)
		if (ended.items.items[i] == java)
			return true;
	return ended.incomplete;
}

/* A thread of the list; MAKE_KNOWN: and its JavaThread becomes its record's, unless it has ended. */
static void note_listed(const struct told *t, bool make_known)
{
	pid_t tid;

	if (make_known)
		pthread_rwlock_wrlock(&session_lock);
	else
		pthread_rwlock_rdlock(&session_lock);
	tid = t->java && !has_ended(t->java) ? jvm_tid(t->java) : 0;
	if (tid && make_known && in_session)
		records_java(tid, t->java, t->id);
	if (tid)
		note(t, tid);
	pthread_rwlock_unlock(&session_lock);
}

static void each_java_thread(JNIEnv *env, bool make_known)
{
	jthread *threads;
	jint i, count;

	if (make_known)
		list_begins();
	if (!(*ti)->GetAllThreads(ti, &count, &threads)) {
		java_room(env, count);
		for (i = 0; i < count; i++) {
			struct told t;

			ask(env, threads[i], &t);
			note_listed(&t, make_known);
			forget(env, &t);
			(*env)->DeleteLocalRef(env, threads[i]);
		}
		(*ti)->Deallocate(ti, (unsigned char *)threads);
	}
	if (make_known)
		list_ends();
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	pid_t tid = os_gettid();
	struct told t;

	if (!atomic_load(&in_session))
		return;
	ask(env, thread, &t);
	pthread_rwlock_rdlock(&session_lock);
	if (in_session && records_found(tid, handler_thread_pointer())) {
		/* Its OSThread's id is proof; where that cannot be read the thread is its own. */
		if (t.java && (zone.layout.osthread_tid < 0 || jvm_tid(t.java) == tid))
			records_java(tid, t.java, t.id);
		note(&t, tid);
	}
	pthread_rwlock_unlock(&session_lock);
	forget(env, &t);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	pid_t tid = os_gettid();
	struct thread_record *r;
	struct told t;

	if (!atomic_load(&in_session))
		return;
	ask(env, thread, &t);
	pthread_rwlock_wrlock(&session_lock);
	note_end(t.java);
	if (in_session) {
		/* The JavaThread goes away: from here on this is a native thread. */
		records_java(tid, 0, 0);
		r = records_by_tid(tid);
		if (r)
			thread_hook_watch(r);
		note(&t, tid);
	}
	pthread_rwlock_unlock(&session_lock);
	forget(env, &t);
}

/* ---- redefined classes ---- */

void jvm_tell_redefined(const char *class_name)
{
	pthread_rwlock_rdlock(&session_lock);
	if (account)
		collector_redefined(account, class_name);
	pthread_rwlock_unlock(&session_lock);
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

	if ((*ti)->GetSystemProperties(ti, &count, &keys))
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
	/* One at a time with commands and timers: a session that is stopped meanwhile must not begin afterwards. */
	bool turn = control_turn("the JVM's start");

	atomic_store(&live, true);
	read_facts();
	fallback_begin(ti, env);
	if (atomic_load(&in_session)) {
		agent_frozen_learn(env);
		each_java_thread(env, true);
	}
	trace_vm_init();
	jfrsync_vm_init();
	agent_waits_vm_init();
	agent_parked_vm_init();
	if (turn)
		control_turn_over();
	control_ring(); /* what was due has waited for this */
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
	agent_waits_vm_death();
	trace_vm_death();
	entry_vm_death();
	atomic_store(&zone.vm_exiting, true);
	atomic_store(&live, false);
}

static void enable(bool on, jvmtiEvent event)
{
	(*ti)->SetEventNotificationMode(ti, on ? JVMTI_ENABLE : JVMTI_DISABLE, event, NULL);
}

static void JNICALL on_exhausted(jvmtiEnv *jvmti, JNIEnv *env, jint flags, const void *reserved,
				 const char *description)
{
	trigger_exhausted();
}

int jvm_watch_exhaustion(bool on, struct error *err)
{
	jvmtiCapabilities wanted;

	memset(&wanted, 0, sizeof(wanted));
	wanted.can_generate_resource_exhaustion_heap_events = 1;
	wanted.can_generate_resource_exhaustion_threads_events = 1;
	if (on && (*ti)->AddCapabilities(ti, &wanted))
		return error_set(err, ENOTSUP, "onoom: this JVM does not tell of OutOfMemoryErrors");
	enable(on, JVMTI_EVENT_RESOURCE_EXHAUSTED);
	return 0;
}

int jvm_init(JavaVM *java, bool at_load, struct error *err)
{
	jvmtiEventCallbacks callbacks;
	int held = 0;
	jint rc;

	if (ti)
		return 0;
	vm = java;
	if (!at_load)
		held = attaching_hold(vm, err);
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

	return (*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK ? env : NULL;
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

	return (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) == JNI_OK ? jvmti : NULL;
}

bool jvm_is_live(void)
{
	return atomic_load(&live);
}

/* ---- sessions ---- */

void jvm_generated_code(void)
{
	enable(true, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	if (atomic_load(&live))
		(*ti)->GenerateEvents(ti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
}

void jvm_session_names(struct collector *c)
{
	JNIEnv *env;

	pthread_rwlock_wrlock(&session_lock);
	account = c;
	pthread_rwlock_unlock(&session_lock);
	if (atomic_load(&live) && (*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK)
		each_java_thread(env, false);
}

void jvm_session_begin(struct collector *c)
{
	JNIEnv *env;

	pthread_rwlock_wrlock(&session_lock);
	in_session = true;
	account = c;
	pthread_rwlock_unlock(&session_lock);
	redefine_watch(ti);
	enable(true, JVMTI_EVENT_THREAD_START);
	enable(true, JVMTI_EVENT_THREAD_END);
	if (!atomic_load(&live) || (*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
		return; /* on_vm_init will do the rest */
	fallback_begin(ti, env);
	each_java_thread(env, true);
}

void jvm_name_threads(void)
{
	JNIEnv *env;

	if (!atomic_load(&live) || (*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
		return;
	each_java_thread(env, false);
}

void jvm_session_end(void)
{
	enable(false, JVMTI_EVENT_THREAD_START);
	enable(false, JVMTI_EVENT_THREAD_END);
	enable(false, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	fallback_end(ti);
	redefine_unwatch();
	pthread_rwlock_wrlock(&session_lock);
	in_session = false;
	account = NULL;
	pthread_rwlock_unlock(&session_lock);
}

const char *jvm_main_class(void)
{
	return main_class;
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
