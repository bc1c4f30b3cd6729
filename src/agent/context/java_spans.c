/*
 * java_spans.c - native methods of one.profiler.Recording in jstrobe.jar: spans that Java code marks.
 */
#include <jni.h>
#include <string.h>

#include "agent/context/marks.h"
#include "agent/hooks/child.h"
#include "common/base/base.h"
#include "common/os/os.h"

/* As in Recording.java. */
enum { STOPPED = 1, RUNNING = 2 };

JNIEXPORT jint JNICALL Java_one_profiler_Recording_state0(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_one_profiler_Recording_emit0(JNIEnv *env, jclass class, jlong from, jlong to, jstring tag);

jint Java_one_profiler_Recording_state0(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	return marks_are_heard() && !child_is_here() ? RUNNING : STOPPED;
}

/*
 * FROM and TO are System.nanoTime(), which is the monotonic clock (os::javaTimeNanos); a span that ends early is empty.
 * A tag in the JVM's kind of UTF-8, up to three bytes a character, is cut where there is no more room.
 */
void Java_one_profiler_Recording_emit0(JNIEnv *env, jclass class, jlong from, jlong to, jstring tag)
{
	char text[MARKS_LONGEST + 1] = "";

	(void)class;
	if (!marks_are_heard() || child_is_here() || from <= 0)
		return;
	if (tag)
		(*env)->GetStringUTFRegion(env, tag, 0, MIN((*env)->GetStringLength(env, tag), MARKS_LONGEST / 3),
					   text);
	marks_put(&(struct mark){
		.time = (uint64_t)from, .duration = to > from ? (uint64_t)(to - from) : 0, .tid = os_gettid(),
		.type = MARK_SPAN, .length = (uint32_t)strlen(text), .data = text,
	});
}
