#include "agent/tracing/trace_running.h"

#include <string.h>

#include "agent/jvm/jvm_functions.h"
#include "agent/tracing/trace_list.h"
#include "common/base/hash.h"
#include "common/os/os.h"

#define INTERVAL (10 * NS_PER_MS)
#define COSTS_LESS 20    /* looks take less than one in so many of the time */
#define DEEPEST 512      /* frames of a stack */
#define RUNNING 16       /* threads a look, at most */
#define WAITING 4
#define REFERENCES 65536 /* HotSpot promises no more */

/* The hash of the name of METHOD's class; 0: unknown. */
static uint64_t class_of(jvmtiEnv *ti, JNIEnv *env, jmethodID method)
{
	jclass class = NULL;
	uint64_t hash = 0;
	char *name;

	if ((*ti)->GetMethodDeclaringClass(ti, method, &class))
		return 0;
	name = trace_list_name(ti, class);
	if (name)
		hash = trace_list_hash(name, strlen(name));
	(*ti)->Deallocate(ti, (unsigned char *)name);
	(*env)->DeleteLocalRef(env, class);
	return hash;
}

/* A method's class by its low bits, so that names are asked for once. */
static uint64_t known_class(struct trace_seen *s, jvmtiEnv *ti, JNIEnv *env, jmethodID method)
{
	uint64_t key = hash_mix((uintptr_t)method), hash;
	uint32_t *low = map_get(&s->methods, key), *high = low ? map_get(&s->methods, ~key) : NULL;

	if (high)
		return (uint64_t)*high << 32 | *low;
	hash = class_of(ti, env, method);
	low = map_put(&s->methods, key, NULL);
	if (low)
		*low = (uint32_t)hash;
	high = map_put(&s->methods, ~key, NULL);
	if (high)
		*high = (uint32_t)(hash >> 32);
	return hash;
}

static void look_at(struct trace_seen *s, jvmtiEnv *ti, JNIEnv *env, jthread thread)
{
	jvmtiFrameInfo frames[DEEPEST];
	jint count = 0, i;
	bool fresh;

	if ((*ti)->GetStackTrace(ti, thread, 0, DEEPEST, frames, &count))
		return;
	map_clear(&s->inside);
	for (i = 0; i < count; i++) {
		uint64_t class = known_class(s, ti, env, frames[i].method);
		uint32_t *times = NULL;

		if (map_put(&s->inside, class, &fresh) && fresh)
			times = map_put(&s->classes, class, NULL);
		if (times)
			++*times;
	}
}

static void look_at_some(struct trace_seen *s, jvmtiEnv *ti, JNIEnv *env, const jthread *threads, jint count)
{
	int running = RUNNING, waiting = WAITING;
	jthread own = NULL;
	jint i, state;

	(*ti)->GetCurrentThread(ti, &own);
	for (i = 0; i < count && running + waiting > 0; i++) {
		jthread thread = threads[((uint32_t)i + s->turn) % (uint32_t)count];
		bool runs;

		if ((*env)->IsSameObject(env, thread, own) || (*ti)->GetThreadState(ti, thread, &state))
			continue;
		runs = (state & JVMTI_THREAD_STATE_RUNNABLE) && !(state & JVMTI_THREAD_STATE_IN_NATIVE);
		if (--*(runs ? &running : &waiting) < 0)
			continue;
		look_at(s, ti, env, thread);
	}
	s->turn += RUNNING / 2 + 1;
}

void trace_seen_look(struct trace_seen *s, jvmtiEnv *ti, JNIEnv *env)
{
	uint64_t began = os_monotonic();
	jthread *threads = NULL;
	jint count = 0;

	if ((*env)->PushLocalFrame(env, REFERENCES)) {
		java_clear(env);
	} else {
		if ((*ti)->GetAllThreads(ti, &count, &threads) == 0 && count > 0)
			look_at_some(s, ti, env, threads, count);
		(*ti)->Deallocate(ti, (unsigned char *)threads);
		(*env)->PopLocalFrame(env, NULL);
	}
	s->interval = MAX(INTERVAL, COSTS_LESS * (os_monotonic() - began));
}

uint32_t trace_seen_times(const struct trace_seen *s, uint64_t hash)
{
	const uint32_t *times = map_get(&s->classes, hash);

	return times ? *times : 0;
}

void trace_seen_free(struct trace_seen *s)
{
	map_free(&s->methods);
	map_free(&s->classes);
	map_free(&s->inside);
	memset(s, 0, sizeof(*s));
}
