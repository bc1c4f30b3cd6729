/* slow_start.c - an agent that holds the JVM up between VMStart and VMInit, for so many ms as its option says. */
#include <jvmti.h>
#include <stdlib.h>
#include <unistd.h>

static int ms;

static void JNICALL on_start(jvmtiEnv *ti, JNIEnv *env)
{
	(void)ti;
	(void)env;
	usleep((useconds_t)ms * 1000);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEventCallbacks callbacks = {.VMStart = on_start};
	jvmtiEnv *ti;

	(void)reserved;
	ms = atoi(options);
	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2))
		return JNI_ERR;
	(*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks));
	return (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_START, NULL) ? JNI_ERR : JNI_OK;
}
