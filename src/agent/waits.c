#include "agent/waits.h"

#include <errno.h>
#include <string.h>

#include "agent/java.h"
#include "agent/jvm.h"
#include "agent/log.h"

#define JNI_21 0x00150000
#define PROBE_FRAMES 2 /* jstrobe.Waits.begin, and LockSupport's */

static struct {
	jvmtiEnv *ti;   /* with its capabilities, once one was needed */
	bool on;        /* a session watches */
	bool up;        /* fields are known, probes are in place as far as they can be */
	bool wants_parks, parks; /* probes shall be, and are in place */
	bool wants_sleeps, virtual_sleeps; /* the same */
} waits;

/* ---- callbacks, on the thread that waits ---- */

uint64_t agent_wait_begin(JNIEnv *env, jthread thread, jobject lock, enum lock_kind kind,
			  enum wait_method method)
{
	struct wait_begin b = {.kind = kind, .method = method};

	if (waits_event() < 0)
		return 0;
	b.thread = agent_wait_thread(env, thread);
	if (!b.thread)
		return 0;
	b.skip = method == WAIT_NO_METHOD ? 0 : PROBE_FRAMES;
	b.virtual_id = java_is_virtual(env, thread) ? b.thread : 0;
	if (lock)
		waits_lock_read(env, lock, &b);
	b.monitor = kind == LOCK_MONITOR ? lock : NULL;
	return waits_begin(&b);
}

static void JNICALL on_enter(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject lock)
{
	agent_wait_begin(env, thread, lock, LOCK_MONITOR, WAIT_NO_METHOD);
}

static void JNICALL on_wait(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject lock, jlong timeout)
{
	agent_wait_begin(env, thread, lock, LOCK_WAIT, WAIT_NO_METHOD);
}

static void end(JNIEnv *env, jthread thread, enum lock_kind kind)
{
	if (waits_event() >= 0)
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
		.ClassFileLoadHook = waits_park_load,
		.MonitorContendedEnter = on_enter,
		.MonitorContendedEntered = on_entered,
		.MonitorWait = on_wait,
		.MonitorWaited = on_waited,
	};
	const jvmtiCapabilities monitors = {.can_generate_monitor_events = 1};
	const jvmtiCapabilities classes = {.can_retransform_classes = 1, .can_generate_all_class_hook_events = 1};
	jvmtiEnv *ti;

	if (waits.ti)
		return 0;
	ti = jvm_environment();
	if (!ti || (*ti)->AddCapabilities(ti, &monitors) ||
	    (*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks))) {
		if (ti)
			(*ti)->DisposeEnvironment(ti);
		return error_set(err, ENOTSUP, "lock: this JVM does not tell of contended monitors");
	}
	(*ti)->AddCapabilities(ti, &classes); /* without it parks cannot be watched, which is said then */
	waits.ti = ti;
	return 0;
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

static void open_sleeps(JNIEnv *env, struct buffer *notes)
{
	struct error err;

	if (waits_sleep_put(env, waits.ti, true, &err))
		buffer_printf(notes, "lock: Thread.sleep is not watched: %s\n", err.text);
	if ((*env)->GetVersion(env) < JNI_21)
		return;
	waits.virtual_sleeps = waits_park_virtual(env, waits.ti, true, &err) == 0;
	if (!waits.virtual_sleeps)
		buffer_printf(notes, "lock: Thread.sleep of virtual threads is not watched: %s\n", err.text);
}

/* The JVM is up: all of it may be used. */
static void open(struct buffer *notes)
{
	JNIEnv *env = jvm_jni();
	struct error err;

	if (!env || !waits_lock_open(env, waits.ti)) {
		buffer_puts(notes, "lock: this JDK's java.lang.Thread is not as expected: nothing is watched\n");
		return;
	}
	waits.parks = waits.wants_parks && waits_park_put(env, waits.ti, true, &err) == 0;
	if (waits.wants_parks && !waits.parks)
		buffer_printf(notes, "lock: monitors only, LockSupport.park is not watched: %s\n", err.text);
	if (waits.wants_sleeps)
		open_sleeps(env, notes);
	waits.up = true;
	enable_monitors(true);
	waits_open();
}

int agent_waits_begin(bool parks, bool sleeps, struct buffer *notes, struct error *err)
{
	int rc;

	if (!waits_are_wanted())
		return 0;
	rc = environment(err);
	if (rc)
		return rc;
	waits.on = true;
	waits.wants_parks = parks;
	waits.wants_sleeps = sleeps;
	if (jvm_is_live())
		open(notes);
	return 0;
}

void agent_waits_vm_init(void)
{
	struct buffer notes = BUFFER_INIT;

	if (!waits.on || waits.up)
		return;
	open(&notes);
	if (notes.length)
		log_notes(notes.data, notes.length);
	buffer_free(&notes);
}

void agent_waits_end(void)
{
	JNIEnv *env = jvm_jni();
	struct error ignored;

	if (!waits.on)
		return;
	/* First of all, so that the end of the session itself is no wait. */
	waits_halt();
	if (waits.up)
		enable_monitors(false);
	if (waits.parks && env)
		waits_park_put(env, waits.ti, false, &ignored);
	if (waits.virtual_sleeps && env)
		waits_park_virtual(env, waits.ti, false, &ignored);
	if (env)
		waits_sleep_put(env, waits.ti, false, &ignored);
	waits.on = waits.up = waits.parks = waits.virtual_sleeps = false;
}

void agent_waits_vm_death(void)
{
	if (waits.up)
		enable_monitors(false);
	waits.up = waits.parks = waits.virtual_sleeps = false;
}
