#include "agent/tracing/probe.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/jvm_functions.h"
#include "agent/tracing/trace_constructors.h"
#include "agent/tracing/tree.h"
#include "common/os/os.h"
#include "probe_class.h"

#define PROBE_CLASS "java/lang/JstrobeProbe"
#define BASE_MARK 0x4a7374726f626531ull /* stands in the class where the address of the trees goes */
#define JNI_9 0x00090000
#define SLEEP_HAS_CODE 19 /* JDK: Thread.sleep(long) is no native method any more */
#define ROUNDS 8
#define ROUND_CALLS 50000
#define ROUNDS_AGAIN 2
#define INTERPRETED_NS 150
#define PATIENCE NS_PER_S

static jclass probe;
static jfieldID thread_id;
static jmethodID calibrate[TREE_TIMINGS];
static jvmtiEnv *namer;
static void (*_Atomic tell_slow)(JNIEnv *env, const struct tree_exit *e);
static atomic_bool tells_quickly; /* that takes no time worth taking off */

/* The probes of each timing. */
#define VARIANT(suffix)                                                                                         \
	{                                                                                                       \
		{.class = PROBE_CLASS, .enter = "enter" suffix, .enter_if = "enter" suffix "If",                \
		 .leave = "leave" suffix, .leave_if = "leave" suffix "If", .again = "again",                    \
		 .sleep = "sleep" suffix},                                                                      \
			"calibrate" suffix                                                                      \
	}
static const struct {
	struct rewrite_probes names;
	const char *calibrate;
} variants[TREE_TIMINGS] = {
	[TREE_SAMPLED] = VARIANT(""),
	[TREE_EXACT] = VARIANT("Exact"),
	[TREE_EXACT_CPU] = VARIANT("Both"),
	[TREE_ADAPTIVE] = VARIANT("Adaptive"),
	[TREE_COUNTS] = VARIANT(""),
};

/* ---- what the probe calls ------------------------------------------------------------------ */

static jlong JNICALL on_context(JNIEnv *env, jclass class, jobject thread, jlong id)
{
	bool virtual = id && java_is_virtual(env, thread);
	jvmtiThreadInfo info = {.name = NULL};
	uint64_t at;

	/* the JVM makes no difference between a thread and one that is just being attached, but its number */
	if (id && !virtual)
		(*namer)->GetThreadInfo(namer, thread, &info);
	at = tree_context((uint64_t)id, virtual, info.name ? info.name : "");
	if (info.name)
		(*namer)->Deallocate(namer, (unsigned char *)info.name);
	if (info.thread_group)
		(*env)->DeleteLocalRef(env, info.thread_group);
	if (info.context_class_loader)
		(*env)->DeleteLocalRef(env, info.context_class_loader);
	return (jlong)at;
}

static jlong JNICALL on_find(JNIEnv *env, jclass class, jlong id)
{
	return (jlong)tree_find((uint64_t)id);
}

/* TOP, or if that is a constructor that has gone without an exit, the node outside of it that runs. */
static uint64_t running(JNIEnv *env, uint64_t top)
{
	while (trace_constructors_has(tree_node_at(top)->id) &&
	       !trace_constructors_runs(namer, env, tree_node_at(top)->id))
		top = tree_node_at(top)->parent;
	return top;
}

static jlong JNICALL on_child(JNIEnv *env, jclass class, jlong parent, jint id)
{
	uint64_t at = running(env, (uint64_t)parent);

	if (at != (uint64_t)parent)
		tree_go_back((uint64_t)parent, at);
	return (jlong)tree_child(at, (uint32_t)id);
}

static jlong JNICALL on_stamp(JNIEnv *env, jclass class, jlong top)
{
	uint64_t at = running(env, (uint64_t)top);

	if (at != (uint64_t)top)
		tree_go_back((uint64_t)top, at);
	return (jlong)tree_stamp(at);
}

/* Tell of E; what that takes is in no method's time. */
static void tell_and_hold(JNIEnv *env, const struct tree_exit *e, void (*tell)(JNIEnv *, const struct tree_exit *))
{
	uint64_t began = os_monotonic(), cpu = os_thread_cpu(0);
	jthread thread = NULL;

	tell(env, e);
	if ((*namer)->GetCurrentThread(namer, &thread) || !thread)
		return;
	tree_hold(probe_thread_id(env, thread), began, os_thread_cpu(0) - cpu);
	(*env)->DeleteLocalRef(env, thread);
}

/* Where every call ends whose length is known and might be of interest, on whatever way it has come here. */
static void end_call(JNIEnv *env, const struct tree_exit *e)
{
	void (*tell)(JNIEnv *, const struct tree_exit *) = tell_slow;
	enum tree_fate fate = tell ? tree_fate(e) : TREE_CALL_QUICK;

	if (fate != TREE_CALL_SLOW && fate != TREE_CALL_UNNAMED)
		return;
	if (atomic_load_explicit(&tells_quickly, memory_order_relaxed))
		tell(env, e);
	else
		tell_and_hold(env, e, tell);
}

static void JNICALL on_leave(JNIEnv *env, jclass class, jlong saved)
{
	struct tree_exit e;

	if (tree_leave((uint64_t)saved, &e))
		end_call(env, &e);
}

static void JNICALL on_slow(JNIEnv *env, jclass class, jint id, jlong took, jlong now)
{
	end_call(env, &(struct tree_exit){(uint32_t)id, (uint64_t)took, (uint64_t)now});
}

void probe_on_slow(void (*to)(JNIEnv *env, const struct tree_exit *e), bool quickly)
{
	atomic_store(&tells_quickly, quickly);
	tell_slow = to;
}

/* ---- the class ----------------------------------------------------------------------------- */

/* Put the address of the trees where the constants of BYTES count from the mark. */
static void put_base(unsigned char *bytes, size_t size)
{
	struct class_file c;
	unsigned i;

	if (classfile_open(&c, bytes, size)) {
		for (i = 1; i < c.pool_count; i++) {
			struct cursor at = classfile_constant(&c, (uint16_t)i, CONSTANT_LONG);
			uint8_t *place = (uint8_t *)(uintptr_t)at.at;
			uint64_t value = cursor_be64(&at);

			if (at.failed || value - BASE_MARK > TREE_SLOTS)
				continue;
			value = __builtin_bswap64(value - BASE_MARK + tree_base);
			memcpy(place, &value, sizeof(value));
		}
	}
	classfile_close(&c);
}

static jclass define(JNIEnv *env, const char *name, const unsigned char *class, size_t size)
{
	unsigned char *bytes = malloc(size);
	jclass defined;

	if (!bytes)
		return NULL;
	memcpy(bytes, class, size);
	put_base(bytes, size);
	defined = java_define(env, name, bytes, size);
	free(bytes);
	return defined;
}

/* Methods, fields, and the classes initialised. */
static bool prepare(JNIEnv *env, jvmtiEnv *ti, jclass class, jclass slow)
{
	static const JNINativeMethod natives[] = {
		{(char *)"context", (char *)"(Ljava/lang/Thread;J)J", on_context},
		{(char *)"find", (char *)"(J)J", on_find},
		{(char *)"child", (char *)"(JI)J", on_child},
		{(char *)"stamp", (char *)"(J)J", on_stamp},
		{(char *)"leave", (char *)"(J)V", on_leave},
		{(char *)"slow", (char *)"(IJJ)V", on_slow},
	};
	jclass thread;
	unsigned i;

	if ((*env)->RegisterNatives(env, slow, natives, ARRAY_LEN(natives)) || !java_open_door(env, ti, class, slow))
		return false;
	for (i = 0; i < TREE_TIMINGS; i++) {
		calibrate[i] = (*env)->GetStaticMethodID(env, class, variants[i].calibrate, "(II)V");
		if (!calibrate[i])
			return false;
	}
	thread = (*env)->FindClass(env, "java/lang/Thread");
	thread_id = thread ? (*env)->GetFieldID(env, thread, "tid", "J") : NULL;
	return thread_id;
}

int probe_define(JNIEnv *env, jvmtiEnv *ti, struct error *err)
{
	jclass class, slow;
	bool thrown;

	namer = ti;
	if (probe)
		return 0;
	if ((*env)->GetVersion(env) < JNI_9)
		return error_set(err, ENOTSUP, "tracing works from JDK 11 on");
	slow = define(env, "jstrobe/Natives", class_Natives, sizeof(class_Natives));
	class = slow ? define(env, PROBE_CLASS, class_JstrobeProbe, sizeof(class_JstrobeProbe)) : NULL;
	thrown = java_clear(env);
	if (!class)
		return error_set(err, thrown ? EEXIST : ENOMEM, "the class " PROBE_CLASS " cannot be "
				 "defined%s", thrown ? ": another build of jstrobe has traced this JVM; "
				 "start it anew" : "");
	if (!prepare(env, ti, class, slow)) {
		java_clear(env);
		return error_set(err, ENOTSUP, "tracing needs jdk.internal.misc.Unsafe and Thread.tid, which this "
				 "JDK does not have; it works from JDK 11 on");
	}
	probe = class;
	return 0;
}

struct rewrite_probes probe_names(enum tree_timing timing, unsigned jdk)
{
	struct rewrite_probes names = variants[timing].names;

	if (jdk >= SLEEP_HAS_CODE || timing == TREE_COUNTS)
		names.sleep = NULL;
	return names;
}

bool probe_uses(const struct text *class_name, const struct text *method)
{
	return text_is(class_name, PROBE_CLASS) || text_is(class_name, "jstrobe/Natives") ||
	       text_is(class_name, "jdk/internal/misc/Unsafe");
}

uint64_t probe_thread_id(JNIEnv *env, jthread thread)
{
	return thread_id ? (uint64_t)(*env)->GetLongField(env, thread, thread_id) : 0;
}

/* CPU ns of a round of calls; UINT64_MAX if it fails. */
static uint64_t round_cost(JNIEnv *env, uint32_t method, enum tree_timing timing)
{
	uint64_t began = os_thread_cpu(0);

	(*env)->CallStaticVoidMethod(env, probe, calibrate[timing], (jint)method, ROUND_CALLS);
	return java_clear(env) ? UINT64_MAX : os_thread_cpu(0) - began;
}

double probe_cost_again(JNIEnv *env, uint32_t method, enum tree_timing timing, double before)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; timing != TREE_EXACT_CPU && i < ROUNDS_AGAIN; i++) {
		uint64_t ns = round_cost(env, method, timing);

		best = MIN(best, ns);
	}
	return best == UINT64_MAX ? before : MIN(before, (double)best / ROUND_CALLS);
}

double probe_cost(JNIEnv *env, uint32_t method, enum tree_timing timing)
{
	uint64_t best = UINT64_MAX, since = os_monotonic();
	int i;

	/* slower than any compiled probe: the compiler has other things to do on a busy machine */
	for (i = 0; i < ROUNDS || (best / ROUND_CALLS > INTERPRETED_NS && timing != TREE_EXACT_CPU &&
				   os_monotonic() - since < PATIENCE); i++) {
		uint64_t ns = round_cost(env, method, timing);

		best = MIN(best, ns);
		if (i >= ROUNDS)
			os_sleep(10 * NS_PER_MS);
	}
	return best == UINT64_MAX ? 0 : (double)best / ROUND_CALLS;
}

uint64_t probe_length(JNIEnv *env, uint32_t method)
{
	uint64_t sum, more, before, calls, best = UINT64_MAX;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		tree_lengths(method, &sum, &before);
		(*env)->CallStaticVoidMethod(env, probe, calibrate[TREE_ADAPTIVE], (jint)method, ROUND_CALLS);
		if (java_clear(env))
			return 0;
		tree_lengths(method, &more, &calls);
		if (calls > before && more >= sum)
			best = MIN(best, (more - sum) / (calls - before));
	}
	return best == UINT64_MAX ? 0 : best;
}
