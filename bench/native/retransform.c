/*
 * retransform.c - what changing classes costs without changing anything: RetransformClasses with a hook that does
 * nothing, in batches, then once more without the hook, as if it was taken off again.
 *
 * Loaded by `jcmd PID JVMTI.agent_load retransform.so PREFIX+PREFIX…,BATCH,FILE`: classes whose signature begins with one
 * of them, BATCH at a time; FILE gets "classes ns_on ns_off worst_batch_ns".
 */
#include <jvmti.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void JNICALL look(jvmtiEnv *ti, JNIEnv *env, jclass being, jobject loader, const char *name,
			 jobject domain, jint size, const unsigned char *bytes, jint *new_size, unsigned char **new_bytes)
{
	(void)ti, (void)env, (void)being, (void)loader, (void)name, (void)domain;
	(void)size, (void)bytes, (void)new_size, (void)new_bytes;
}

/* ns for COUNT classes, BATCH at a time; the longest batch into *WORST. */
static uint64_t change(jvmtiEnv *ti, const jclass *classes, jint count, jint batch, uint64_t *worst)
{
	uint64_t began = now(), from, took;
	jint i;

	for (i = 0; i < count; i += batch) {
		from = now();
		if ((*ti)->RetransformClasses(ti, count - i < batch ? count - i : batch, classes + i))
			return 0;
		took = now() - from;
		*worst = took > *worst ? took : *worst;
	}
	return now() - began;
}

static int begins(const char *signature, const char *prefixes)
{
	size_t n;

	for (; *prefixes; prefixes += n + (prefixes[n] == '+')) {
		n = strcspn(prefixes, "+");
		if (strncmp(signature, prefixes, n) == 0)
			return 1;
	}
	return 0;
}

/* Move the classes whose signature begins with one of PREFIXES to the front; their number. */
static jint choose(jvmtiEnv *ti, jclass *classes, jint count, const char *prefixes)
{
	jint i, chosen = 0;
	jboolean modifiable;
	char *signature;

	for (i = 0; i < count; i++) {
		if ((*ti)->IsModifiableClass(ti, classes[i], &modifiable) || !modifiable ||
		    (*ti)->GetClassSignature(ti, classes[i], &signature, NULL))
			continue;
		if (begins(signature, prefixes))
			classes[chosen++] = classes[i];
		(*ti)->Deallocate(ti, (unsigned char *)signature);
	}
	return chosen;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	char *prefixes = strtok(options, ","), *batch = strtok(NULL, ","), *file = strtok(NULL, ",");
	jvmtiCapabilities wanted = {.can_retransform_classes = 1};
	jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = look};
	uint64_t on, off, worst = 0;
	jclass *classes;
	jvmtiEnv *ti;
	FILE *out;
	jint count;

	(void)reserved;
	if (!file || (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) || (*ti)->AddCapabilities(ti, &wanted) ||
	    (*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks)) || (*ti)->GetLoadedClasses(ti, &count, &classes))
		return JNI_ERR;
	count = choose(ti, classes, count, prefixes);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	on = change(ti, classes, count, atoi(batch), &worst);
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	off = change(ti, classes, count, atoi(batch), &worst);
	out = fopen(file, "w");
	if (!out)
		return JNI_ERR;
	fprintf(out, "%d %llu %llu %llu\n", (int)count, (unsigned long long)on, (unsigned long long)off,
		(unsigned long long)worst);
	fclose(out);
	(*ti)->DisposeEnvironment(ti);
	return JNI_OK;
}
