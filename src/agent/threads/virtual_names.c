/*
 * virtual_names.c - virtual threads that a program has given names: the JVM tells of them only in their own callbacks.
 */
#include "agent/threads/thread_names.h"

#include <stdatomic.h>

#include "agent/jvm/jvm.h"
#include "agent/jvm/jvm_functions.h"
#include "common/base/hash.h"
#include "common/base/map.h"
#include "common/os/os.h"

#define TOLD 65536      /* threads that are remembered as told, by the lower bits of their numbers */
#define AGAIN_SHIFT 34  /* every 17 s: a name may change, and those of long ago may be forgotten */
#define NAME_UNITS 128
#define NAME_BYTES (3 * NAME_UNITS + 1)

static _Atomic uint32_t told[TOLD];
static _Atomic uint32_t session;

void virtual_names_begin(void)
{
	atomic_fetch_add(&session, 1);
}

/* Whether ID was told lately; from now on it was. */
static bool was_told(uint64_t id)
{
	uint64_t period = os_monotonic() >> AGAIN_SHIFT;
	uint32_t mark = (uint32_t)hash_mix(hash_mix(id) + (period << 16) + atomic_load(&session)) | 1;

	/* several carriers may come here at a time: then a name is told twice */
	if (atomic_load_explicit(&told[id % TOLD], memory_order_relaxed) == mark)
		return true;
	atomic_store_explicit(&told[id % TOLD], mark, memory_order_relaxed);
	return false;
}

static jstring name_of(JNIEnv *env, jthread thread)
{
	static jfieldID _Atomic field;
	jfieldID id = atomic_load(&field);
	jclass class;

	if (!id) {
		class = (*env)->FindClass(env, "java/lang/Thread");
		id = class ? (*env)->GetFieldID(env, class, "name", "Ljava/lang/String;") : NULL;
		java_clear(env);
		(*env)->DeleteLocalRef(env, class);
		atomic_store(&field, id);
	}
	return id ? (*env)->GetObjectField(env, thread, id) : NULL;
}

void virtual_name_tell(JNIEnv *env, jthread thread, uint64_t id)
{
	char text[NAME_BYTES] = "";
	jstring name;
	jsize units;

	if (!id || was_told(id))
		return;
	name = name_of(env, thread);
	units = name ? (*env)->GetStringLength(env, name) : 0;
	if (units)
		(*env)->GetStringUTFRegion(env, name, 0, units < NAME_UNITS ? units : NAME_UNITS, text);
	if (!java_clear(env) && text[0])
		jvm_give_name(0, id, text);
	(*env)->DeleteLocalRef(env, name);
}
