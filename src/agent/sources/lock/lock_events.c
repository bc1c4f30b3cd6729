#include "agent/sources/lock/lock_events.h"

#include <errno.h>
#include <string.h>

#include "agent/jvm/jvm.h"
#include "agent/jvm/jvm_functions.h"
#include "agent/jvm/log.h"
#include "agent/sources/active.h"
#include "agent/sources/callback_source.h"
#include "agent/threads/thread_names.h"

static struct {
	jvmtiEnv *ti;   /* with its capability, once it was needed */
	bool on;        /* a session watches */
	bool up;        /* fields are known, all that can be watched is */
	bool parks, sleeps;
} waits;

/* ---- callbacks, on the thread that waits ---- */

uint64_t agent_wait_begin(JNIEnv *env, jthread thread, jobject lock, struct wait_begin *b)
{
	if (waits_event(WAITS_OF_JAVA) < 0)
		return 0;
	b->thread = agent_wait_thread(env, thread);
	if (!b->thread)
		return 0;
	b->virtual_id = java_is_virtual(env, thread) ? b->thread : 0;
	if (b->virtual_id)
		virtual_name_tell(env, thread, b->virtual_id);
	if (lock)
		waits_lock_read(env, lock, b);
	b->monitor = b->kind == LOCK_MONITOR ? lock : NULL;
	return waits_begin(b, 0);
}

static void JNICALL on_enter(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject lock)
{
	struct wait_begin b = {.kind = LOCK_MONITOR};

	agent_wait_begin(env, thread, lock, &b);
}

static void JNICALL on_wait(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject lock, jlong timeout)
{
	struct wait_begin b = {.kind = LOCK_WAIT};

	agent_wait_begin(env, thread, lock, &b);
}

static void end(JNIEnv *env, jthread thread, enum lock_kind kind)
{
	if (waits_listens(WAITS_OF_JAVA))
		waits_end(agent_wait_thread(env, thread), kind, 0);
}

static void JNICALL on_entered(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject lock)
{
	end(env, thread, LOCK_MONITOR);
}

static void JNICALL on_waited(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject lock, jboolean timed_out)
{
	end(env, thread, LOCK_WAIT);
}

/* ---- begin and end of a session ---- */

static int environment(struct error *err)
{
	static const jvmtiEventCallbacks callbacks = {
		.MonitorContendedEnter = on_enter,
		.MonitorContendedEntered = on_entered,
		.MonitorWait = on_wait,
		.MonitorWaited = on_waited,
	};
	const jvmtiCapabilities monitors = {.can_generate_monitor_events = 1};

	if (!waits.ti)
		waits.ti = callback_source_environment(&callbacks, &monitors);
	return waits.ti ? 0 : error_set(err, ENOTSUP, "lock: this JVM does not tell of contended monitors");
}

static void enable_monitors(bool on)
{
	static const jvmtiEvent events[] = {
		JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_WAIT,
		JVMTI_EVENT_MONITOR_WAITED,
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(events); i++)
		(*waits.ti)->SetEventNotificationMode(waits.ti, on ? JVMTI_ENABLE : JVMTI_DISABLE, events[i], NULL);
}

/* The JVM is up: all of it may be used. */
static void open(struct buffer *notes)
{
	JNIEnv *env = jvm_jni();

	if (!env || !waits_lock_open(env, waits.ti)) {
		buffer_puts(notes, "lock: this JDK's java.lang.Thread is not as expected: nothing is watched\n");
		return;
	}
	waits_park_begin(env, waits.ti, waits.parks, waits.sleeps, notes);
	waits.up = true;
	enable_monitors(true);
	waits_open(WAITS_OF_JAVA);
}

int lock_listen(struct buffer *notes, struct error *err)
{
	int rc;

	if (!waits_are_wanted(WAITS_OF_JAVA))
		return 0;
	rc = environment(err);
	if (rc)
		return rc;
	waits.on = true;
	waits.parks = !active_options()->nopark;
	waits.sleeps = active_options()->sleep;
	if (jvm_is_live())
		open(notes);
	return 0;
}

void lock_vm_init(void)
{
	struct buffer notes = BUFFER_INIT;

	if (!waits.on || waits.up)
		return;
	open(&notes);
	if (notes.length)
		log_notes(notes.data, notes.length);
	buffer_free(&notes);
}

void lock_listen_no_more(bool goes_on)
{
	if (!waits.on)
		return;
	waits_keep_open(goes_on && waits.up);
	/* First of all, so that the end of the session itself is no wait. */
	waits_halt(WAITS_OF_JAVA);
	if (goes_on)
		return;
	lock_vm_death();
	waits_park_end();
	waits.on = false;
}

void lock_vm_death(void)
{
	if (waits.up)
		enable_monitors(false);
	waits.up = false;
}
