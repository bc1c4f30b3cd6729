#include "agent/context/java_context.h"

#include <jvmti.h>
#include <stdlib.h>
#include <string.h>

#include "agent/context/context_table.h"
#include "agent/jvm/jvm.h"
#include "agent/jvm/jvm_functions.h"
#include "common/base/buffer.h"
#include "common/base/utf8.h"

#define CLASS "jstrobe/context/SampleContext"
#define NATIVE(name) Java_jstrobe_context_SampleContext_##name

/* ---- native methods of SampleContext ---- */

JNIEXPORT jobject JNICALL NATIVE(memory)(JNIEnv *env, jclass class);
JNIEXPORT jint JNICALL NATIVE(claim)(JNIEnv *env, jclass class, jlong thread);
JNIEXPORT void JNICALL NATIVE(define)(JNIEnv *env, jclass class, jlong number, jstring text);

JNIEXPORT jobject JNICALL NATIVE(memory)(JNIEnv *env, jclass class)
{
	struct trace_context_cell *cells = trace_contexts_table();

	return cells ? (*env)->NewDirectByteBuffer(env, cells, TRACE_CONTEXT_CELLS * sizeof(*cells)) : NULL;
}

JNIEXPORT jint JNICALL NATIVE(claim)(JNIEnv *env, jclass class, jlong thread)
{
	return (jint)trace_contexts_claim((uint64_t)thread);
}

JNIEXPORT void JNICALL NATIVE(define)(JNIEnv *env, jclass class, jlong number, jstring text)
{
	const char *chars = (*env)->GetStringUTFChars(env, text, NULL);
	struct buffer clean = BUFFER_INIT;

	if (!chars)
		return;
	utf8_put(&clean, chars);
	buffer_putc(&clean, '\0');
	if (!clean.failed && number)
		trace_contexts_define((uint64_t)number, clean.data);
	else if (!clean.failed)
		trace_contexts_refuse(strtoull(clean.data, NULL, 10));
	buffer_free(&clean);
	(*env)->ReleaseStringUTFChars(env, text, chars);
}

/* ---- classes that were there before ---- */

static bool is_ours(jvmtiEnv *ti, jclass class)
{
	char *signature;
	bool ours;

	if ((*ti)->GetClassSignature(ti, class, &signature, NULL))
		return false;
	ours = strcmp(signature, "L" CLASS ";") == 0;
	(*ti)->Deallocate(ti, (unsigned char *)signature);
	return ours;
}

/*
 * Only while the agent is being loaded for the first time its library is not in the JVM's list yet: so the methods are
 * bound here. A class that is not initialised will ask by itself.
 */
static void tell(jvmtiEnv *ti, JNIEnv *env, jclass class)
{
	static const JNINativeMethod natives[] = {
		{(char *)"memory", (char *)"()Ljava/nio/ByteBuffer;", NATIVE(memory)},
		{(char *)"claim", (char *)"(J)I", NATIVE(claim)},
		{(char *)"define", (char *)"(JLjava/lang/String;)V", NATIVE(define)},
	};
	jmethodID open;
	jint status;

	if ((*ti)->GetClassStatus(ti, class, &status) || !(status & JVMTI_CLASS_STATUS_INITIALIZED) ||
	    (*env)->RegisterNatives(env, class, natives, ARRAY_LEN(natives)))
		return;
	open = (*env)->GetStaticMethodID(env, class, "open", "()V");
	if (open)
		(*env)->CallStaticVoidMethod(env, class, open);
}

void agent_trace_contexts_begin(void)
{
	JNIEnv *env = jvm_is_live() ? jvm_jni() : NULL;
	jvmtiEnv *ti = env ? jvm_environment() : NULL;
	jint i, count;
	jclass *classes;

	trace_contexts_otel_find();
	if (!ti)
		return;
	if (!(*ti)->GetLoadedClasses(ti, &count, &classes)) {
		java_room(env, count);
		for (i = 0; i < count; i++) {
			if (is_ours(ti, classes[i]))
				tell(ti, env, classes[i]);
			java_clear(env);
			(*env)->DeleteLocalRef(env, classes[i]);
		}
		(*ti)->Deallocate(ti, (unsigned char *)classes);
	}
	(*ti)->DisposeEnvironment(ti);
}
