/*
 * alloc_taker.c - an agent that takes the JVM's samples of allocations for itself, as another profiler does. Attached
 * with "give" it gives them back.
 */
#include <jvmti.h>
#include <string.h>

static const jvmtiCapabilities samples = {.can_generate_sampled_object_alloc_events = 1};
static jvmtiEnv *ti;

static jint take(JavaVM *vm)
{
	if (!ti && (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		return JNI_ERR;
	return (*ti)->AddCapabilities(ti, &samples) == JVMTI_ERROR_NONE ? JNI_OK : JNI_ERR;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)options;
	(void)reserved;
	return take(vm);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	if (!options || strcmp(options, "give") != 0)
		return take(vm);
	return (*ti)->RelinquishCapabilities(ti, &samples) == JVMTI_ERROR_NONE ? JNI_OK : JNI_ERR;
}
