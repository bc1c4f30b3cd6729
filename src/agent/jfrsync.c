#include "agent/jfrsync.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/jvm.h"
#include "agent/log.h"
#include "format/jfr_types.h"
#include "options/options.h"

#define FILE_NAME "sync.jfr"

/* With the lock, which nobody who runs Java code for other reasons takes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	jobject recording;     /* jdk.jfr.Recording, a global reference; NULL: none runs */
	bool waiting;          /* for VMInit */
	char spec[OPTIONS_FILE_MAX];
	char folder[64];
} jdks;

/* ---- JNI, in fewer words ---- */

/* The exception that was thrown, as text. */
static int thrown(JNIEnv *env, const char *what, struct error *err)
{
	jthrowable e = (*env)->ExceptionOccurred(env);
	jclass class = e ? (*env)->GetObjectClass(env, e) : NULL;
	jmethodID to_string;
	const char *text = NULL;
	jstring string = NULL;

	(*env)->ExceptionClear(env);
	to_string = class ? (*env)->GetMethodID(env, class, "toString", "()Ljava/lang/String;") : NULL;
	if (to_string)
		string = (*env)->CallObjectMethod(env, e, to_string);
	(*env)->ExceptionClear(env);
	text = string ? (*env)->GetStringUTFChars(env, string, NULL) : NULL;
	error_set(err, ENOTSUP, "jfrsync: %s: %s", what, text ? text : "out of memory");
	if (text)
		(*env)->ReleaseStringUTFChars(env, string, text);
	return -err->code;
}

/* OBJECT.NAME(…), which gives an object or nothing; NULL too when it threw. */
static jobject call(JNIEnv *env, jobject object, const char *class_name, const char *name, const char *type, ...)
{
	jclass class = (*env)->FindClass(env, class_name);
	jmethodID method = class ? (*env)->GetMethodID(env, class, name, type) : NULL;
	jobject result = NULL;
	va_list args;

	if (!method)
		return NULL;
	va_start(args, type);
	switch (type[strlen(type) - 1]) {
	case 'V':
		if (strcmp(name, "<init>") == 0)
			result = (*env)->NewObjectV(env, class, method, args);
		else
			(*env)->CallVoidMethodV(env, object, method, args);
		break;
	case 'Z':
		(*env)->CallBooleanMethodV(env, object, method, args);
		break;
	default:
		result = (*env)->CallObjectMethodV(env, object, method, args);
	}
	va_end(args);
	return result;
}

static jobject call_static(JNIEnv *env, const char *class_name, const char *name, const char *type, jobject arg)
{
	jclass class = (*env)->FindClass(env, class_name);
	jmethodID method = class ? (*env)->GetStaticMethodID(env, class, name, type) : NULL;

	return method ? (*env)->CallStaticObjectMethod(env, class, method, arg) : NULL;
}

static jobject path_of(JNIEnv *env, const char *name)
{
	jobject file = call(env, NULL, "java/io/File", "<init>", "(Ljava/lang/String;)V",
			    (*env)->NewStringUTF(env, name));

	return file ? call(env, file, "java/io/File", "toPath", "()Ljava/nio/file/Path;") : NULL;
}

/* ---- settings ---- */

/* A recording with the configuration that SPEC begins with, or with none. */
static jobject new_recording(JNIEnv *env, const char *spec)
{
	size_t n = strcspn(spec, "+");
	char name[OPTIONS_FILE_MAX];
	jobject configuration, from;

	snprintf(name, sizeof(name), "%.*s", (int)n, spec);
	if (!n)
		return call(env, NULL, "jdk/jfr/Recording", "<init>", "()V");
	if (strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".jfc") == 0)) {
		from = path_of(env, name);
		configuration = from ? call_static(env, "jdk/jfr/Configuration", "create",
						   "(Ljava/nio/file/Path;)Ljdk/jfr/Configuration;", from) : NULL;
	} else {
		configuration = call_static(env, "jdk/jfr/Configuration", "getConfiguration",
					    "(Ljava/lang/String;)Ljdk/jfr/Configuration;",
					    (*env)->NewStringUTF(env, name));
	}
	return configuration ? call(env, NULL, "jdk/jfr/Recording", "<init>", "(Ljdk/jfr/Configuration;)V",
				    configuration) : NULL;
}

/* "jdk.FileRead#threshold=1ms#stackTrace=false" */
static void switch_on(JNIEnv *env, jobject recording, char *event)
{
	char *rest = event, *name = strsep(&rest, "#"), *setting;
	jobject settings = call(env, recording, "jdk/jfr/Recording", "enable",
				"(Ljava/lang/String;)Ljdk/jfr/EventSettings;", (*env)->NewStringUTF(env, name));

	while (settings && (setting = strsep(&rest, "#")) != NULL) {
		char *value = setting, *key = strsep(&value, "=");

		settings = call(env, settings, "jdk/jfr/EventSettings", "with",
				"(Ljava/lang/String;Ljava/lang/String;)Ljdk/jfr/EventSettings;",
				(*env)->NewStringUTF(env, key), (*env)->NewStringUTF(env, value ? value : "true"));
	}
}

static void switch_off(JNIEnv *env, jobject recording, const char *event)
{
	call(env, recording, "jdk/jfr/Recording", "disable", "(Ljava/lang/String;)Ljdk/jfr/EventSettings;",
	     (*env)->NewStringUTF(env, event));
}

/* What we record ourselves, but for the heap: of that the JDK tells each collection's. And its own sampler. */
static void switch_ours_off(JNIEnv *env, jobject recording)
{
	unsigned i;

	switch_off(env, recording, "jdk.NativeMethodSample");

	for (i = 0; i < jfr_row_count && !(*env)->ExceptionCheck(env); i++) {
		const struct jfr_row *row = &jfr_rows[i];

		if (row->is_field || row->kind != JFR_EVENT || strncmp(row->name, "jdk.", 4) != 0 ||
		    row->type == JFR_GC_HEAP_SUMMARY || row->type == JFR_ACTIVE_SETTING ||
		    row->type == JFR_ACTIVE_RECORDING)
			continue;
		switch_off(env, recording, row->name);
	}
}

static void set_up(JNIEnv *env, jobject recording, const char *spec)
{
	char events[OPTIONS_FILE_MAX], *rest = events, *event, path[128];

	switch_ours_off(env, recording);
	snprintf(events, sizeof(events), "%s", spec + strcspn(spec, "+"));
	while (!(*env)->ExceptionCheck(env) && (event = strsep(&rest, "+")) != NULL)
		if (*event)
			switch_on(env, recording, event);
	if ((*env)->ExceptionCheck(env))
		return;
	snprintf(path, sizeof(path), "%s/" FILE_NAME, jdks.folder);
	call(env, recording, "jdk/jfr/Recording", "setName", "(Ljava/lang/String;)V",
	     (*env)->NewStringUTF(env, "jstrobe"));
	call(env, recording, "jdk/jfr/Recording", "setToDisk", "(Z)V", (jint)JNI_TRUE);
	call(env, recording, "jdk/jfr/Recording", "setDestination", "(Ljava/nio/file/Path;)V", path_of(env, path));
	if (!(*env)->ExceptionCheck(env)) /* at the JVM's end the JDK stops it before we hear of that end */
		call(env, recording, "jdk/jfr/Recording", "setDumpOnExit", "(Z)V", (jint)JNI_TRUE);
}

/* ---- begin and end ---- */

static void remove_folder(void)
{
	char path[128];

	if (!jdks.folder[0])
		return;
	snprintf(path, sizeof(path), "%s/" FILE_NAME, jdks.folder);
	unlink(path);
	rmdir(jdks.folder);
	jdks.folder[0] = '\0';
}

static int make_folder(struct error *err)
{
	snprintf(jdks.folder, sizeof(jdks.folder), "/tmp/.jstrobe-jfr-XXXXXX");
	if (mkdtemp(jdks.folder))
		return 0;
	jdks.folder[0] = '\0';
	return error_set(err, errno, "jfrsync: the JDK's recording has no place in /tmp: %s; make it writable",
			 strerror(errno));
}

/* Locked, attached. */
static int start(JNIEnv *env, struct error *err)
{
	jobject recording;
	int rc = make_folder(err);

	if (rc)
		return rc;
	if ((*env)->PushLocalFrame(env, 256)) {
		remove_folder();
		return thrown(env, "no memory for its objects", err);
	}
	recording = new_recording(env, jdks.spec);
	if (recording)
		set_up(env, recording, jdks.spec);
	if (recording && !(*env)->ExceptionCheck(env))
		call(env, recording, "jdk/jfr/Recording", "start", "()V");
	if (recording && !(*env)->ExceptionCheck(env))
		jdks.recording = (*env)->NewGlobalRef(env, recording);
	else if (!(*env)->ExceptionCheck(env))
		rc = error_set(err, ENOMEM, "jfrsync: out of memory for the JDK's recording");
	else
		rc = thrown(env, "the JDK's recording cannot begin (a program made of modules needs --add-modules "
			    "jdk.jfr)", err);
	if (rc && recording)
		call(env, recording, "jdk/jfr/Recording", "close", "()V");
	(*env)->ExceptionClear(env);
	(*env)->PopLocalFrame(env, NULL);
	if (rc)
		remove_folder();
	return rc;
}

/* The thread's JNI functions, *ATTACHED if it had none before. */
static JNIEnv *enter(bool *attached)
{
	JNIEnv *env = jvm_jni();

	*attached = !env && jvm_attach("jstrobe jfrsync");
	return env ? env : *attached ? jvm_jni() : NULL;
}

static int start_attached(struct error *err)
{
	bool attached;
	JNIEnv *env = enter(&attached);
	int rc = env ? start(env, err) : error_set(err, EAGAIN, "jfrsync: the JVM takes no threads now; try again");

	if (attached)
		jvm_detach();
	return rc;
}

int jfrsync_begin(const char *spec, struct error *err)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	snprintf(jdks.spec, sizeof(jdks.spec), "%s", spec);
	if (jdks.recording)
		rc = error_set(err, EBUSY, "jfrsync: the JDK's recording of the last session runs still");
	else if (jvm_is_live())
		rc = start_attached(err);
	else
		jdks.waiting = true;
	pthread_mutex_unlock(&lock);
	return rc;
}

void jfrsync_vm_init(void)
{
	struct error err;

	pthread_mutex_lock(&lock);
	if (jdks.waiting && start_attached(&err))
		log_error("%s; the recording goes on without the JDK's events", err.text);
	jdks.waiting = false;
	pthread_mutex_unlock(&lock);
}

/* Stopped, it writes its file. At the JVM's end it was stopped already: that is no error. */
static void stop(JNIEnv *env)
{
	if ((*env)->PushLocalFrame(env, 64) == 0) {
		call(env, jdks.recording, "jdk/jfr/Recording", "stop", "()Z");
		(*env)->ExceptionClear(env);
		call(env, jdks.recording, "jdk/jfr/Recording", "close", "()V");
		(*env)->ExceptionClear(env);
		(*env)->PopLocalFrame(env, NULL);
	}
	(*env)->ExceptionClear(env);
	(*env)->DeleteGlobalRef(env, jdks.recording);
}

int jfrsync_end(struct error *err)
{
	char path[128];
	bool attached;
	JNIEnv *env;
	int fd;

	pthread_mutex_lock(&lock);
	jdks.waiting = false;
	if (!jdks.recording) {
		pthread_mutex_unlock(&lock);
		return -ENOENT;
	}
	env = enter(&attached);
	if (env)
		stop(env);
	if (attached)
		jvm_detach();
	jdks.recording = NULL;
	snprintf(path, sizeof(path), "%s/" FILE_NAME, jdks.folder);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		fd = error_set(err, EIO, "jfrsync: what the JDK recorded cannot be read: %s", strerror(errno));
	remove_folder();
	pthread_mutex_unlock(&lock);
	return fd;
}
