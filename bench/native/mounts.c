/*
 * mounts.c - what the JVM itself takes to tell of each switch of a virtual thread: callbacks that do nothing.
 *
 * Loaded by `jcmd PID JVMTI.agent_load mounts.so on`, and once more with `off`.
 */
#include <jvmti.h>
#include <string.h>

static jvmtiEnv *ti;

static void JNICALL nothing(jvmtiEnv *env, ...)
{
	(void)env;
}

static jint begin(JavaVM *vm)
{
	jvmtiExtensionEventInfo *events;
	jvmtiCapabilities wanted;
	jint i, count;

	/* can_support_virtual_threads, which headers before JDK 21 do not have: the 45th bit */
	memset(&wanted, 0, sizeof(wanted));
	((unsigned char *)&wanted)[5] = 0x10;
	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) || (*ti)->AddCapabilities(ti, &wanted) ||
	    (*ti)->GetExtensionEvents(ti, &count, &events))
		return JNI_ERR;
	for (i = 0; i < count; i++)
		if (strstr(events[i].id, ".VirtualThreadMount") || strstr(events[i].id, ".VirtualThreadUnmount")) {
			(*ti)->SetExtensionEventCallback(ti, events[i].extension_event_index, nothing);
			(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)events[i].extension_event_index,
							NULL);
		}
	return JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	if (options && strcmp(options, "on") == 0)
		return begin(vm);
	if (ti)
		(*ti)->DisposeEnvironment(ti);
	ti = NULL;
	return JNI_OK;
}
