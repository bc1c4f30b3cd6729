/*
 * A conversation with the command.
 *
 *      command                         agent
 *      listens, has the JVM load us
 *                             <─ HELLO  connect, token
 *      checks uid, pid, token
 *      WELCOME ─>                       thread "jstrobe talk"
 *      OUTPUT, COMMAND start ─>
 *                             <─ NOTE, DONE
 *      COMMAND status ─>      <─ STATUS, DONE      (as often as it likes)
 *      COMMAND stop ─>        <─ DONE              (the file is written)
 *      closes                           thread ends, nothing is left
 *
 * The thread is none of the JVM's: what needs that, and all that commands the session, the control thread does
 * (agent/command/control_thread.h), while this one waits, with a limit. It has all signals blocked but those of
 * faults (the JVM and our own loads live on them), so that no handler of the program, and none of ours, ever runs on
 * it.
 */
#include "agent/door/talk.h"

#include <errno.h>
#include <fcntl.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/door/talk_commands.h"
#include "agent/hooks/child.h"
#include "agent/command/control_thread.h"
#include "agent/threads/own_thread.h"
#include "agent/threads/records.h"
#include "common/base/error.h"
#include "common/os/os.h"

#define SEND_MS 2000
#define HELLO_MS 10000

/* ---- messages --------------------------------------------------------------- */

static int take_file(struct talk *t, struct error *err)
{
	struct stat st;

	command_forget_place(&t->place);
	/* a pipe could block us for ever */
	if (t->in.fd < 0 || fstat(t->in.fd, &st) || !S_ISREG(st.st_mode))
		return error_set(err, EPROTO, "the command sent no regular file for the result");
	snprintf(t->place.path, sizeof(t->place.path), "%s", *t->in.payload ? t->in.payload : "the command's file");
	t->place.output = t->in.fd;
	t->in.fd = -1;
	return 0;
}

/* No folder is taken from anybody: it would lead out of ours. */
static int take_path(struct talk *t, struct error *err)
{
	command_forget_place(&t->place);
	if (t->in.payload[0] != '/' || strlen(t->in.payload) >= sizeof(t->place.path))
		return error_set(err, EPROTO, "the command named no place for the result");
	strcpy(t->place.path, t->in.payload);
	return 0;
}

static int take_stream(struct talk *t, struct error *err)
{
	struct stat st;

	command_forget_place(&t->place);
	if (t->in.fd < 0 || fstat(t->in.fd, &st) || !S_ISSOCK(st.st_mode))
		return error_set(err, EPROTO, "the command sent no socket for the stream");
	t->place.stream = t->in.fd;
	child_closes(t->place.stream);
	t->in.fd = -1;
	return 0;
}

static int take_perf(struct talk *t, struct error *err)
{
	struct stat st;

	if (t->in.fd < 0 || fstat(t->in.fd, &st) || !S_ISSOCK(st.st_mode))
		return error_set(err, EPROTO, "the command sent no socket to ask for perf descriptors on");
	if (t->place.perf >= 0)
		close(t->place.perf);
	t->place.perf = t->in.fd;
	child_closes(t->place.perf);
	t->in.fd = -1;
	return 0;
}

/* Handle the message received; not 0: the conversation is over. */
static int handle(struct talk *t, struct error *err)
{
	if (!t->welcome) {
		t->welcome = t->in.type == CONTROL_WELCOME;
		return t->welcome ? 0 : error_set(err, EPERM, "the command refused: %s",
						  t->in.payload);
	}
	switch (t->in.type) {
	case CONTROL_OUTPUT:
		return take_file(t, err);
	case CONTROL_FOLDER:
		return error_set(err, EPROTO, "this command passes a folder, which the agent library " JSTROBE_VERSION
				 " does not take; use a command and an agent library of one version");
	case CONTROL_PLACE:
		return take_path(t, err);
	case CONTROL_STREAM:
		return take_stream(t, err);
	case CONTROL_PERF:
		return take_perf(t, err);
	case CONTROL_COMMAND:
		talk_carry_out(t, t->in.payload);
		return 0;
	default:
		return error_set(err, EPROTO, "unexpected message %d from the command",
				 (int)t->in.type);
	}
}

/* ---- the connection --------------------------------------------------------- */

/* True inside a user namespace, where host users can appear as the overflow user. */
static bool in_user_namespace(void)
{
	unsigned long inside = 1, outside = 1, count = 0;
	FILE *f = fopen("/proc/self/uid_map", "re");

	if (f) {
		if (fscanf(f, "%lu %lu %lu", &inside, &outside, &count) != 3)
			count = 0;
		fclose(f);
	}
	return inside != 0 || outside != 0 || count < UINT32_MAX;
}

static int check_peer(struct talk *t, struct error *err)
{
	uid_t uid;

	if (control_peer(t->sock, &t->owner.pid, &uid, err))
		return -err->code;
	if (uid == 0 || uid == geteuid() || (uid == 65534 && in_user_namespace()))
		return 0;
	return error_set(err, EPERM, "the socket belongs to uid %d, neither root nor this JVM's "
			 "user", (int)uid);
}

/* No command listens at PATH: it was killed meanwhile, and cannot remove its socket. */
static void remove_dead(const char *path, int code)
{
	static const char name[] = "/tmp/" CONTROL_PREFIX;
	struct stat st;

	if (code == ECONNREFUSED && strncmp(path, name, strlen(name)) == 0 && !strchr(path + strlen(name), '/') &&
	    lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		unlink(path);
}

int talk_open(JavaVM *vm, const struct options *o, struct talk **talk, struct error *err)
{
	struct talk *t = calloc(1, sizeof(*t));
	char hello[256];
	int rc;

	if (!t)
		return error_set(err, ENOMEM, "out of memory");
	t->vm = vm;
	pthread_mutex_init(&t->sending, NULL);
	control_hold(true);
	t->in.fd = -1;
	t->place = (struct command_place)COMMAND_NO_PLACE;
	t->sock = t->owner.sock = control_connect(o->connect, err);
	if (t->sock < 0) {
		remove_dead(o->connect, err->code);
		control_hold(false);
		free(t);
		return -err->code;
	}
	child_closes(t->sock);
	snprintf(hello, sizeof(hello), "protocol=%d\ntoken=%s\nversion=%s\npid=%d\n",
		 CONTROL_PROTOCOL, o->token, JSTROBE_VERSION, getpid());
	rc = check_peer(t, err);
	if (rc == 0)
		rc = control_send_text(t->sock, CONTROL_HELLO, hello, SEND_MS, err);
	if (rc) {
		talk_end(t);
		return rc;
	}
	*talk = t;
	return 0;
}

void talk_refuse(struct talk *t, const struct error *why)
{
	talk_fail(t, CONTROL_FAILED, why);
}

static void abandon(void *arg)
{
	struct talk *t = arg;

	command_abandon(&t->owner);
}

static void drop(void *arg)
{
	struct talk *t = arg;

	/* at the JVM's end its command may be told the result just now */
	if (control_is_last())
		return;
	command_forget_place(&t->place);
	control_release(&t->in);
	close(t->sock);
	pthread_mutex_destroy(&t->sending);
	free(t);
	control_hold(false);
}

void talk_end(struct talk *t)
{
	struct control_job job = {.name = "end of a conversation", .attached = true, .run = abandon, .drop = drop,
				  .arg = t};

	/* a command that has hung up hears when its session has ended, any other at once that nothing more comes */
	if (!command_owner_is_gone(&t->owner))
		shutdown(t->sock, SHUT_RDWR);
	control_post(&job);
}

int talk_first_command(struct talk *t, struct error *err)
{
	bool commanded = false;
	int rc = 0;

	while (rc == 0 && !commanded) {
		rc = control_receive(t->sock, &t->in, HELLO_MS, err);
		if (rc)
			break;
		commanded = t->in.type == CONTROL_COMMAND;
		rc = handle(t, err);
	}
	return rc;
}

/* ---- the thread ------------------------------------------------------------- */

static void converse(struct talk *t)
{
	struct error err;
	bool over = false;

	while (!over) {
		over = control_receive(t->sock, &t->in, t->welcome ? -1 : HELLO_MS, &err) != 0;
		/* A message that could not be taken in: its sender should know why this is the end. */
		if (over && err.code != ECONNRESET)
			talk_fail(t, CONTROL_FAILED, &err);
		if (!over && control_is_last()) {
			error_set(&err, ESHUTDOWN, "the JVM is ending");
			talk_fail(t, CONTROL_FAILED, &err);
			over = true;
		} else if (!over) {
			over = handle(t, &err) != 0;
		}
	}
}

static void *run(void *data)
{
	struct talk *t = data;

	pthread_setname_np(pthread_self(), "jstrobe talk");
	records_own(os_gettid(), true);
	converse(t);
	records_own(os_gettid(), false);
	talk_end(t);
	return NULL;
}

static int start_thread(struct talk *t, struct error *err)
{
	return thread_start("jstrobe talk", run, t, err);
}

/* The JVM is up and takes threads. */
static void JNICALL vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	struct talk *t = NULL;
	struct error err;

	(*jvmti)->GetEnvironmentLocalStorage(jvmti, (void **)&t);
	if (t && start_thread(t, &err))
		talk_end(t);
	(*jvmti)->DisposeEnvironment(jvmti);
}

/* No thread can be attached while the JVM starts, so an environment of our own waits for it. */
static int start_thread_later(struct talk *t, struct error *err)
{
	static const jvmtiEventCallbacks callbacks = {.VMInit = vm_init};
	jvmtiEnv *jvmti;

	if ((*t->vm)->GetEnv(t->vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK)
		return error_set(err, EIO, "the JVM gives no JVMTI environment");
	if ((*jvmti)->SetEnvironmentLocalStorage(jvmti, t) ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL)) {
		(*jvmti)->DisposeEnvironment(jvmti);
		return error_set(err, EIO, "the JVM refuses to say when it is up (VMInit)");
	}
	return 0;
}

int talk_run(struct talk *t, bool at_load, struct error *err)
{
	return at_load ? start_thread_later(t, err) : start_thread(t, err);
}
