/*
 * A thread with a slow call that is held while the JVM is asked, as by a debugger: other threads' calls are noted, the
 * session ends, its result is read. The JVM is a fake here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/tracing/probe.h"
#include "agent/tracing/trace_slow.h"

#define FIRST 10

static void (*tell)(JNIEnv *env, const struct tree_exit *e);
static __thread bool is_held;
static sem_t there, go;

/* ---- instead of the probes ---- */

void probe_on_slow(void (*to)(JNIEnv *env, const struct tree_exit *e), bool quickly)
{
	if (to)
		tell = to;
}

uint64_t probe_thread_id(JNIEnv *env, jthread thread)
{
	return 7;
}

/* ---- instead of the JVM ---- */

static struct method {
	const char *class_name, *name, *type;
} methods[] = {{"Lp/A;", "run", "()V"}, {"Lp/B;", "run", "()V"}, {"Lp/A;", "run", "(I)V"}, {"Lp/A;", "go", "()V"}};
static const unsigned *stack; /* places in methods, the innermost first */
static jint stack_depth;

static jvmtiError JNICALL get_stack_trace(jvmtiEnv *ti, jthread thread, jint depth, jint most, jvmtiFrameInfo *info,
					  jint *count)
{
	for (*count = 0; *count < stack_depth; ++*count)
		info[*count] = (jvmtiFrameInfo){(jmethodID)&methods[stack[*count]], -1};
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_declaring_class(jvmtiEnv *ti, jmethodID method, jclass *class)
{
	*class = (jclass)method;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_signature(jvmtiEnv *ti, jclass class, char **signature, char **generic)
{
	*signature = strdup(((struct method *)class)->class_name);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_method_name(jvmtiEnv *ti, jmethodID method, char **name, char **type, char **generic)
{
	*name = strdup(((struct method *)method)->name);
	*type = strdup(((struct method *)method)->type);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_current_thread(jvmtiEnv *ti, jthread *thread)
{
	*thread = (jthread)&there;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_thread_info(jvmtiEnv *ti, jthread thread, jvmtiThreadInfo *info)
{
	if (is_held) {
		sem_post(&there);
		sem_wait(&go);
	}
	info->name = strdup(is_held ? "held" : "free");
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *ti, unsigned char *text)
{
	free(text);
	return JVMTI_ERROR_NONE;
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject ref)
{
}

static struct jvmtiInterface_1_ ti_calls;
static struct JNINativeInterface_ jni_calls;
static jvmtiEnv ti = &ti_calls;
static JNIEnv jni = &jni_calls;

static void call(void)
{
	tell(&jni, &(struct tree_exit){FIRST + 1, 1000, 5000});
}

static void *held_call(void *unused)
{
	is_held = true;
	call();
	return NULL;
}

static pthread_t hold(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, held_call, NULL), 0);
	sem_wait(&there);
	return thread;
}

static void let_go(pthread_t thread)
{
	sem_post(&go);
	pthread_join(thread, NULL);
}

static void assert_events(uint32_t count, uint64_t lost, const char *last)
{
	struct calls c = {.method_count = 5};

	assert_int_equal(trace_slow_read(&c), 0);
	assert_int_equal(c.event_count, count);
	assert_int_equal(c.events_lost, lost);
	if (count)
		assert_string_equal(c.events[count - 1].thread, last);
	free(c.frames);
	free(c.stacks);
	free(c.events);
	free(c.slow_texts);
}

static void held_up(void **state)
{
	pthread_t thread;

	alarm(60); /* what waits for the thread that is held waits for ever */
	trace_slow_begin(&ti, FIRST);
	thread = hold();
	call();
	trace_slow_end();
	assert_events(1, 1, "free");
	let_go(thread);
	assert_events(2, 0, "held");
	trace_slow_forget();
	alarm(0);
}

/* What is told when its session has been forgotten is no call of the next one. */
static void held_longer(void **state)
{
	pthread_t thread;

	alarm(60);
	trace_slow_begin(&ti, FIRST);
	thread = hold();
	trace_slow_end();
	trace_slow_forget();
	trace_slow_begin(&ti, FIRST);
	call();
	let_go(thread);
	assert_events(1, 0, "free");
	trace_slow_end();
	trace_slow_forget();
	alarm(0);
}

/* Each call has the stack it was made from, and equal ones are kept once. */
static void stacks_apart(void **state)
{
	static const unsigned stacks[][2] = {{0, 1}, {1, 0}, {2, 1}, {3, 1}, {0, 1}};
	struct calls c = {.method_count = 5};
	unsigned i, k;

	trace_slow_begin(&ti, FIRST);
	stack_depth = 2;
	for (i = 0; i < ARRAY_LEN(stacks); i++) {
		stack = stacks[i];
		call();
	}
	stack_depth = 1;
	call();
	stack_depth = 0;
	trace_slow_end();
	assert_int_equal(trace_slow_read(&c), 0);
	assert_int_equal(c.event_count, ARRAY_LEN(stacks) + 1);
	assert_int_equal(c.stack_count, 5);
	assert_int_equal(c.frame_count, ARRAY_LEN(methods));
	for (i = 0; i < c.event_count; i++) {
		const struct calls_stack *s = &c.stacks[c.events[i].stack];
		const unsigned *wanted = stacks[i < ARRAY_LEN(stacks) ? i : i - 1];

		assert_int_equal(s->count, i < ARRAY_LEN(stacks) ? 2 : 1);
		for (k = 0; k < s->count; k++) {
			const struct calls_frame *f = &c.frames[s->frames[k]];
			const struct method *m = &methods[wanted[k]];

			assert_int_equal(f->class_name[2], m->class_name[3]);
			assert_string_equal(f->name, m->name);
			assert_string_equal(f->type, m->type);
		}
	}
	free(c.frames);
	free(c.stacks);
	free(c.events);
	free(c.slow_texts);
	trace_slow_forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_up), cmocka_unit_test(held_longer), cmocka_unit_test(stacks_apart),
	};

	ti_calls.GetStackTrace = get_stack_trace;
	ti_calls.GetMethodDeclaringClass = get_declaring_class;
	ti_calls.GetClassSignature = get_class_signature;
	ti_calls.GetMethodName = get_method_name;
	ti_calls.GetCurrentThread = get_current_thread;
	ti_calls.GetThreadInfo = get_thread_info;
	ti_calls.Deallocate = deallocate;
	jni_calls.DeleteLocalRef = delete_local_ref;
	sem_init(&there, 0, 0);
	sem_init(&go, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
