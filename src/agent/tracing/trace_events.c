/*
 * trace_events.c - what the JVM tells a tracing session: that a thread ends, and that one waits for a monitor or in
 * Object.wait; and the JVMTI environment that it tells it to.
 */
#include "agent/tracing/trace_events.h"

#include <errno.h>

#include "agent/jvm/jvm.h"
#include "agent/tracing/probe.h"
#include "agent/tracing/trace_classes.h"
#include "agent/tracing/tree.h"

static void JNICALL on_thread_end(jvmtiEnv *ti, JNIEnv *env, jthread thread)
{
	uint64_t id = probe_thread_id(env, thread);

	if (id)
		tree_thread_end(id);
}

static void JNICALL on_contended(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object)
{
	tree_wait_begin(probe_thread_id(env, thread), CALLS_MONITOR);
}

static void JNICALL on_entered(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object)
{
	tree_wait_end(probe_thread_id(env, thread), CALLS_MONITOR);
}

static void JNICALL on_wait(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object, jlong timeout)
{
	tree_wait_begin(probe_thread_id(env, thread), CALLS_WAIT);
}

static void JNICALL on_waited(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object, jboolean timed_out)
{
	tree_wait_end(probe_thread_id(env, thread), CALLS_WAIT);
}

void trace_events_listen(jvmtiEnv *ti, bool on, bool waits)
{
	static const jvmtiEvent of_waits[] = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
					      JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_WAIT,
					      JVMTI_EVENT_MONITOR_WAITED};
	jvmtiEventMode mode = on ? JVMTI_ENABLE : JVMTI_DISABLE;
	size_t i;

	(*ti)->SetEventNotificationMode(ti, mode, JVMTI_EVENT_THREAD_END, NULL);
	for (i = 0; i < ARRAY_LEN(of_waits) && waits; i++)
		(*ti)->SetEventNotificationMode(ti, mode, of_waits[i], NULL);
}

int trace_events_init(jvmtiEnv **kept, struct error *err)
{
	static const jvmtiEventCallbacks callbacks = {
		.ClassFileLoadHook = trace_classes_load,
		.ClassLoad = trace_classes_loaded,
		.ThreadEnd = on_thread_end,
		.MonitorContendedEnter = on_contended,
		.MonitorContendedEntered = on_entered,
		.MonitorWait = on_wait,
		.MonitorWaited = on_waited,
	};
	jvmtiEnv *ti;
	int rc;

	if (*kept)
		return 0;
	ti = jvm_environment();
	if (!ti)
		return error_set(err, EIO, "the JVM gives no JVMTI environment");
	rc = trace_classes_init(ti, err);
	if (rc == 0 && (*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks)))
		rc = error_set(err, EIO, "the JVM takes no callbacks");
	if (rc)
		(*ti)->DisposeEnvironment(ti);
	else
		*kept = ti;
	return rc;
}
