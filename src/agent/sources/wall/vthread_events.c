/*
 * vthread_events.c - how the wall clock hears of virtual threads that leave their carriers and come back (option
 * `vthreads`). Between the two there is nothing of the thread but an object in the heap.
 */
#include "agent/sources/wall/vthreads.h"

#include <stdatomic.h>
#include <string.h>

#include "agent/jvm/jvm.h"
#include "agent/jvm/jvm_functions.h"
#include "agent/jvm/log.h"
#include "agent/jvm/mounts.h"
#include "agent/threads/thread_names.h"
#include "agent/zone/frame_word.h"

#define FRAMES 256 /* that are asked for at most */

static struct {
	jvmtiEnv *ti;     /* of its own: what it costs ends with it */
	bool wanted;
	jfieldID id;      /* Thread.tid */
	jmethodID last[2]; /* see has_ended; NULL = this JDK does not have it */
} parked;

/* ---- callbacks, on the carrier ---- */

/*
 * The JVM tells also of the last unmount, when what the thread was to run has returned. Nothing follows that: noted, it
 * would be parked for ever. FRAMES begin with what has called it then.
 */
static bool has_ended(const jvmtiFrameInfo *frames, jint count)
{
	size_t i;

	for (i = 0; count > 0 && i < ARRAY_LEN(parked.last); i++)
		if (parked.last[i] && frames[0].method == parked.last[i])
			return true;
	return false;
}

/* Whether the running thread is at its end. */
static bool is_at_end(jvmtiEnv *ti)
{
	jvmtiFrameInfo frame;
	jint count;

	return !(*ti)->GetStackTrace(ti, NULL, 0, 1, &frame, &count) && has_ended(&frame, count);
}

/* The stack of the running thread as the JVM says: a parked_ask_fn. */
static uint32_t ask(void *arg, uint64_t *words, uint32_t limit)
{
	jvmtiEnv *ti = arg;
	jvmtiFrameInfo frames[FRAMES];
	jint i, count;

	if ((*ti)->GetStackTrace(ti, NULL, 0, (jint)MIN(limit, FRAMES), frames, &count))
		return 0;
	for (i = 0; i < count; i++) {
		bool has_bci = frames[i].location >= 0 && frames[i].location < FRAME_NO_BCI;
		uintptr_t method = java_method(frames[i].method);

		if (!method)
			return 0;
		words[i] = frame_java(FRAME_INTERPRETED, method, has_bci ? (uint32_t)frames[i].location : FRAME_NO_BCI);
	}
	return (uint32_t)count;
}

static void JNICALL on_unmount(jvmtiEnv *ti, ...)
{
	struct mount m;
	uint64_t id;

	if (!vthreads_parked_is_due())
		return;
	m = MOUNT_OF(ti);
	if (is_at_end(ti))
		return;
	id = (uint64_t)(*m.env)->GetLongField(m.env, m.thread, parked.id);
	virtual_name_tell(m.env, m.thread, id);
	vthreads_parked_begin(id, ask, ti);
}

static void JNICALL on_mount(jvmtiEnv *ti, ...)
{
	struct mount m;

	if (!vthreads_parked_any())
		return;
	m = MOUNT_OF(ti);
	vthreads_parked_end((uint64_t)(*m.env)->GetLongField(m.env, m.thread, parked.id));
}

/* ---- on and off ---- */

static bool find_id(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");

	parked.id = class ? (*env)->GetFieldID(env, class, "tid", "J") : NULL;
	java_clear(env);
	return parked.id;
}

static bool open(void)
{
	JNIEnv *env = jvm_jni();

	if (!env || !find_id(env))
		return false;
	if (!parked.ti) /* else they are listened to since the last round */
		parked.ti = mounts_listen(on_unmount, on_mount);
	if (!parked.ti)
		return false;
	/* From JDK 24 on the first one is not shown there. */
	parked.last[0] =
		java_method_quietly(env, parked.ti, "java.lang.VirtualThread", "run", "(Ljava/lang/Runnable;)V");
	parked.last[1] =
		java_method_quietly(env, parked.ti, "java.lang.VirtualThread$VThreadContinuation$1", "run", "()V");
	vthreads_parked_open();
	return true;
}

static const char not_told[] = "vthreads: parked virtual threads are not seen: the JVM does not tell of them before "
			       "JDK 21\n";

int wall_listen(struct buffer *notes, struct error *err)
{
	parked.wanted = vthreads_parked_are_wanted();
	if (parked.wanted && jvm_is_live() && !open())
		buffer_puts(notes, not_told);
	return 0;
}

void wall_vm_init(void)
{
	if (parked.wanted && !parked.ti && !open())
		log_notes(not_told, sizeof(not_told) - 1);
}

void wall_listen_no_more(bool goes_on)
{
	vthreads_parked_keep(goes_on && parked.ti);
	vthreads_parked_halt();
	if (goes_on)
		return;
	if (parked.ti)
		(*parked.ti)->DisposeEnvironment(parked.ti);
	parked.ti = NULL;
	parked.wanted = false;
}
