#include "agent/parked.h"

#include <stdatomic.h>
#include <string.h>

#include "agent/java.h"
#include "agent/jvm.h"
#include "agent/log.h"
#include "agent/mounts.h"
#include "engine/parked.h"
#include "signal/frame_word.h"

#define FRAMES 256 /* that are asked for; deeper stacks end there */

static struct {
	jvmtiEnv *ti;     /* of its own: what it costs ends with it */
	bool wanted;
	jfieldID id;      /* Thread.tid */
} parked;

/* ---- callbacks, on the carrier ---- */

/* The stack of the running thread as the JVM says, as frame words. */
static uint32_t stack(jvmtiEnv *ti, uint64_t *words)
{
	jvmtiFrameInfo frames[FRAMES];
	jint i, count;

	if ((*ti)->GetStackTrace(ti, NULL, 0, FRAMES, frames, &count))
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
	uint64_t frames[FRAMES];
	uint32_t count;
	va_list args;
	jthread thread;
	JNIEnv *env;

	if (!parked_is_due())
		return;
	va_start(args, ti);
	env = va_arg(args, JNIEnv *);
	thread = va_arg(args, jthread);
	va_end(args);
	count = stack(ti, frames);
	parked_begin((uint64_t)(*env)->GetLongField(env, thread, parked.id), frames, count);
}

static void JNICALL on_mount(jvmtiEnv *ti, ...)
{
	va_list args;
	jthread thread;
	JNIEnv *env;

	if (!parked_any())
		return;
	va_start(args, ti);
	env = va_arg(args, JNIEnv *);
	thread = va_arg(args, jthread);
	va_end(args);
	parked_end((uint64_t)(*env)->GetLongField(env, thread, parked.id));
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
	parked.ti = mounts_listen(on_unmount, on_mount);
	if (parked.ti)
		parked_open();
	return parked.ti;
}

static const char not_told[] = "vthreads: parked virtual threads are not seen: the JVM does not tell of them before "
			       "JDK 21\n";

void agent_parked_begin(struct buffer *notes)
{
	parked.wanted = parked_are_wanted();
	if (parked.wanted && jvm_is_live() && !open())
		buffer_puts(notes, not_told);
}

void agent_parked_vm_init(void)
{
	if (parked.wanted && !parked.ti && !open())
		log_notes(not_told, sizeof(not_told) - 1);
}

void agent_parked_end(void)
{
	parked_halt();
	if (parked.ti)
		(*parked.ti)->DisposeEnvironment(parked.ti);
	parked.ti = NULL;
	parked.wanted = false;
}
