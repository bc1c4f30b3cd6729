/*
 * attaching.c - the JVM's table of AttachCurrentThread() and the like leads through ours for some milliseconds.
 *
 * Ours lasts for ever and passes on for ever: a thread may have looked it up just before it went.
 */
#include "agent/jvm/half_attached.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/os/os.h"

#define HOLD_LIMIT (10 * NS_PER_S) /* a thread waits no longer */
#define WAIT_LIMIT (2 * NS_PER_S)  /* nor do we, for those that are at it: a collection of garbage, say */
#define BETWEEN NS_PER_MS

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

/* False: a thread stays half attached. Who may be just before the list is waited for too, but refuses nothing. */
static bool wait_for_those_at_it(struct half_attached *h, void (*stand_at_safepoint)(void))
{
	uint64_t until = os_monotonic() + WAIT_LIMIT;
	enum half_attached_seen seen;

	do {
		stand_at_safepoint(); /* its end lets go who waits for the lock of the list */
		seen = half_attached_look(h);
		if (seen != HALF_ATTACHED_NONE)
			os_sleep(BETWEEN);
	} while (seen != HALF_ATTACHED_NONE && os_monotonic() < until);
	return seen != HALF_ATTACHED_HALF;
}

static bool concerns(JavaVM *vm)
{
	JNIEnv *env;

	return (*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK && (*env)->GetVersion(env) >= 0x00150000;
}

static void stand_in_front(JavaVM *vm)
{
	const struct JNIInvokeInterface_ *_Atomic *table = (const struct JNIInvokeInterface_ *_Atomic *)vm;
	const struct JNIInvokeInterface_ *own;

	if (!theirs) {
		theirs = atomic_load(table);
		ours = *theirs;
		ours.AttachCurrentThread = attach;
		ours.AttachCurrentThreadAsDaemon = attach_as_daemon;
	}
	own = theirs;
	atomic_store(&held, true);
	atomic_compare_exchange_strong(table, &own, &ours);
}

int attaching_hold(JavaVM *vm, void (*stand_at_safepoint)(void), struct error *err)
{
	struct half_attached *h;
	bool whole = true;

	if (!concerns(vm))
		return 0;
	h = malloc(sizeof(*h));
	/* before any thread is held: this asks the loader, whose lock one of them may have */
	if (h && half_attached_open(h)) {
		stand_in_front(vm);
		whole = wait_for_those_at_it(h, stand_at_safepoint);
		half_attached_close(h);
	}
	free(h);
	return whole ? 0 : error_set(err, EAGAIN, "a thread of the program is half attached to the JVM (JNI) and does "
				     "not get on, perhaps for want of memory: the first agent would end the JVM now "
				     "(JDK-8311556); try again in a moment");
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
