/*
 * suspender.c - an agent that does what a debugger does: it suspends threads just as they begin and end, wherever they
 * are, for as long as the file exists that its option names.
 */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT 40 /* Comings waits when more live than 64 */

static jvmtiEnv *ti;
static char *file;
static jthread threads[LIMIT]; /* suspended */
static _Atomic(jthread) born;  /* the next one */
static atomic_bool on;

static void JNICALL on_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	jvmtiThreadInfo info;
	int i;

	if (!atomic_load(&on) || (*jvmti)->GetThreadInfo(jvmti, thread, &info) || !info.name)
		return;
	/* one thread makes them all, one after the other has begun */
	if (strncmp(info.name, "comer", 5) == 0 && !atomic_load(&born)) {
		atomic_store(&born, (*env)->NewGlobalRef(env, thread));
		/* both run now: the one goes on, the other suspends it soon */
		for (i = 0; i < 2000 && atomic_load(&born); i++)
			usleep(1000);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
}

/* THREAD, a moment after its begin, each time another one; false: it has ended. */
static bool suspend(jthread thread, int round)
{
	volatile int spin;

	for (spin = 0; spin < round % 64 * 50; spin++)
		;
	return (*ti)->SuspendThread(ti, thread) == JVMTI_ERROR_NONE;
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *env, void *arg)
{
	int count = 0, round = 0;
	jthread thread;

	(void)arg;
	while (access(file, F_OK))
		usleep(10000);
	atomic_store(&on, true);
	while (count < LIMIT) {
		thread = atomic_exchange(&born, NULL);
		if (thread && suspend(thread, round++))
			threads[count++] = thread;
		else if (thread)
			(*env)->DeleteGlobalRef(env, thread);
	}
	atomic_store(&on, false);
	printf("suspended %d\n", count);
	fflush(stdout);
	while (!access(file, F_OK))
		usleep(10000);
	while (count--) {
		(*jvmti)->ResumeThread(jvmti, threads[count]);
		(*env)->DeleteGlobalRef(env, threads[count]);
	}
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");
	jmethodID make = (*env)->GetMethodID(env, class, "<init>", "(Ljava/lang/String;)V");
	jobject helper = (*env)->NewObject(env, class, make, (*env)->NewStringUTF(env, "suspender"));

	(void)thread;
	(*jvmti)->RunAgentThread(jvmti, helper, run, NULL, JVMTI_THREAD_MAX_PRIORITY);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiCapabilities wanted = {.can_suspend = 1};
	jvmtiEventCallbacks callbacks = {.VMInit = on_init, .ThreadStart = on_start};

	(void)reserved;
	file = strdup(options);
	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) || (*ti)->AddCapabilities(ti, &wanted))
		return JNI_ERR;
	(*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks));
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_THREAD_START, NULL);
	return JNI_OK;
}
