/*
 * Talking with the agent: see src/agent/talk.c for the order of things, and
 * src/control/messages.def for the words.
 *
 * The command makes a socket with a random name where the target sees it
 * (its /tmp), has the JVM load the agent with that name and a
 * one-time token, and unlinks the socket as soon as the agent has come.
 */
#include "cli/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/attach/root.h"
#include "cli/cli.h"

#define LIBRARY "libjstrobe.so"
#define SEND_MS 5000
#define GREET_MS 5000

void agent_init(struct agent *a, int wake)
{
	memset(a, 0, sizeof(*a));
	a->wake = wake;
	a->target.pidfd = a->target.root = a->listener = a->sock = a->in.fd = a->folder = -1;
	buffer_init(&a->text, -1);
}

static void stop_listening(struct agent *a)
{
	/* by descriptor: /proc/PID/root is gone when the process is */
	if (a->socket_name[0])
		unlinkat(a->folder, a->socket_name, 0);
	if (a->listener >= 0)
		close(a->listener);
	if (a->folder >= 0)
		close(a->folder);
	a->socket_name[0] = '\0';
	a->listener = a->folder = -1;
}

void agent_close(struct agent *a)
{
	stop_listening(a);
	if (a->sock >= 0)
		close(a->sock);
	attach_close(&a->target);
	control_release(&a->in);
	buffer_free(&a->text);
	free(a->status);
	free(a->answer);
	agent_init(a, a->wake);
}

/* ---- the library ---------------------------------------------------------------- */

/* ../lib/libjstrobe.so beside the command, or what --libpath says. */
static int find_library(const struct options *o, char path[PATH_MAX], struct error *err)
{
	char guess[PATH_MAX + 32];
	ssize_t n;

	if (o->libpath[0]) {
		snprintf(path, PATH_MAX, "%s", o->libpath);
		return path[0] == '/' ? 0 : error_set(err, EINVAL, "--libpath %s: give the whole "
						      "path, from / on", path);
	}
	n = readlink("/proc/self/exe", guess, PATH_MAX - 1);
	if (n < 0)
		return error_set(err, errno, "/proc/self/exe: %s", strerror(errno));
	guess[n] = '\0';
	*strrchr(guess, '/') = '\0';
	strcat(guess, "/../lib/" LIBRARY);
	if (!realpath(guess, path))
		return error_set(err, errno, "the agent library %s is missing: %s; install it "
				 "there or give --libpath", guess, strerror(errno));
	return 0;
}

/* What --libpath says lies in the target's file system, which may be another than ours. */
static int check_visible(const struct attach_target *t, const char *library, struct error *err)
{
	struct stat st;
	int fd = root_open(t->root, library, O_PATH);
	bool file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

	if (fd >= 0)
		close(fd);
	return file ? 0 : error_set(err, ENOENT, "--libpath %s is not visible to process %d; leave "
				    "--libpath out, and the library is copied to where it is",
				    library, (int)t->pid);
}

/* Where the target shall load the agent from. */
static int choose_library(struct agent *a, const struct options *o, char path[PATH_MAX],
			  struct error *err)
{
	char library[PATH_MAX];
	bool copied = false;
	int rc = find_library(o, library, err);

	if (rc == 0 && o->libpath[0]) {
		snprintf(path, PATH_MAX, "%s", library);
		return check_visible(&a->target, library, err);
	}
	if (rc == 0)
		rc = attach_library(&a->target, library, path, &copied, err);
	if (rc == 0 && copied)
		console_detail("process %d sees the agent as its own copy %s",
			       (int)a->target.pid, path);
	return rc;
}

/* ---- shaking hands -------------------------------------------------------------- */

/* Listen at .jstrobe-<random> in folder TMP; OPTIONS tell the agent, which sees TMP as /tmp. */
static int invite(struct agent *a, int tmp, char *options, size_t size, struct error *err)
{
	char random[CONTROL_TOKEN_LENGTH + 1], path[96];

	a->folder = tmp;
	if (control_token(random, err) || control_token(a->token, err))
		return -err->code;
	if (tmp < 0)
		return error_set(err, -tmp, "/tmp cannot be used for the control socket: %s",
				 strerror(-tmp));
	snprintf(a->socket_name, sizeof(a->socket_name), ".jstrobe-%.16s", random);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", a->folder, a->socket_name);
	a->listener = control_listen(path, err);
	if (a->listener < 0) {
		a->socket_name[0] = '\0';
		return -err->code;
	}
	snprintf(options, size, "connect=/tmp/%s,token=%s,protocol=%d", a->socket_name, a->token,
		 CONTROL_PROTOCOL);
	return 0;
}

/* A process on its way out can be seen for a while yet: whether it is gone within half a second. */
static bool soon_gone(const struct agent *a)
{
	int i;

	for (i = 0; i < 25; i++) {
		if (!attach_alive(&a->target))
			return true;
		usleep(20000);
	}
	return false;
}

/* The connection broke: say whose. */
static int hung_up(const struct agent *a, struct error *err)
{
	if (!a->target.pid)
		return error_set(err, ECONNRESET, "the JVM ended without a word");
	return error_set(err, ECONNRESET, !soon_gone(a) ?
			 "the agent in process %d closed the connection" :
			 "process %d ended meanwhile", (int)a->target.pid);
}

/* Who has connected? -EAGAIN: not our agent. */
static int check_peer(struct agent *a, int sock, struct error *err)
{
	pid_t pid;
	uid_t uid, wanted = a->target.pid ? a->target.uid : geteuid();

	if (control_peer(sock, &pid, &uid, err))
		return -err->code;
	if (uid != wanted || (a->target.pid && pid && pid != a->target.pid))
		return error_set(err, EAGAIN, "uid %u, pid %d connected to our socket, not the "
				 "agent", uid, (int)pid);
	return 0;
}

static int check_hello(struct agent *a, const struct control_message *m, struct error *err)
{
	char token[CONTROL_TOKEN_LENGTH + 1], version[32] = "?", text[256];
	unsigned protocol;

	if (m->type != CONTROL_HELLO || !control_value(m->payload, "token", token, sizeof(token)) ||
	    !control_token_equal(token, a->token))
		return error_set(err, EAGAIN, "somebody without our token connected to our socket");
	protocol = (unsigned)control_number(m->payload, "protocol");
	control_value(m->payload, "version", version, sizeof(version));
	if (protocol == CONTROL_PROTOCOL)
		return 0;
	snprintf(text, sizeof(text), "the agent library is version %s (protocol %u), this command "
		 "%s (protocol %d); use a command and a library of one version, and restart a JVM "
		 "that holds an older one", version, protocol, JSTROBE_VERSION, CONTROL_PROTOCOL);
	return error_set(err, EPROTO, "%s", text);
}

int agent_greet(struct agent *a, int timeout_ms, struct error *err)
{
	struct pollfd p[2] = {{.fd = a->listener, .events = POLLIN},
			      {.fd = a->wake, .events = POLLIN}};
	int sock, rc;

	if (poll(p, 2, timeout_ms) > 0 && !p[0].revents && p[1].revents)
		return error_set(err, EINTR, "interrupted while waiting for the agent");
	sock = control_accept(a->listener, 0, err);
	if (sock < 0)
		return sock;
	rc = check_peer(a, sock, err);
	if (rc == 0)
		rc = control_receive(sock, &a->in, GREET_MS, err);
	if (rc == 0)
		rc = check_hello(a, &a->in, err);
	if (rc == -EPROTO)
		control_send_text(sock, CONTROL_REFUSE, err->text, SEND_MS, &(struct error){0});
	if (rc == 0)
		rc = control_send_text(sock, CONTROL_WELCOME, "protocol=1\nversion=" JSTROBE_VERSION
				       "\n", SEND_MS, err);
	if (rc) {
		close(sock);
		return rc == -ECONNRESET ? hung_up(a, err) : rc;
	}
	a->sock = sock;
	stop_listening(a);
	return 0;
}

/* The agent's own words on why it did not start, if it has left some. */
static void hear_refusal(struct agent *a, struct error *err)
{
	struct error heard;

	if (agent_greet(a, 200, &heard) || agent_listen(a, 500, &heard) == 0)
		return;
	if (heard.code != ECONNRESET)
		*err = heard;
}

/* The same in the target's /tmp, as its user: the socket is his, and root may have no place there. */
static int invite_target(struct agent *a, char *options, size_t size, struct error *err)
{
	int tmp = root_open(a->target.root, "/tmp", O_PATH | O_DIRECTORY);
	struct user_former former;
	int rc = user_become(a->target.uid, a->target.gid, &former, err);

	if (rc == 0)
		rc = invite(a, tmp, options, size, err);
	else if (tmp >= 0)
		close(tmp);
	user_return(&former);
	if (rc && (err->code == EROFS || err->code == ENOENT))
		rc = error_set(err, err->code, "process %d %s, and HotSpot makes its attach socket there; give "
			       "it a writable one (a tmpfs, an emptyDir), or start the JVM with "
			       "-agentpath:…/libjstrobe.so=start", (int)a->target.pid,
			       err->code == EROFS ? "has a read-only /tmp" : "has no /tmp");
	return rc;
}

static int attach(struct agent *a, pid_t pid, const struct options *o, struct error *err)
{
	char library[PATH_MAX], options[256];
	int rc, timeout = (int)(o->attach_timeout / NS_PER_MS);
	bool refused;

	/* the socket first: where that is impossible no copy is left behind */
	rc = invite_target(a, options, sizeof(options), err);
	if (rc == 0)
		rc = choose_library(a, o, library, err);
	if (rc)
		return rc;
	console_detail("loading %s into process %d", library, (int)pid);
	rc = attach_load(&a->target, library, options, timeout, &refused, err);
	if (rc && refused)
		hear_refusal(a, err);
	if (rc)
		return rc;
	do
		rc = agent_greet(a, timeout, err);
	while (rc == -EAGAIN);
	return rc;
}

int agent_attach(struct agent *a, pid_t pid, const struct options *o, struct error *err)
{
	int rc = attach_check(pid, a->wake, &a->target, err);

	if (rc)
		return rc;
	rc = attach(a, pid, o, err);
	/* Whatever failed on the way, the end of the process is the cause that a person must read. */
	if (rc && rc != -EINTR && a->target.pid && soon_gone(a))
		return error_set(err, ESRCH, "process %d ended while we attached to it", (int)pid);
	return rc;
}

int agent_invite(struct agent *a, const struct options *o, char *argument, size_t size,
		 struct error *err)
{
	char library[PATH_MAX], options[256];
	int rc = find_library(o, library, err), tmp;

	if (rc == 0) {
		tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
		rc = invite(a, tmp < 0 ? -errno : tmp, options, sizeof(options), err);
	}
	if (rc == 0 && (size_t)snprintf(argument, size, "-agentpath:%s=%s", library,
					options) >= size)
		rc = error_set(err, ENAMETOOLONG, "the path of the agent library is too long: %s",
			       library);
	return rc;
}

/* ---- commands -------------------------------------------------------------------- */

int agent_send_file(struct agent *a, int fd, struct error *err)
{
	int rc = control_send(a->sock, CONTROL_OUTPUT, "", 0, fd, SEND_MS, err);

	return rc == -ECONNRESET ? hung_up(a, err) : rc;
}

int agent_send_stream(struct agent *a, int sock, struct error *err)
{
	int rc = control_send(a->sock, CONTROL_STREAM, "", 0, sock, SEND_MS, err);

	return rc == -ECONNRESET ? hung_up(a, err) : rc;
}

int agent_send_folder(struct agent *a, int fd, const char *name, struct error *err)
{
	int rc = control_send(a->sock, CONTROL_FOLDER, name, strlen(name), fd, SEND_MS, err);

	return rc == -ECONNRESET ? hung_up(a, err) : rc;
}

static void keep(char **place, const char *text)
{
	free(*place);
	*place = strdup(text);
}

/* "code=…\nreason=…" */
static int read_failure(const char *text, struct error *err)
{
	char reason[sizeof(err->text)];
	int code = (int)control_number(text, "code");

	if (!control_value(text, "reason", reason, sizeof(reason)))
		strcpy(reason, "the agent gave no reason");
	return error_set(err, code > 0 ? code : EIO, "%s", reason);
}

static void show_notes(char *text)
{
	char *line, *rest;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		console_note("%s", line);
}

/* Handle the message received; 1: go on waiting. */
static int understand(struct agent *a, struct error *err)
{
	switch (a->in.type) {
	case CONTROL_NOTE:
		show_notes(a->in.payload);
		return 1;
	case CONTROL_TEXT:
		buffer_append(&a->text, a->in.payload, a->in.length);
		return 1;
	case CONTROL_STATUS:
		keep(&a->status, a->in.payload);
		return 1;
	case CONTROL_DONE:
		if (a->pending > 0 && --a->pending > 0)
			return 1;
		keep(&a->answer, a->in.payload);
		return 0;
	case CONTROL_FAILED:
		if (a->pending > 0 && --a->pending > 0)
			return 1;
		return read_failure(a->in.payload, err);
	case CONTROL_ENDED:
		a->ended = true;
		keep(&a->answer, a->in.payload);
		if (control_number(a->in.payload, "code"))
			read_failure(a->in.payload, &a->end_error);
		return error_set(err, ESHUTDOWN, "the JVM ended");
	default:
		return error_set(err, EPROTO, "unexpected message %d from the agent",
				 (int)a->in.type);
	}
}

int agent_listen(struct agent *a, int timeout_ms, struct error *err)
{
	struct pollfd p[2] = {{.fd = a->sock, .events = POLLIN},
			      {.fd = a->wake, .events = POLLIN}};
	int n, rc;

	do {
		n = poll(p, 2, timeout_ms);
		if (n > 0 && !p[0].revents)
			return error_set(err, EINTR, "interrupted while waiting for the agent");
		if (n == 0)
			return error_set(err, ETIMEDOUT, "process %d does not answer; it may be "
					 "busy, stopped or swapped out", (int)a->target.pid);
		rc = control_receive(a->sock, &a->in, 0, err);
		if (rc == 0)
			rc = understand(a, err);
	} while (rc == 1);
	return rc == -ECONNRESET ? hung_up(a, err) : rc;
}

int agent_command(struct agent *a, const char *command, int timeout_ms, struct error *err)
{
	int rc = control_send_text(a->sock, CONTROL_COMMAND, command, SEND_MS, err);

	/* a JVM that has just ended may have left its last words */
	if (rc && rc != -ECONNRESET)
		return rc;
	a->pending++;
	return agent_listen(a, timeout_ms, err);
}

int agent_obey(struct agent *a, const struct options *o, int timeout_ms, struct error *err)
{
	struct buffer b = BUFFER_INIT;
	int rc;

	options_print(o, '\n', &b);
	buffer_append(&b, "", 1);
	if (b.failed)
		rc = error_set(err, ENOMEM, "out of memory");
	else
		rc = agent_command(a, b.data, timeout_ms, err);
	buffer_free(&b);
	return rc;
}

int agent_open(struct agent *a, const struct cli *cli, bool only_if_loaded, struct error *err)
{
	const char *name;
	pid_t pid;
	int wake;

	agent_init(a, -1);
	if (cli_target(cli, &name, err)) {
		console_error("%s", err->text);
		return CLI_USAGE;
	}
	wake = signals_open(err);
	if (wake < 0)
		goto failed;
	a->wake = wake;
	if (attach_resolve(name, &pid, err))
		goto failed;
	if (only_if_loaded && attach_check(pid, wake, &a->target, err) == 0) {
		attach_close(&a->target);
		if (!attach_has_library(pid, LIBRARY)) {
			error_set(err, ENOENT, "Profiler is not active: no session runs in "
				  "process %d; 'jstrobe start' or 'jstrobe record' begins one",
				  (int)pid);
			return CLI_FAILED;
		}
	}
	if (agent_attach(a, pid, &cli->options, err) == 0)
		return 0;
failed:
	console_error("%s", err->text);
	agent_close(a);
	return err->code == EINTR ? CLI_ABORTED : CLI_CANNOT_ATTACH;
}

void agent_hint_old(const struct agent *a)
{
	if (attach_has_old_library(a->target.pid, LIBRARY))
		console_note("process %d also holds an older build of the agent, replaced on disk "
			     "since; a session of that one ends with the JVM",
			     (int)a->target.pid);
}

int agent_ask(const struct cli *cli, const char *question)
{
	struct agent agent;
	struct error err;
	int rc = agent_open(&agent, cli, false, &err);

	if (rc)
		return rc;
	rc = agent_command(&agent, question, 60000, &err);
	if (rc)
		console_error("%s", err.text);
	else
		cli_print(&agent.text);
	agent_close(&agent);
	return rc ? CLI_FAILED : CLI_DONE;
}
