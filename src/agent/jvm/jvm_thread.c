/*
 * jvm_thread.c - which thread a java.lang.Thread is: to the JVM, to the system, to Java.
 */
#include "agent/jvm/jvm.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "agent/jvm/fallback.h"
#include "agent/zone/load.h"
#include "agent/zone/zone.h"

/* The JVM's tables; before the first session of our own reading. NULL: they cannot be read. */
static const struct layout *tables(void)
{
	static struct layout *_Atomic early;
	struct layout *l = atomic_load(&early), *none = NULL;
	struct error ignored;

	if (zone.has_jvm || fallback_taken())
		return &zone.layout;
	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (l && layout_read(l, &ignored) == 0 && atomic_compare_exchange_strong(&early, &none, l))
		return l;
	free(l);
	return none;
}

pid_t jvm_tid(uintptr_t thread)
{
	const struct layout *l = tables();
	uintptr_t os_thread;
	uint32_t tid;

	if (!l || l->osthread_tid < 0 ||
	    !load_word(thread + (uintptr_t)l->thread_osthread, &os_thread) || !os_thread ||
	    !load_u32(os_thread + (uintptr_t)l->osthread_tid, &tid))
		return 0;
	return (pid_t)tid;
}

/* The long NAME of a java.lang.Thread; *FIELD remembers where it is. 0 if there is none. */
static jlong long_of(JNIEnv *env, jthread thread, jfieldID *field, const char *name)
{
	jclass class;

	if (!*field) {
		class = (*env)->FindClass(env, "java/lang/Thread");
		*field = class ? (*env)->GetFieldID(env, class, name, "J") : NULL;
		if (!*field) {
			(*env)->ExceptionClear(env);
			return 0;
		}
	}
	return (*env)->GetLongField(env, thread, *field);
}

uintptr_t jvm_thread_behind(JNIEnv *env, jthread thread)
{
	static jfieldID eetop;

	return (uintptr_t)long_of(env, thread, &eetop, "eetop");
}

pid_t jvm_thread_id(JNIEnv *env, jthread thread)
{
	uintptr_t behind = jvm_thread_behind(env, thread);

	return behind ? jvm_tid(behind) : 0;
}

uint64_t jvm_java_id(JNIEnv *env, jthread thread)
{
	static jfieldID tid;

	return (uint64_t)long_of(env, thread, &tid, "tid");
}
