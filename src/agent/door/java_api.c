#include "agent/door/java_api.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "agent/command/lent.h"
#include "agent/command/pending_output.h"
#include "agent/door/entry.h"
#include "agent/door/java_strings.h"
#include "agent/door/text_command.h"
#include "agent/hooks/copies.h"
#include "agent/jvm/jvm_functions.h"
#include "agent/session/session.h"
#include "agent/threads/java_threads.h"

/* ---- which copy serves ---- */

/*
 * The native method NUMBER of the copy that serves; NULL: we do. That is the one that has a session, also one that the
 * command began by a copy of its own; without one that which served last, for it has the last result.
 */
static void *elsewhere(enum copy_native number)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
	static struct copy *last;
	struct copy *serves, *found;

	pthread_mutex_lock(&lock);
	if (!last)
		last = copies_for_java(false);
	if (!atomic_load(&last->sampling)) {
		found = copies_for_java(true);
		last = found ? found : last;
	}
	serves = last;
	pthread_mutex_unlock(&lock);
	return serves == &jstrobe_copy ? NULL : atomic_load(&serves->natives[number]);
}

static int begin(JNIEnv *env, struct error *err)
{
	JavaVM *vm;

	if ((*env)->GetJavaVM(env, &vm))
		return error_set(err, EIO, "the JVM does not give itself");
	return entry_begin(vm, false, err);
}

/* ---- failures ---- */

/* A failure to write, whatever the place is. */
static bool is_about_files(int code)
{
	static const int codes[] = {ENOSPC, EDQUOT, EIO, EROFS, EFBIG, ESTALE};
	size_t i = 0;

	while (i < ARRAY_LEN(codes) && codes[i] != code)
		i++;
	return i < ARRAY_LEN(codes);
}

/* Read TEXT into O and check it: the class of the exception that says why not, or NULL. */
static const char *read_command(const char *text, bool with_file, struct options *o, struct error *err)
{
	struct options *to;
	int rc;

	if (options_parse_agent(o, text, ',', err) || text_command_is_of_load(o, err))
		return JAVA_ARGUMENT;
	if (!o->file[0])
		return NULL;
	if (!with_file) {
		error_set(err, EINVAL, "file: the result is asked for as bytes; leave it out, or call execute");
		return JAVA_ARGUMENT;
	}
	/* whether there is such a place, before anything else is asked; it is looked at once more later */
	to = lent_options(err);
	if (!to)
		return JAVA_STATE;
	*to = *o;
	rc = pending_check_path(to, err);
	lent_back(to);
	return rc == 0 ? NULL : rc == -EINVAL ? JAVA_ARGUMENT : JAVA_IO;
}

/* ---- commands ---- */

/* Carry out COMMAND; its answer, with a NUL behind it, or false with an exception. */
static bool execute(JNIEnv *env, jstring command, bool with_file, struct buffer *answer)
{
	struct buffer text = BUFFER_INIT;
	struct error err;
	struct options *o = NULL;
	const char *thrown = JAVA_STATE;
	int rc = java_text(env, command, &text, &err);

	if (rc) {
		thrown = JAVA_ARGUMENT;
	} else if (begin(env, &err) == 0 && (o = lent_options(&err)) != NULL) {
		struct text_command c = {.text = text.data, .options = o, .asks = true};

		thrown = read_command(text.data, with_file, o, &err);
		if (!thrown && text_command_is_empty(o, &err))
			thrown = JAVA_ARGUMENT;
		if (!thrown)
			text_command_say_left_out(o);
		if (!thrown && text_command(&c, answer, &err))
			thrown = is_about_files(err.code) ? JAVA_IO : JAVA_STATE;
	}
	lent_back(o);
	buffer_free(&text);
	buffer_putc(answer, '\0');
	if (!thrown && answer->failed) {
		error_set(&err, answer->failed, "out of memory for the answer; name a file for it");
		thrown = JAVA_STATE;
	}
	if (thrown)
		java_throw(env, thrown, err.text);
	return !thrown;
}

/* Options for `start(event, interval)`, a line each; an interval of 0 is the event's own. */
static int describe_start(const char *event, jlong interval, bool reset, struct buffer *text, struct error *err)
{
	bool alloc = strcmp(event, "alloc") == 0, lock = strcmp(event, "lock") == 0;

	if (strchr(event, '\n'))
		return error_set(err, EINVAL, "event: the value has a line break");
	if (interval < 0 && !alloc && !lock)
		return error_set(err, EINVAL, "interval: %lld is below 0; 0 means the default of the event",
				 (long long)interval);
	buffer_puts(text, reset ? "start\n" : "resume\n");
	if ((alloc && interval > 0) || (lock && interval >= 0))
		buffer_printf(text, "%s=%lld\n", event, (long long)interval);
	else
		buffer_printf(text, "event=%s\n", event);
	if (!alloc && !lock && interval > 0)
		buffer_printf(text, "interval=%lld\n", (long long)interval);
	buffer_putc(text, '\0');
	return text->failed ? error_set(err, ENOMEM, "out of memory") : 0;
}

/* Carry out TEXT, options a line each. */
static int carry_out_lines(const char *text, struct error *err)
{
	struct options *o = lent_options(err);
	struct buffer answer = BUFFER_INIT;
	const struct text_command c = {.text = text, .options = o, .lines = true, .asks = true};
	int rc = o ? options_parse_agent(o, text, '\n', err) : -ENOMEM;

	if (rc == 0)
		rc = text_command(&c, &answer, err);
	lent_back(o);
	buffer_free(&answer);
	return rc;
}

/* ---- native methods ---- */

#define NATIVE(name) Java_one_profiler_AsyncProfiler_##name
#define ALSO(name) __attribute__((alias("Java_one_profiler_AsyncProfiler_" #name)))

typedef void start_fn(JNIEnv *env, jobject this, jstring event, jlong interval, jboolean reset);
typedef void stop_fn(JNIEnv *env, jobject this);
typedef jstring execute_fn(JNIEnv *env, jobject this, jstring command);
typedef jbyteArray execute_bytes_fn(JNIEnv *env, jobject this, jstring command);
typedef jlong samples_fn(JNIEnv *env, jobject this);
typedef void filter_fn(JNIEnv *env, jobject this, jthread thread, jboolean enable);

JNIEXPORT start_fn NATIVE(start0);
JNIEXPORT stop_fn NATIVE(stop0);
JNIEXPORT execute_fn NATIVE(execute0);
JNIEXPORT execute_bytes_fn NATIVE(execute1);
JNIEXPORT samples_fn NATIVE(getSamples);
JNIEXPORT filter_fn NATIVE(filterThread0);

/* The same by the name of our own class. */
JNIEXPORT start_fn Java_jstrobe_Profiler_start0 ALSO(start0);
JNIEXPORT stop_fn Java_jstrobe_Profiler_stop0 ALSO(stop0);
JNIEXPORT execute_fn Java_jstrobe_Profiler_execute0 ALSO(execute0);
JNIEXPORT execute_bytes_fn Java_jstrobe_Profiler_execute1 ALSO(execute1);
JNIEXPORT samples_fn Java_jstrobe_Profiler_getSamples ALSO(getSamples);
JNIEXPORT filter_fn Java_jstrobe_Profiler_filterThread0 ALSO(filterThread0);

void NATIVE(start0)(JNIEnv *env, jobject this, jstring event, jlong interval, jboolean reset)
{
	start_fn *there = elsewhere(COPY_START);
	struct buffer name = BUFFER_INIT, text = BUFFER_INIT;
	struct error err;
	bool read;
	int rc;

	if (there) {
		there(env, this, event, interval, reset);
		return;
	}
	rc = java_text(env, event, &name, &err);
	read = rc == 0;
	if (rc == 0)
		rc = begin(env, &err);
	if (rc == 0)
		rc = describe_start(name.data, interval, reset, &text, &err);
	if (rc == 0)
		rc = carry_out_lines(text.data, &err);
	buffer_free(&name);
	buffer_free(&text);
	if (rc)
		java_throw(env, read ? JAVA_STATE : JAVA_ARGUMENT, err.text);
}

void NATIVE(stop0)(JNIEnv *env, jobject this)
{
	stop_fn *there = elsewhere(COPY_STOP);
	struct error err;
	int rc;

	if (there) {
		there(env, this);
		return;
	}
	rc = begin(env, &err);
	if (rc == 0)
		rc = carry_out_lines("stop", &err);
	if (rc)
		java_throw(env, JAVA_STATE, err.text);
}

jstring NATIVE(execute0)(JNIEnv *env, jobject this, jstring command)
{
	execute_fn *there = elsewhere(COPY_EXECUTE);
	struct buffer answer = BUFFER_INIT;
	jstring string = NULL;

	if (there)
		return there(env, this, command);
	if (execute(env, command, true, &answer))
		string = java_string(env, answer.data, answer.length - 1);
	buffer_free(&answer);
	return string;
}

jbyteArray NATIVE(execute1)(JNIEnv *env, jobject this, jstring command)
{
	execute_bytes_fn *there = elsewhere(COPY_EXECUTE_BYTES);
	struct buffer answer = BUFFER_INIT;
	jbyteArray bytes = NULL;

	if (there)
		return there(env, this, command);
	if (execute(env, command, false, &answer))
		bytes = java_bytes(env, answer.data, answer.length - 1);
	buffer_free(&answer);
	return bytes;
}

jlong NATIVE(getSamples)(JNIEnv *env, jobject this)
{
	samples_fn *there = elsewhere(COPY_SAMPLES);
	struct session_status s;

	if (there)
		return there(env, this);
	session_get_status(&s);
	return (jlong)s.stored;
}

void NATIVE(filterThread0)(JNIEnv *env, jobject this, jthread thread, jboolean enable)
{
	filter_fn *there = elsewhere(COPY_FILTER);
	struct error err;

	if (there) {
		there(env, this, thread, enable);
		return;
	}
	if (begin(env, &err))
		java_throw(env, JAVA_STATE, err.text);
	else
		java_threads_let(env, thread, enable);
}

/* ---- where they are found ---- */

static const struct {
	enum copy_native number;
	JNINativeMethod method;
} natives[] = {
#define ROW(number, name, signature) {number, {(char *)#name, (char *)signature, NATIVE(name)}}
	ROW(COPY_START, start0, "(Ljava/lang/String;JZ)V"),
	ROW(COPY_STOP, stop0, "()V"),
	ROW(COPY_EXECUTE, execute0, "(Ljava/lang/String;)Ljava/lang/String;"),
	ROW(COPY_EXECUTE_BYTES, execute1, "(Ljava/lang/String;)[B"),
	ROW(COPY_SAMPLES, getSamples, "()J"),
	ROW(COPY_FILTER, filterThread0, "(Ljava/lang/Thread;Z)V"),
#undef ROW
};

void java_api_show(void)
{
	size_t i;

	/* START last: with it all are there */
	for (i = ARRAY_LEN(natives); i-- > 0;)
		atomic_store(&jstrobe_copy.natives[natives[i].number], natives[i].method.fnPtr);
}

void java_api_bind(JNIEnv *env, jclass class)
{
	size_t i;

	/* each by itself: JMH's class has but some of them */
	for (i = 0; i < ARRAY_LEN(natives); i++) {
		(*env)->RegisterNatives(env, class, &natives[i].method, 1);
		java_clear(env);
	}
}
