/*
 * lock_identity.c - what a thread is about to wait for: the lock's class, its identity, and who holds it.
 *
 * The identity hash code stays the same wherever a collection moves the object; it is what Object.toString shows
 * behind the @. Two locks of a class can share one (31 bits): of a million, a few hundred do.
 */
#include <string.h>

#include "agent/jvm/jvm.h"
#include "agent/jvm/jvm_functions.h"
#include "agent/sources/class_names.h"
#include "agent/sources/lock/lock_events.h"
#include "agent/threads/thread_names.h"

static jvmtiEnv *jvmti;
static jfieldID thread_id, blocker, owner;
static jclass ownable; /* AbstractOwnableSynchronizer, what has an owner in java.util.concurrent */

static jfieldID field(JNIEnv *env, const char *class_name, const char *name, const char *type, jclass *keep)
{
	jclass class = (*env)->FindClass(env, class_name);
	jfieldID id = class ? (*env)->GetFieldID(env, class, name, type) : NULL;

	if (id && keep && !*keep)
		*keep = (*env)->NewGlobalRef(env, class);
	java_clear(env);
	if (class)
		(*env)->DeleteLocalRef(env, class);
	return id;
}

bool waits_lock_open(JNIEnv *env, jvmtiEnv *ti)
{
	jvmti = ti;
	if (!thread_id)
		thread_id = field(env, "java/lang/Thread", "tid", "J", NULL);
	if (!blocker)
		blocker = field(env, "java/lang/Thread", "parkBlocker", "Ljava/lang/Object;", NULL);
	if (!owner)
		owner = field(env, "java/util/concurrent/locks/AbstractOwnableSynchronizer", "exclusiveOwnerThread",
			      "Ljava/lang/Thread;", &ownable);
	return thread_id;
}

uint64_t agent_wait_thread(JNIEnv *env, jthread thread)
{
	return thread_id && thread ? (uint64_t)(*env)->GetLongField(env, thread, thread_id) : 0;
}

jobject waits_lock_blocker(JNIEnv *env, jthread thread)
{
	return blocker && thread ? (*env)->GetObjectField(env, thread, blocker) : NULL;
}

static void put_owner(JNIEnv *env, jobject lock, struct wait_begin *b)
{
	jobject thread;

	if (!owner || !(*env)->IsInstanceOf(env, lock, ownable))
		return;
	thread = (*env)->GetObjectField(env, lock, owner);
	if (!thread)
		return;
	b->owner_id = agent_wait_thread(env, thread);
	b->owner_virtual = java_is_virtual(env, thread);
	if (b->owner_virtual)
		virtual_name_tell(env, thread, b->owner_id);
	b->owner_java = jvm_thread_behind(env, thread);
	(*env)->DeleteLocalRef(env, thread);
}

void waits_lock_read(JNIEnv *env, jobject lock, struct wait_begin *b)
{
	jint hash = 0;

	b->class = class_number_of(jvmti, env, lock);
	if ((*jvmti)->GetObjectHashCode(jvmti, lock, &hash) == JVMTI_ERROR_NONE)
		b->identity = (uint32_t)hash;
	if (b->kind == LOCK_PARK)
		put_owner(env, lock, b);
}
