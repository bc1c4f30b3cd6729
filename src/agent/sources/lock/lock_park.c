/*
 * lock_park.c - LockSupport.park and its kin, through which every synchroniser of java.util.concurrent waits, and
 * Thread.sleep on request.
 *
 *   threads of the system       Unsafe.park and the native method of Thread.sleep, bound to functions of ours
 *   virtual threads (JDK 21+)   JVMTI tells when one leaves its carrier and when it is back; its innermost frames say
 *                               whether it parks or sleeps, or yields or waits for something else
 *   those that are pinned       come to Unsafe.park, too; the same frames tell parks from sleeps
 */
#include <errno.h>
#include <stdarg.h>

#include "agent/jvm/jvm_functions.h"
#include "agent/jvm/mounts.h"
#include "agent/sources/lock/lock_events.h"
#include "agent/threads/thread_names.h"
#include "common/hotspot/layout.h"

#define FRAMES 12 /* innermost ones of a virtual thread, among which its park is looked for */
#define PARKS 6
#define JNI_21 0x00150000

static jvmtiEnv *jvmti;
static jvmtiEnv *mounts;         /* while virtual threads are listened to */
static jmethodID parks[PARKS];   /* of LockSupport */
static jmethodID sleep_nanos;    /* of VirtualThread */
static bool with_parks, with_sleeps;

/* ---- what a virtual thread is about to do ---- */

static bool is_park(jmethodID id)
{
	size_t i;

	for (i = 0; i < PARKS; i++)
		if (parks[i] && parks[i] == id)
			return true;
	return false;
}

/*
 * What the running virtual thread waits for, into B with the method that the program called; LOCK_KINDS: for nothing
 * that is watched. Frames within that method are the JDK's own, some of which JVMTI does not show.
 */
static enum lock_kind kind_of(struct wait_begin *b)
{
	jvmtiFrameInfo frames[FRAMES];
	jint i, count;

	if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, FRAMES, frames, &count))
		return b->kind = LOCK_KINDS;
	for (i = 0; i < count; i++) {
		b->skip = (uint32_t)i;
		b->method = java_method(frames[i].method);
		if (is_park(frames[i].method))
			return b->kind = with_parks ? LOCK_PARK : LOCK_KINDS;
		if (sleep_nanos && frames[i].method == sleep_nanos)
			return b->kind = with_sleeps ? LOCK_SLEEP : LOCK_KINDS;
	}
	return b->kind = LOCK_KINDS;
}

static uint64_t begin(JNIEnv *env, jthread thread, struct wait_begin *b)
{
	jobject blocker = b->kind == LOCK_PARK ? waits_lock_blocker(env, thread) : NULL;
	uint64_t began = agent_wait_begin(env, thread, blocker, b);

	(*env)->DeleteLocalRef(env, blocker);
	return began;
}

static void JNICALL on_unmount(jvmtiEnv *ti, ...)
{
	struct wait_begin b = {.skip = 0};
	struct mount m;

	if (waits_event(WAITS_OF_JAVA) < 0)
		return;
	m = MOUNT_OF(ti);
	/* whatever it does there: it may hold what others wait for */
	virtual_name_tell(m.env, m.thread, agent_wait_thread(m.env, m.thread));
	if (kind_of(&b) != LOCK_KINDS)
		begin(m.env, m.thread, &b);
}

static void JNICALL on_mount(jvmtiEnv *ti, ...)
{
	struct mount m;
	uint64_t id;

	if (!waits_listens(WAITS_OF_JAVA))
		return;
	m = MOUNT_OF(ti);
	id = agent_wait_thread(m.env, m.thread);
	if (with_parks)
		waits_end(id, LOCK_PARK, 0);
	if (with_sleeps)
		waits_end(id, LOCK_SLEEP, 0);
}

/* ---- native methods ---- */

static void JNICALL park(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time);
static void JNICALL sleep_for(JNIEnv *env, jclass class, jlong time);

static struct waits_native park_native = {
	.class_name = "jdk/internal/misc/Unsafe", .names = {"park"}, .signature = "(ZJ)V", .ours = (void *)park,
};

/* JDK 8..18: sleep, JVM_Sleep; 19..: sleep0, JVM_Sleep; later: sleepNanos0, JVM_SleepNanos */
static struct waits_native sleep_native = {
	.class_name = "java/lang/Thread", .names = {"sleepNanos0", "sleep0", "sleep"}, .signature = "(J)V",
	.is_static = true, .ours = (void *)sleep_for,
};

/* What a native method that waits begins, and how that ends: without JNI, as an exception may be on its way. */
struct native_wait {
	uint64_t thread, began;
	enum lock_kind kind;
};

static void begin_native(JNIEnv *env, struct native_wait *w)
{
	struct wait_begin b = {.kind = w->kind, .skip = w->kind == LOCK_PARK ? 1 : 0};
	jthread thread;

	if ((*jvmti)->GetCurrentThread(jvmti, &thread) || !thread)
		return;
	w->thread = agent_wait_thread(env, thread);
	if (java_is_virtual(env, thread))
		w->kind = kind_of(&b);
	if (w->kind != LOCK_KINDS)
		w->began = begin(env, thread, &b);
	(*env)->DeleteLocalRef(env, thread);
}

static void end_native(const struct native_wait *w)
{
	if (w->began)
		waits_end(w->thread, w->kind, w->began);
}

static void JNICALL park(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time)
{
	struct native_wait w = {.kind = LOCK_PARK};

	if (waits_event(WAITS_OF_JAVA) >= 0 && (with_parks || with_sleeps))
		begin_native(env, &w);
	((void(JNICALL *)(JNIEnv *, jobject, jboolean, jlong))park_native.theirs)(env, unsafe, absolute, time);
	end_native(&w);
}

static void JNICALL sleep_for(JNIEnv *env, jclass class, jlong time)
{
	struct native_wait w = {.kind = LOCK_SLEEP};

	if (waits_event(WAITS_OF_JAVA) >= 0 && with_sleeps)
		begin_native(env, &w);
	((void(JNICALL *)(JNIEnv *, jclass, jlong))sleep_native.theirs)(env, class, time);
	end_native(&w);
}

/* ---- on and off ---- */

static jmethodID static_method(JNIEnv *env, const char *class_name, const char *name, const char *signature)
{
	jclass class = (*env)->FindClass(env, class_name);
	jmethodID id = NULL;

	if (!java_clear(env) && class)
		id = (*env)->GetStaticMethodID(env, class, name, signature);
	if (java_clear(env))
		id = NULL;
	(*env)->DeleteLocalRef(env, class);
	return id;
}

static void find_methods(JNIEnv *env)
{
	static const char *const all[PARKS][2] = {
		{"park", "()V"}, {"park", "(Ljava/lang/Object;)V"}, {"parkNanos", "(J)V"},
		{"parkNanos", "(Ljava/lang/Object;J)V"}, {"parkUntil", "(J)V"},
		{"parkUntil", "(Ljava/lang/Object;J)V"},
	};
	size_t i;

	for (i = 0; i < PARKS; i++)
		parks[i] = static_method(env, "java/util/concurrent/locks/LockSupport", all[i][0], all[i][1]);
	sleep_nanos = java_method_quietly(env, jvmti, "java.lang.VirtualThread", "sleepNanos", "(J)V");
}

void waits_park_begin(JNIEnv *env, jvmtiEnv *ti, bool for_parks, bool for_sleeps, struct buffer *notes)
{
	struct error err;

	jvmti = ti;
	with_parks = for_parks;
	with_sleeps = for_sleeps;
	sleep_native.known = layout_symbol("JVM_SleepNanos");
	if (!sleep_native.known)
		sleep_native.known = layout_symbol("JVM_Sleep");
	if (for_parks && waits_bind(env, ti, &park_native, &err))
		buffer_printf(notes, "lock: LockSupport.park is not watched: %s\n", err.text);
	if (for_sleeps && waits_bind(env, ti, &sleep_native, &err))
		buffer_printf(notes, "lock: Thread.sleep is not watched: %s\n", err.text);
	if ((!for_parks && !for_sleeps) || (*env)->GetVersion(env) < JNI_21)
		return;
	find_methods(env);
	if (!mounts) /* else they are listened to since the last round */
		mounts = mounts_listen(on_unmount, on_mount);
	if (!mounts)
		buffer_puts(notes, "lock: parks of virtual threads are not watched: the JVM does not tell of them\n");
}

void waits_park_end(void)
{
	if (mounts)
		(*mounts)->DisposeEnvironment(mounts);
	mounts = NULL;
	with_parks = with_sleeps = false;
}
