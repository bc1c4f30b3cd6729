#include "agent/session/jfrsync.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/jvm/jvm.h"
#include "agent/jvm/log.h"
#include "common/options/options.h"
#include "profile/writers/jfr/jfr_types.h"

#define FILE_NAME "sync.jfr"
#define LOCAL_FRAME 1024 /* references to objects; four a setting, and the list of them is not that long */

/* With the lock, which no thread that runs Java code for other reasons takes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	jobject recording;     /* jdk.jfr.Recording, a global reference; NULL: none runs */
	bool waiting;          /* for VMInit */
	char spec[OPTIONS_FILE_MAX];
	char folder[64];
} jdks;

/* ---- JNI, in fewer words ---- */

/* Once something has thrown, nothing more is called: what would come next needs what did not come. */
struct java {
	JNIEnv *env;
	jthrowable thrown; /* no longer on its way; NULL = nothing was */
};

/* Whether all is well so far. After each call that may throw. */
static bool is_well(struct java *j)
{
	jthrowable e = (*j->env)->ExceptionOccurred(j->env);

	if (e) {
		(*j->env)->ExceptionClear(j->env);
		if (!j->thrown)
			j->thrown = e;
	}
	return !j->thrown;
}

static jmethodID find(struct java *j, jclass *class, const char *class_name, const char *name, const char *type,
		      bool is_static)
{
	jmethodID method = NULL;

	*class = j->thrown ? NULL : (*j->env)->FindClass(j->env, class_name);
	if (!j->thrown && is_well(j) && *class)
		method = is_static ? (*j->env)->GetStaticMethodID(j->env, *class, name, type)
				   : (*j->env)->GetMethodID(j->env, *class, name, type);
	return !j->thrown && is_well(j) ? method : NULL;
}

/* OBJECT.NAME(…), which gives an object or nothing; NULL too when it threw. */
static jobject call(struct java *j, jobject object, const char *class_name, const char *name, const char *type, ...)
{
	JNIEnv *env = j->env;
	jobject result = NULL;
	jmethodID method;
	va_list args;
	jclass class;

	method = find(j, &class, class_name, name, type, false);
	va_start(args, type);
	if (!method)
		;
	else if (strcmp(name, "<init>") == 0)
		result = (*env)->NewObjectV(env, class, method, args);
	else if (type[strlen(type) - 1] == 'V')
		(*env)->CallVoidMethodV(env, object, method, args);
	else if (type[strlen(type) - 1] == 'Z')
		(*env)->CallBooleanMethodV(env, object, method, args);
	else
		result = (*env)->CallObjectMethodV(env, object, method, args);
	va_end(args);
	if (!is_well(j))
		result = NULL;
	(*env)->DeleteLocalRef(env, class);
	return result;
}

static jobject call_static(struct java *j, const char *class_name, const char *name, const char *type, jobject arg)
{
	jclass class;
	jmethodID method = find(j, &class, class_name, name, type, true);
	jobject result = method ? (*j->env)->CallStaticObjectMethod(j->env, class, method, arg) : NULL;

	if (!is_well(j))
		result = NULL;
	(*j->env)->DeleteLocalRef(j->env, class);
	return result;
}

static jstring text_of(struct java *j, const char *text)
{
	jstring string = j->thrown ? NULL : (*j->env)->NewStringUTF(j->env, text);

	return is_well(j) ? string : NULL;
}

static jobject path_of(struct java *j, const char *name)
{
	jobject file = call(j, NULL, "java/io/File", "<init>", "(Ljava/lang/String;)V", text_of(j, name));

	return call(j, file, "java/io/File", "toPath", "()Ljava/nio/file/Path;");
}

/* What was thrown, as text. */
static int thrown(struct java *j, const char *what, struct error *err)
{
	struct java inner = {.env = j->env};
	const char *text = NULL;
	jstring string = NULL;

	if (j->thrown)
		string = call(&inner, j->thrown, "java/lang/Throwable", "toString", "()Ljava/lang/String;");
	if (string)
		text = (*j->env)->GetStringUTFChars(j->env, string, NULL);
	error_set(err, ENOTSUP, "jfrsync: %s: %s", what, text ? text : "out of memory");
	if (text)
		(*j->env)->ReleaseStringUTFChars(j->env, string, text);
	return -err->code;
}

/* ---- settings ---- */

/* A recording with the configuration that SPEC begins with, or with none. */
static jobject new_recording(struct java *j, const char *spec)
{
	size_t n = strcspn(spec, "+");
	char name[OPTIONS_FILE_MAX];
	jobject configuration, from;

	snprintf(name, sizeof(name), "%.*s", (int)n, spec);
	if (!n)
		return call(j, NULL, "jdk/jfr/Recording", "<init>", "()V");
	if (strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".jfc") == 0)) {
		from = path_of(j, name);
		configuration = from ? call_static(j, "jdk/jfr/Configuration", "create",
						   "(Ljava/nio/file/Path;)Ljdk/jfr/Configuration;", from) : NULL;
	} else {
		configuration = call_static(j, "jdk/jfr/Configuration", "getConfiguration",
					    "(Ljava/lang/String;)Ljdk/jfr/Configuration;",
					    text_of(j, name));
	}
	return configuration ? call(j, NULL, "jdk/jfr/Recording", "<init>", "(Ljdk/jfr/Configuration;)V",
				    configuration) : NULL;
}

/* "jdk.FileRead#threshold=1ms#stackTrace=false" */
static void switch_on(struct java *j, jobject recording, char *event)
{
	char *rest = event, *name = strsep(&rest, "#"), *setting;
	jobject settings = call(j, recording, "jdk/jfr/Recording", "enable",
				"(Ljava/lang/String;)Ljdk/jfr/EventSettings;", text_of(j, name));

	while (settings && (setting = strsep(&rest, "#")) != NULL) {
		char *value = setting, *key = strsep(&value, "=");

		settings = call(j, settings, "jdk/jfr/EventSettings", "with",
				"(Ljava/lang/String;Ljava/lang/String;)Ljdk/jfr/EventSettings;",
				text_of(j, key), text_of(j, value ? value : "true"));
	}
}

static void switch_off(struct java *j, jobject recording, const char *event)
{
	jstring name = text_of(j, event);
	jobject settings = call(j, recording, "jdk/jfr/Recording", "disable",
				"(Ljava/lang/String;)Ljdk/jfr/EventSettings;", name);

	(*j->env)->DeleteLocalRef(j->env, settings);
	(*j->env)->DeleteLocalRef(j->env, name);
}

/* What we record ourselves, but for the heap: of that the JDK tells each collection's. And its own sampler. */
static void switch_ours_off(struct java *j, jobject recording)
{
	unsigned i;

	switch_off(j, recording, "jdk.NativeMethodSample");

	for (i = 0; i < jfr_row_count && !j->thrown; i++) {
		const struct jfr_row *row = &jfr_rows[i];

		if (row->is_field || row->kind != JFR_EVENT || strncmp(row->name, "jdk.", 4) != 0 ||
		    row->type == JFR_GC_HEAP_SUMMARY || row->type == JFR_ACTIVE_SETTING ||
		    row->type == JFR_ACTIVE_RECORDING)
			continue;
		switch_off(j, recording, row->name);
	}
}

static void set_up(struct java *j, jobject recording, const char *spec)
{
	char events[OPTIONS_FILE_MAX], *rest = events, *event, path[128];

	switch_ours_off(j, recording);
	snprintf(events, sizeof(events), "%s", spec + strcspn(spec, "+"));
	while (!j->thrown && (event = strsep(&rest, "+")) != NULL)
		if (*event)
			switch_on(j, recording, event);
	if (j->thrown)
		return;
	snprintf(path, sizeof(path), "%s/" FILE_NAME, jdks.folder);
	call(j, recording, "jdk/jfr/Recording", "setName", "(Ljava/lang/String;)V",
	     text_of(j, "jstrobe"));
	call(j, recording, "jdk/jfr/Recording", "setToDisk", "(Z)V", (jint)JNI_TRUE);
	call(j, recording, "jdk/jfr/Recording", "setDestination", "(Ljava/nio/file/Path;)V", path_of(j, path));
	if (!j->thrown) /* at the JVM's end the JDK stops it before we hear of that end */
		call(j, recording, "jdk/jfr/Recording", "setDumpOnExit", "(Z)V", (jint)JNI_TRUE);
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
			 error_text(errno));
}

/* Locked, attached, within a frame for local references. */
static int start_recording(struct java *j, struct error *err)
{
	jobject recording = new_recording(j, jdks.spec);
	struct java closing = {.env = j->env};

	if (recording)
		set_up(j, recording, jdks.spec);
	if (recording && !j->thrown)
		call(j, recording, "jdk/jfr/Recording", "start", "()V");
	if (recording && !j->thrown)
		jdks.recording = (*j->env)->NewGlobalRef(j->env, recording);
	if (jdks.recording)
		return 0;
	if (recording)
		call(&closing, recording, "jdk/jfr/Recording", "close", "()V");
	if (!j->thrown)
		return error_set(err, ENOMEM, "jfrsync: out of memory for the JDK's recording");
	return thrown(j, "the JDK's recording cannot begin (a program made of modules needs --add-modules jdk.jfr)",
		      err);
}

static int start(JNIEnv *env, struct error *err)
{
	struct java j = {.env = env};
	int rc = make_folder(err);

	if (rc)
		return rc;
	if ((*env)->PushLocalFrame(env, LOCAL_FRAME)) {
		is_well(&j);
		rc = thrown(&j, "no memory for its objects", err);
	} else {
		rc = start_recording(&j, err);
		(*env)->PopLocalFrame(env, NULL);
	}
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
	struct java stopping = {.env = env}, closing = {.env = env};

	if ((*env)->PushLocalFrame(env, LOCAL_FRAME) == 0) {
		call(&stopping, jdks.recording, "jdk/jfr/Recording", "stop", "()Z");
		call(&closing, jdks.recording, "jdk/jfr/Recording", "close", "()V");
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
		fd = error_set(err, EIO, "jfrsync: what the JDK recorded cannot be read: %s", error_text(errno));
	remove_folder();
	pthread_mutex_unlock(&lock);
	return fd;
}
