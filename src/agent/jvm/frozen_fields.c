/*
 * frozen_fields.c - asks Java, once, where the frames of virtual threads lie in the heap (common/hotspot/frozen.h).
 */
#include "agent/jvm/jvm.h"

#include "agent/jvm/jvm_functions.h"
#include "agent/zone/zone.h"

#define VIRTUAL_THREADS 21
#define CONTINUATION "jdk.internal.vm.Continuation"

/* jdk.internal.misc.Unsafe: the only one who tells offsets of fields, of whatever JDK and collector. */
struct unsafe {
	JNIEnv *env;
	jobject object;
	jmethodID offset, word;
};

static bool find_unsafe(JNIEnv *env, struct unsafe *u)
{
	jclass class = (*env)->FindClass(env, "jdk/internal/misc/Unsafe");
	jmethodID get;

	u->env = env;
	get = class ? (*env)->GetStaticMethodID(env, class, "getUnsafe", "()Ljdk/internal/misc/Unsafe;") : NULL;
	u->offset = get ? (*env)->GetMethodID(env, class, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J")
			: NULL;
	u->word = u->offset ? (*env)->GetMethodID(env, class, "getLong", "(Ljava/lang/Object;J)J") : NULL;
	u->object = u->word ? (*env)->CallStaticObjectMethod(env, class, get) : NULL;
	if (java_clear(env))
		u->object = NULL;
	(*env)->DeleteLocalRef(env, class);
	return u->object;
}

/* Where field NAME of CLASS lies; -1: it has none. */
static int32_t offset_of(const struct unsafe *u, jclass class, const char *name)
{
	jstring text = class ? (*u->env)->NewStringUTF(u->env, name) : NULL;
	jlong at = text ? (*u->env)->CallLongMethod(u->env, u->object, u->offset, class, text) : -1;

	if (java_clear(u->env) || at <= 0 || at > INT16_MAX)
		at = -1;
	(*u->env)->DeleteLocalRef(u->env, text);
	return (int32_t)at;
}

/* The Klass* of CLASS: a field of its mirror. */
static uintptr_t klass_of(const struct unsafe *u, jclass class)
{
	int32_t at = zone.layout.mirror_klass ? *(const int32_t *)zone.layout.mirror_klass : 0;
	jlong klass = class && at > 0
			      ? (*u->env)->CallLongMethod(u->env, u->object, u->word, class, (jlong)at)
			      : 0;

	return java_clear(u->env) ? 0 : (uintptr_t)klass;
}

static void ask(const struct unsafe *u, struct frozen_fields *f)
{
	jclass thread = java_class_quietly(u->env, "java.lang.VirtualThread");
	jclass continuation = java_class_quietly(u->env, CONTINUATION);
	jclass chunk = java_class_quietly(u->env, "jdk.internal.vm.StackChunk");

	*f = (struct frozen_fields){
		.thread_cont = offset_of(u, thread, "cont"),
		.cont_tail = offset_of(u, continuation, "tail"),
		.chunk_parent = offset_of(u, chunk, "parent"),
		.chunk_size = offset_of(u, chunk, "size"),
		.chunk_sp = offset_of(u, chunk, "sp"),
		.chunk_bottom = offset_of(u, chunk, "bottom"),
		.chunk_argsize = offset_of(u, chunk, "argsize"),
		.thread = klass_of(u, thread),
		.continuation = klass_of(u, continuation),
		.chunk = klass_of(u, chunk),
	};
	if (!zone.layout.cont_return_pc && f->continuation)
		f->enter_special = java_method(java_method_quietly(u->env, jvm_environment(), CONTINUATION,
								   "enterSpecial",
								   "(Ljdk/internal/vm/Continuation;ZZ)V"));
	(*u->env)->DeleteLocalRef(u->env, thread);
	(*u->env)->DeleteLocalRef(u->env, continuation);
	(*u->env)->DeleteLocalRef(u->env, chunk);
}

void agent_frozen_learn(JNIEnv *env)
{
	static bool asked; /* by the one thread that carries sessions out */
	struct frozen_fields f;
	struct unsafe u;

	if (asked || !env || !zone.has_jvm || zone.layout.jdk < VIRTUAL_THREADS)
		return;
	asked = true;
	if (!find_unsafe(env, &u)) {
		java_clear(env);
		return;
	}
	ask(&u, &f);
	(*env)->DeleteLocalRef(env, u.object);
	frozen_settle(&zone.layout, &f);
}
