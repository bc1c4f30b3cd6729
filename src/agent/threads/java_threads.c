#include "agent/threads/java_threads.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/jvm.h"
#include "agent/jvm/jvm_functions.h"
#include "agent/sample/handler.h"
#include "agent/threads/records.h"
#include "agent/threads/thread_hook.h"
#include "agent/threads/wanted.h"
#include "agent/zone/zone.h"
#include "common/base/vector.h"
#include "common/os/os.h"

static atomic_bool in_session;
/* in_session, ended. Nothing of the JVM's is called while it is held. */
static pthread_rwlock_t session_lock = PTHREAD_RWLOCK_INITIALIZER;

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
	jvmtiEnv *jvmti = jvm_own();

	memset(t, 0, sizeof(*t));
	t->java = jvm_thread_behind(env, thread);
	t->id = jvm_java_id(env, thread);
	t->judged = wanted_by_name();
	if ((*jvmti)->GetThreadInfo(jvmti, thread, &t->info))
		memset(&t->info, 0, sizeof(t->info));
	else if (t->judged && t->info.thread_group)
		(*jvmti)->GetThreadGroupInfo(jvmti, t->info.thread_group, &t->group);
}

static void forget(JNIEnv *env, struct told *t)
{
	jvmtiEnv *jvmti = jvm_own();

	if (t->group.name)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)t->group.name);
	if (t->group.parent)
		(*env)->DeleteLocalRef(env, t->group.parent);
	if (t->info.name)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)t->info.name);
	if (t->info.thread_group)
		(*env)->DeleteLocalRef(env, t->info.thread_group);
	if (t->info.context_class_loader)
		(*env)->DeleteLocalRef(env, t->info.context_class_loader);
}

/* The name of thread TID, and whether it is sampled with the option `filter`. session_lock held. */
static void note(const struct told *t, pid_t tid)
{
	const char *name = t->info.name;

	if (!name)
		return;
	if (name[0])
		jvm_give_name(tid, t->id, name);
	/* Asked before the session had its filter: who lists the threads meets it afterwards. */
	if (t->judged && wanted_by_name())
		records_judge(tid, wanted_java(tid, name, t->group.name));
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
	jvmtiEnv *jvmti = jvm_own();
	jthread *threads;
	jint i, count;

	if (make_known)
		list_begins();
	if (!(*jvmti)->GetAllThreads(jvmti, &count, &threads)) {
		java_room(env, count);
		for (i = 0; i < count; i++) {
			struct told t;

			ask(env, threads[i], &t);
			note_listed(&t, make_known);
			forget(env, &t);
			(*env)->DeleteLocalRef(env, threads[i]);
		}
		(*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
	}
	if (make_known)
		list_ends();
}

void java_threads_start(JNIEnv *env, jthread thread)
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

void java_threads_end(JNIEnv *env, jthread thread)
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

/* ---- sessions ---- */

void java_threads_vm_init(void)
{
	JNIEnv *env = jvm_live_jni();

	if (!env || !atomic_load(&in_session))
		return;
	agent_frozen_learn(env);
	each_java_thread(env, true);
}

void java_threads_name(void)
{
	JNIEnv *env = jvm_live_jni();

	if (env)
		each_java_thread(env, false);
}

void java_threads_let(JNIEnv *env, jthread thread, bool in)
{
	pid_t tid = thread ? jvm_thread_id(env, thread) : os_gettid();

	if (tid && wanted_say(tid, in))
		records_judge(tid, in);
}

void java_threads_begin_session(void)
{
	JNIEnv *env;

	pthread_rwlock_wrlock(&session_lock);
	in_session = true;
	pthread_rwlock_unlock(&session_lock);
	env = jvm_session_begin();
	if (env) /* else java_threads_vm_init() will do the rest */
		each_java_thread(env, true);
}

void java_threads_end_session(void)
{
	jvm_session_end();
	pthread_rwlock_wrlock(&session_lock);
	in_session = false;
	pthread_rwlock_unlock(&session_lock);
}
