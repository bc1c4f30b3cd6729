/*
 * attaching.c - the JVM's table of AttachCurrentThread() and the like leads through ours for some milliseconds.
 *
 * Ours lasts for ever and passes on for ever: a thread may have looked it up just before it went.
 */
#include "agent/attaching.h"

#include <stdatomic.h>
#include <string.h>

#include "hotspot/layout.h"
#include "os/os.h"
#include "signal/load.h"

#define HOLD_LIMIT NS_PER_S            /* a thread waits no longer */
#define WAIT_LIMIT (500 * NS_PER_MS)   /* nor do we, for those that are at it: a collection of garbage, say */
#define THREADS_LIMIT 1000000

static struct JNIInvokeInterface_ ours;
static const struct JNIInvokeInterface_ *theirs;
static atomic_bool held;

static void stand_by(void)
{
	uint64_t until = os_monotonic() + HOLD_LIMIT;

	while (atomic_load(&held) && os_monotonic() < until)
		os_sleep(NS_PER_MS / 2);
}

static jint JNICALL attach(JavaVM *vm, void **env, void *args)
{
	stand_by();
	return theirs->AttachCurrentThread(vm, env, args);
}

static jint JNICALL attach_as_daemon(JavaVM *vm, void **env, void *args)
{
	stand_by();
	return theirs->AttachCurrentThreadAsDaemon(vm, env, args);
}

/* Whether the list that THREADS points to has no thread without its java.lang.Thread. It may change meanwhile. */
static bool are_whole(const struct layout *l, uintptr_t threads)
{
	uintptr_t list, again, array, thread, handle, object;
	uint32_t length, i;

	if (!load_word(threads, &list) || !list || !load_u32(list + (uintptr_t)l->threads_length, &length) ||
	    length > THREADS_LIMIT || !load_word(list + (uintptr_t)l->threads_array, &array))
		return false;
	for (i = 0; i < length; i++)
		if (!load_word(array + i * sizeof(uintptr_t), &thread) ||
		    !load_word(thread + (uintptr_t)l->thread_object, &handle) || !handle ||
		    !load_word(handle, &object) || !object)
			return false;
	return load_word(threads, &again) && again == list;
}

static void wait_for_those_at_it(void)
{
	uint64_t until = os_monotonic() + WAIT_LIMIT;
	struct layout l;
	struct error ignored;

	if (layout_read(&l, &ignored) || !l.threads || l.threads_length < 0 || l.threads_array < 0 ||
	    l.thread_object < 0)
		return;
	while (!are_whole(&l, l.threads) && os_monotonic() < until)
		os_sleep(NS_PER_MS / 2);
}

static bool concerns(JavaVM *vm)
{
	JNIEnv *env;

	return (*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK && (*env)->GetVersion(env) >= 0x00150000;
}

void attaching_hold(JavaVM *vm)
{
	const struct JNIInvokeInterface_ *_Atomic *table = (const struct JNIInvokeInterface_ *_Atomic *)vm;

	if (theirs || !concerns(vm))
		return;
	theirs = atomic_load(table);
	ours = *theirs;
	ours.AttachCurrentThread = attach;
	ours.AttachCurrentThreadAsDaemon = attach_as_daemon;
	atomic_store(&held, true);
	atomic_store(table, &ours);
	wait_for_those_at_it();
}

void attaching_go_on(JavaVM *vm)
{
	const struct JNIInvokeInterface_ *_Atomic *table = (const struct JNIInvokeInterface_ *_Atomic *)vm;
	const struct JNIInvokeInterface_ *own = &ours;

	if (!atomic_exchange(&held, false))
		return;
	/* Where another's stands before ours by now, ours stays and passes on. */
	atomic_compare_exchange_strong(table, &own, theirs);
}
