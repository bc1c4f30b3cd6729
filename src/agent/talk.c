/*
 * A conversation with the command.
 *
 *      command                         agent
 *      listens, has the JVM load us
 *                             <─ HELLO  connect, token
 *      checks uid, pid, token
 *      WELCOME ─>                       thread "jstrobe control"
 *      OUTPUT, COMMAND start ─>
 *                             <─ NOTE, DONE
 *      COMMAND status ─>      <─ STATUS, DONE      (as often as it likes)
 *      COMMAND stop ─>        <─ DONE              (the file is written)
 *      closes                           thread ends, nothing is left
 *
 * A session started with `owner` belongs to its conversation: when the command
 * is gone the session is stopped and its data are forgotten. When the JVM ends
 * first, the thread that runs VMDeath writes the result and sends ENDED.
 *
 * The thread is attached to the JVM as a daemon and has all signals blocked,
 * so that no handler of the program, and none of ours, ever runs on it.
 */
#include "agent/talk.h"

#include <errno.h>
#include <fcntl.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/entry.h"
#include "agent/owed.h"
#include "agent/session.h"
#include "control/control.h"
#include "format/format.h"

#define SEND_MS 2000
#define HELLO_MS 10000
#define STACK_SIZE (1024 * 1024)

struct talk {
	JavaVM *vm;
	int sock;
	struct control_message in;
	bool welcome;  /* the command has accepted us */
	int output;    /* the file for the next result, or -1 */
	int folder;    /* the folder for it, or -1 */
	char name[OPTIONS_FILE_MAX]; /* the file's name in that folder */
	pid_t peer;    /* the command's pid, 0 if out of sight */
};

static struct {
	struct talk *owner; /* whose session runs; NULL: nobody's */
	struct talk *data;  /* whose data are kept, for as long as the conversation goes on */
	bool vm_dead;       /* the JVM must not be touched any more */
} shared;

/* ---- answers ---------------------------------------------------------------- */

static void say(struct talk *t, enum control_type type, const char *text)
{
	struct error lost;

	/* a command that is gone is noticed at the next receive */
	control_send_text(t->sock, type, text, SEND_MS, &lost);
}

static void fail(struct talk *t, enum control_type type, const struct error *why)
{
	char text[640];

	snprintf(text, sizeof(text), "code=%d\nreason=%s\n", why->code, why->text);
	say(t, type, text);
}

static void say_buffer(struct talk *t, enum control_type type, struct buffer *b)
{
	struct error lost;
	size_t at, n;

	for (at = 0; at < b->length; at += n) {
		n = MIN(b->length - at, (size_t)CONTROL_MAX);
		if (control_send(t->sock, type, b->data + at, n, -1, SEND_MS, &lost))
			break;
	}
	buffer_free(b);
}

static void put_status(struct buffer *b)
{
	struct session_status s;
	const struct options *o = session_options();

	memset(&s, 0, sizeof(s));
	session_get_status(&s);
	buffer_printf(b, "running=%d\nhas_data=%d\nevent=%s\nengine=%s\ninterval=%llu\n", s.running,
		      s.has_data, s.event ? s.event : "", s.engine ? s.engine : "",
		      (unsigned long long)s.interval);
	buffer_printf(b, "running_for=%llu\ntaken=%llu\nstored=%llu\nlost=%llu\n",
		      (unsigned long long)s.running_for, (unsigned long long)s.taken,
		      (unsigned long long)s.stored, (unsigned long long)s.lost);
	buffer_printf(b, "threads=%u\nthreads_perf=%u\nthreads_timer=%u\nqueue_bytes=%llu\n",
		      s.threads, s.threads_perf, s.threads_timer,
		      (unsigned long long)s.queue_bytes);
	buffer_printf(b, "owed=%s\nowner=%d\nformat=%s\nversion=%s\n", owed_name(),
		      shared.owner ? (int)shared.owner->peer : 0, o ? o->format : "",
		      JSTROBE_VERSION);
}

/* The line that says what happened to the samples. */
static void put_loss_line(const struct options *how, struct buffer *b)
{
	struct buffer line = BUFFER_INIT;
	struct options o = *how;
	struct error ignored;
	size_t n;

	strcpy(o.format, "loss");
	if (session_dump(&o, &line, &ignored) == 0 && line.length) {
		const char *end = memchr(line.data, '\n', line.length);

		n = end ? (size_t)(end - line.data) : line.length;
		buffer_printf(b, "loss=%.*s\n", (int)n, line.data);
	}
	buffer_free(&line);
}

/* ---- commands --------------------------------------------------------------- */

static void forget_places(struct talk *t)
{
	if (t->output >= 0)
		close(t->output);
	if (t->folder >= 0)
		close(t->folder);
	t->output = t->folder = -1;
}

static int check_owner(const struct talk *t, struct error *err)
{
	if (!shared.owner || shared.owner == t)
		return 0;
	return error_set(err, EBUSY, "the session belongs to a running 'jstrobe record' (pid %d); "
			 "stop that one", (int)shared.owner->peer);
}

int talk_check_free(struct error *err)
{
	return check_owner(NULL, err);
}

void talk_disown(void)
{
	shared.owner = shared.data = NULL;
}

/* The command's folder must take a new file from us; better said now than after the session. */
static int check_folder(const struct talk *t, struct error *err)
{
	if (t->folder < 0 || faccessat(t->folder, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return 0;
	return error_set(err, errno, "the target (uid %d) cannot write into the folder of %s: %s; "
			 "choose another folder, or leave -f to 'jstrobe stop'", (int)geteuid(),
			 t->name, strerror(errno));
}

static int start(struct talk *t, const struct options *o, struct buffer *answer,
		 struct error *err)
{
	struct buffer notes = BUFFER_INIT;
	int rc = check_owner(t, err);

	if (rc == 0)
		rc = check_folder(t, err);
	if (rc == 0)
		rc = o->action == ACTION_RESUME ? session_resume(o, &notes, err)
						: session_start(o, &notes, err);
	say_buffer(t, CONTROL_NOTE, &notes);
	if (rc)
		return rc;
	shared.data = shared.owner = o->owner ? t : NULL;
	if (t->output >= 0)
		owed_to_file(o, t->output);
	else if (t->folder >= 0)
		owed_to_folder(o, t->folder, t->name);
	else if (o->action == ACTION_START)
		owed_nothing();
	t->output = t->folder = -1;
	put_status(answer);
	return 0;
}

/* How the result shall look: as said at the start, then as said now. */
static int result_options(const char *text, struct options *o, struct error *err)
{
	const struct options *said = session_options();

	options_init(o);
	if (said)
		*o = *said;
	o->action = ACTION_NONE;
	if (options_parse_agent(o, text, '\n', err))
		return -err->code;
	if (!o->format[0])
		strcpy(o->format, "hot");
	return 0;
}

static int write_result(struct talk *t, const struct options *o, struct error *err)
{
	if (t->output >= 0)
		return owed_write_file(o, t->output, err);
	return owed_write(o, err);
}

static int stop_or_dump(struct talk *t, const char *text, bool stop, struct buffer *answer,
			struct error *err)
{
	struct session_status s;
	struct options o;
	int rc = stop ? check_owner(t, err) : 0;

	if (rc == 0)
		rc = result_options(text, &o, err);
	if (rc)
		return rc;
	memset(&s, 0, sizeof(s));
	session_get_status(&s);
	if (!s.running && (stop || !s.has_data))
		return error_set(err, ENOENT, "no session runs in this JVM%s", s.has_data ?
				 "; 'jstrobe dump' writes the result of the last one" :
				 "; 'jstrobe start' or 'jstrobe record' begins one");
	if (stop) {
		rc = session_stop(err);
		shared.owner = NULL;
		if (rc)
			return rc;
	}
	put_status(answer);
	rc = write_result(t, &o, err);
	/* after a failure to write, the data are still there for another try */
	if (rc)
		return rc;
	put_loss_line(&o, answer);
	if (stop)
		owed_nothing();
	return 0;
}

/* The conversation ends, and with it the session that it owns and the data of that. */
static void abandon(struct talk *t)
{
	struct error ignored;

	if (shared.owner == t) {
		shared.owner = NULL;
		owed_nothing();
		session_stop(&ignored);
	}
	if (shared.data == t) {
		shared.data = NULL;
		session_forget();
	}
}

static void carry_out(struct talk *t, const char *text)
{
	struct buffer answer = BUFFER_INIT, body = BUFFER_INIT;
	struct options o;
	struct error err;
	int rc;

	options_init(&o);
	rc = options_parse_agent(&o, text, '\n', &err);
	switch (rc ? ACTION_NONE : o.action) {
	case ACTION_START:
	case ACTION_RESUME:
		rc = start(t, &o, &answer, &err);
		break;
	case ACTION_STOP:
	case ACTION_DUMP:
		rc = stop_or_dump(t, text, o.action == ACTION_STOP, &answer, &err);
		break;
	case ACTION_STATUS:
		put_status(&body);
		say_buffer(t, CONTROL_STATUS, &body);
		break;
	case ACTION_LIST:
		session_list_events(&body);
		say_buffer(t, CONTROL_TEXT, &body);
		break;
	case ACTION_VERSION:
		say(t, CONTROL_TEXT, JSTROBE_VERSION "\n");
		break;
	case ACTION_NONE:
		if (!rc)
			rc = error_set(&err, EINVAL, "the command says nothing to do");
		break;
	}
	forget_places(t);
	buffer_putc(&answer, '\0');
	if (rc)
		fail(t, CONTROL_FAILED, &err);
	else
		say(t, CONTROL_DONE, answer.data ? answer.data : "");
	buffer_free(&answer);
}

/* ---- messages --------------------------------------------------------------- */

static int take_file(struct talk *t, struct error *err)
{
	struct stat st;

	forget_places(t);
	/* a pipe could block us for ever */
	if (t->in.fd < 0 || fstat(t->in.fd, &st) || !S_ISREG(st.st_mode))
		return error_set(err, EPROTO, "the command sent no regular file for the result");
	t->output = t->in.fd;
	t->in.fd = -1;
	return 0;
}

static int take_folder(struct talk *t, struct error *err)
{
	struct stat st;

	forget_places(t);
	if (t->in.fd < 0 || fstat(t->in.fd, &st) || !S_ISDIR(st.st_mode) ||
	    strlen(t->in.payload) >= sizeof(t->name) || strchr(t->in.payload, '/') ||
	    !t->in.payload[0])
		return error_set(err, EPROTO, "the command sent no folder for the result");
	strcpy(t->name, t->in.payload);
	t->folder = t->in.fd;
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
		return take_folder(t, err);
	case CONTROL_COMMAND:
		carry_out(t, t->in.payload);
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

	if (control_peer(t->sock, &t->peer, &uid, err))
		return -err->code;
	if (uid == 0 || uid == geteuid() || (uid == 65534 && in_user_namespace()))
		return 0;
	return error_set(err, EPERM, "the socket belongs to uid %d, neither root nor this JVM's "
			 "user", (int)uid);
}

int talk_open(JavaVM *vm, const struct options *o, struct talk **talk, struct error *err)
{
	struct talk *t = calloc(1, sizeof(*t));
	char hello[256];
	int rc;

	if (!t)
		return error_set(err, ENOMEM, "out of memory");
	t->vm = vm;
	t->in.fd = t->output = t->folder = -1;
	t->sock = control_connect(o->connect, err);
	if (t->sock < 0) {
		free(t);
		return -err->code;
	}
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
	fail(t, CONTROL_FAILED, why);
}

void talk_end(struct talk *t)
{
	entry_lock();
	abandon(t);
	entry_unlock();
	forget_places(t);
	control_release(&t->in);
	close(t->sock);
	free(t);
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
		entry_lock();
		rc = handle(t, err);
		entry_unlock();
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
		entry_lock();
		if (shared.vm_dead)
			over = true;
		else if (!over)
			over = handle(t, &err) != 0;
		entry_unlock();
	}
}

static void *run(void *data)
{
	struct talk *t = data;
	char name[] = "jstrobe control";
	JavaVMAttachArgs args = {.version = JNI_VERSION_1_6, .name = name};
	JavaVM *vm = t->vm;
	bool dead;
	JNIEnv *env;

	pthread_setname_np(pthread_self(), name);
	if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, &args) != JNI_OK) {
		/* the JVM is on its way out already, and the owned session with it */
		close(t->sock);
		return NULL;
	}
	session_own_thread(true);
	converse(t);
	session_own_thread(false);
	talk_end(t);
	entry_lock();
	dead = shared.vm_dead;
	entry_unlock();
	/* after VMDeath a detach would wait for ever at the last safepoint */
	if (!dead)
		(*vm)->DetachCurrentThread(vm);
	return NULL;
}

static int start_thread(struct talk *t, struct error *err)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, &attr, run, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (rc)
		return error_set(err, rc, "cannot start the control thread: %s; the target's "
				 "limit of threads is reached", strerror(rc));
	return 0;
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

/* ---- the end of the JVM ----------------------------------------------------- */

void talk_vm_death(void)
{
	struct talk *t = shared.owner;
	struct buffer answer = BUFFER_INIT;
	struct options o;
	struct error err;
	int rc;

	shared.vm_dead = true;
	shared.data = NULL;
	if (!t)
		return;
	shared.owner = NULL;
	rc = session_stop(&err);
	if (rc == 0)
		rc = result_options("", &o, &err);
	if (rc == 0) {
		put_status(&answer);
		rc = owed_write(&o, &err);
	}
	if (rc == 0)
		put_loss_line(&o, &answer);
	owed_nothing();
	buffer_putc(&answer, '\0');
	if (rc)
		fail(t, CONTROL_ENDED, &err);
	else
		say(t, CONTROL_ENDED, answer.data ? answer.data : "");
	buffer_free(&answer);
}
