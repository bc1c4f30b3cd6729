/*
 * HotSpot's own way of attaching, as its jcmd does it:
 *
 *   1. a file .attach_pid<pid> in the target's /tmp says that a SIGQUIT is
 *      meant as an invitation and not as a request for a thread dump
 *   2. SIGQUIT; the JVM opens the socket .java_pid<pid> beside it and keeps it
 *   3. "1\0load\0<library>\0true\0<options>\0" goes over that socket
 *   4. the JVM answers with its result code, a line break, and text; what the
 *      text says depends on the JDK: 8 prints what Agent_OnAttach returned, 9
 *      and later "return code: N", and all of them the reason if the library
 *      could not be loaded
 *
 * The pid is the one that the process sees (pid namespaces); its /tmp is
 * reached by way of /proc/<pid>/root (mount namespaces, chroot; root.c). The JVM takes
 * both file and connection only from its own user or root, and JDK 8 only from
 * its own user: root becomes that user for as long as it takes (user.c), and has no other rights there.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/process.h"
#include "cli/attach/root.h"
#include "common/base/buffer.h"
#include "common/os/os.h"

#define SEEN_MS 500 /* a JVM that takes its signals has seen the invitation by then */
#define ARGUMENT_MAX 1024 /* the JVM's own limit */
#define ANSWER_MAX (64 * 1024)
#define CONNECT_S 3        /* a queue that is full that long is not being emptied */

static int64_t now_ms(void)
{
	return (int64_t)(os_monotonic() / NS_PER_MS);
}

/* ---- the invitation ------------------------------------------------------------ */

/* Something in the way that another user left in the JVM's /tmp; the JVM cannot remove it either. */
static int in_the_way(const struct attach_target *t, const char *name, uid_t owner, struct error *err)
{
	char user[64];

	return error_set(err, EPERM, "process %d: %s%d in its /tmp belongs to %s (uid %u), left behind by another "
			 "process of that number, so the JVM cannot be attached to; as that user or root: rm "
			 "/proc/%d/root/tmp/%s%d", (int)t->pid, name, (int)t->nspid,
			 user_name(owner, user, "another user"), (unsigned)owner, (int)t->pid, name, (int)t->nspid);
}

/* Connect to the JVM's attach socket. -ENOENT: it is not there (or no JVM listens). */
static int connect_socket(const struct attach_target *t, int tmp, struct error *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = CONNECT_S};
	char name[32];
	struct stat st;
	int sock, rc, place;

	snprintf(name, sizeof(name), ".java_pid%d", (int)t->nspid);
	place = openat(tmp, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (place < 0 || fstat(place, &st)) {
		if (place >= 0)
			close(place);
		return -ENOENT;
	}
	/* what was looked at is what is connected to: the name may be a link to another socket by now */
	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d", place);
	if (!S_ISSOCK(st.st_mode) || (st.st_uid != t->uid && st.st_uid != 0)) {
		close(place);
		return in_the_way(t, ".java_pid", st.st_uid, err);
	}
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock < 0) {
		close(place);
		return error_set(err, errno, "socket: %s", error_text(errno));
	}
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	do
		rc = connect(sock, (struct sockaddr *)&a, sizeof(a));
	while (rc && errno == EINTR);
	rc = rc ? errno : 0;
	close(place);
	if (rc == 0)
		return sock;
	close(sock);
	/* Left behind by an earlier process of the same number: the JVM replaces what is its own. */
	if (rc == EACCES || (rc == ECONNREFUSED && st.st_uid != t->uid))
		return in_the_way(t, ".java_pid", st.st_uid, err);
	if (rc == ECONNREFUSED || rc == ENOENT)
		return -ENOENT;
	if (rc == EAGAIN)
		return error_set(err, ETIMEDOUT, "process %d takes no connections at its attach socket any more: its "
				 "thread for that has ended, as the JVM's does when no descriptor is free; only a new "
				 "start of the program helps", (int)t->pid);
	return error_set(err, rc, "process %d: cannot connect to its attach socket: %s",
			 (int)t->pid, error_text(rc));
}

static int send_quit(const struct attach_target *t, struct error *err)
{
	int rc = -1;

	if (t->pidfd >= 0)
		rc = (int)syscall(SYS_pidfd_send_signal, t->pidfd, SIGQUIT, NULL, 0);
	if (rc && (t->pidfd < 0 || errno == ENOSYS))
		rc = kill(t->pid, SIGQUIT);
	if (rc)
		return error_set(err, errno, "process %d cannot be signalled: %s", (int)t->pid,
				 error_text(errno));
	return 0;
}

/* Sleep; -EINTR when the user has had enough, -ESRCH when the process is gone. */
static int rest(const struct attach_target *t, int ms, struct error *err)
{
	struct pollfd p = {.fd = t->wake, .events = POLLIN};

	if (poll(&p, 1, ms) > 0)
		return error_set(err, EINTR, "interrupted while attaching to process %d",
				 (int)t->pid);
	if (!attach_alive(t))
		return error_set(err, ESRCH, "process %d ended while we attached to it",
				 (int)t->pid);
	return 0;
}

/*
 * Who wants no more leaves the invitation for the moment that the JVM takes to see it: without one it would print its
 * threads into the program's output.
 */
static void let_it_see(const struct attach_target *t, int tmp, int64_t began)
{
	struct error ignored;
	int sock = -ENOENT;

	while (sock == -ENOENT && now_ms() - began < SEEN_MS && attach_alive(t)) {
		poll(NULL, 0, 10);
		sock = connect_socket(t, tmp, &ignored);
	}
	if (sock >= 0)
		close(sock);
}

/* Signal and wait for the socket; the invitation file is there already. */
static int wait_for_socket(const struct attach_target *t, int tmp, int timeout_ms,
			   struct error *err)
{
	int64_t began = now_ms();
	int sock, pause = 1, rc = send_quit(t, err);
	bool again = false;

	while (rc == 0) {
		rc = rest(t, pause, err);
		if (rc == -EINTR)
			let_it_see(t, tmp, began);
		if (rc)
			break;
		sock = connect_socket(t, tmp, err);
		if (sock != -ENOENT)
			return sock;
		if (now_ms() - began > timeout_ms)
			return error_set(err, ETIMEDOUT, "process %d did not let us in within %d "
					 "ms; %s", (int)t->pid, timeout_ms, attach_silence(t));
		/* a signal can be lost on a JVM that was just starting */
		if (!again && now_ms() - began > timeout_ms / 2) {
			again = true;
			rc = send_quit(t, err);
		}
		pause = MIN(pause * 2, 100);
	}
	return rc;
}

/* Another process has invited the JVM just now: a second signal would print a thread dump. */
static int wait_for_other(const struct attach_target *t, int tmp, int timeout_ms,
			  struct error *err)
{
	int64_t began = now_ms();
	int sock, rc;

	do {
		rc = rest(t, 20, err);
		if (rc)
			return rc;
		sock = connect_socket(t, tmp, err);
		if (sock != -ENOENT)
			return sock;
	} while (now_ms() - began < MIN(timeout_ms / 2, 3000));
	return -ENOENT;
}

static int open_door(const struct attach_target *t, int tmp, int timeout_ms, struct error *err)
{
	char invitation[32];
	struct stat st;
	int fd, sock = connect_socket(t, tmp, err);

	if (sock != -ENOENT)
		return sock;
	snprintf(invitation, sizeof(invitation), ".attach_pid%d", (int)t->nspid);
	fd = openat(tmp, invitation, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0660);
	if (fd < 0 && errno == EEXIST) {
		sock = wait_for_other(t, tmp, timeout_ms, err);
		if (sock != -ENOENT)
			return sock;
		/* left behind by a command that died: ours now */
		unlinkat(tmp, invitation, 0);
		fd = openat(tmp, invitation, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0660);
	}
	if (fd < 0 && errno == EEXIST && fstatat(tmp, invitation, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return in_the_way(t, ".attach_pid", st.st_uid, err);
	if (fd < 0)
		return error_set(err, errno, "process %d: cannot create %s in its /tmp: %s; its "
				 "/tmp must be writable", (int)t->pid, invitation, error_text(errno));
	/* some mounts give files to another user, and then the JVM would dump its threads */
	if (!process_owned_by(fd, t->uid))
		sock = error_set(err, EPERM, "process %d: files in its /tmp get another owner, so "
				 "it would not accept our invitation", (int)t->pid);
	else /* another process may have come and gone between our check and our invitation: no signal then */
		sock = connect_socket(t, tmp, err);
	if (sock == -ENOENT)
		sock = wait_for_socket(t, tmp, timeout_ms, err);
	close(fd);
	unlinkat(tmp, invitation, 0);
	return sock;
}

/* ---- the request --------------------------------------------------------------- */

#define WORDS 5 /* of the protocol: its version, what to do, three arguments */

static int send_request(int sock, const char *const words[WORDS], struct error *err)
{
	struct buffer b = BUFFER_INIT;
	size_t i, sent = 0;

	for (i = 0; i < WORDS; i++)
		buffer_append(&b, words[i], strlen(words[i]) + 1);
	while (!b.failed && sent < b.length) {
		ssize_t n = send(sock, b.data + sent, b.length - sent, MSG_NOSIGNAL);

		if (n >= 0)
			sent += (size_t)n;
		else if (errno != EINTR)
			b.failed = errno;
	}
	i = (size_t)b.failed;
	buffer_free(&b);
	return i ? error_set(err, (int)i, "the JVM's attach socket: %s", error_text((int)i)) : 0;
}

static int read_answer(const struct attach_target *t, int sock, int timeout_ms, char *answer,
		       struct error *err)
{
	int64_t deadline = now_ms() + timeout_ms;
	size_t length = 0;

	for (;;) {
		struct pollfd p[2] = {{.fd = sock, .events = POLLIN},
				      {.fd = t->wake, .events = POLLIN}};
		int64_t left = deadline - now_ms();
		ssize_t n;

		if (left <= 0)
			return error_set(err, ETIMEDOUT, "process %d did not answer within %d ms; %s", (int)t->pid,
					 timeout_ms, attach_silence(t));
		n = poll(p, 2, (int)left);
		if (n > 0 && p[1].revents)
			return error_set(err, EINTR, "interrupted while attaching to process %d",
					 (int)t->pid);
		if (n <= 0 || !p[0].revents)
			continue;
		n = recv(sock, answer + length, ANSWER_MAX - 1 - length, MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		length += (size_t)n;
		if (length == ANSWER_MAX - 1)
			break;
	}
	answer[length] = '\0';
	return 0;
}

/* Make one line of several. */
static void flatten(char *text)
{
	size_t n = strlen(text);

	while (n > 0 && strchr(" \t\n\v\f\r", text[n - 1]))
		text[--n] = '\0';
	for (; *text; text++)
		if (*text == '\n')
			*text = ' ';
}

static int understand(const struct attach_target *t, char *answer, bool *refused,
		      struct error *err)
{
	char *text = strchr(answer, '\n'), *end;
	static const char code_line[] = "return code: ";
	char *code;
	long agent;

	if (!text)
		return error_set(err, ECONNRESET, "process %d closed the attach connection "
				 "without an answer; it may be ending", (int)t->pid);
	*text++ = '\0';
	code = strstr(text, code_line);
	agent = strtol(code ? code + strlen(code_line) : text, &end, 10);
	if (strcmp(answer, "0") == 0 && (code || (end != text && *end == '\n'))) {
		*refused = agent != 0;
		return *refused ? error_set(err, EREMOTEIO, "the agent refused to start in "
					    "process %d (code %ld)", (int)t->pid, agent) : 0;
	}
	flatten(text);
	/* JDK 21 and later, before VMInit */
	if (strstr(text, "in the live phase"))
		return error_set(err, EAGAIN, "the JVM of process %d is just starting up: try again in a moment, or "
				 "give a longer --attach-timeout", (int)t->pid);
	return error_set(err, EREMOTEIO, "process %d could not load the agent: %s", (int)t->pid,
			 *text ? text : "it gave no reason");
}

/* Say WORDS to the JVM; what it says is in ANSWER[ANSWER_MAX]. */
static int ask(const struct attach_target *t, const char *const words[WORDS], int timeout_ms, char *answer,
	       struct error *err)
{
	struct user_former former;
	int tmp, sock, rc;

	tmp = root_open(&t->root, "/tmp", O_PATH | O_DIRECTORY);
	if (tmp < 0)
		return error_set(err, -tmp, "process %d: its /tmp cannot be reached: %s; HotSpot "
				 "needs one to be attached to", (int)t->pid, error_text(-tmp));
	rc = user_become(&t->root.user, &former, err);
	sock = rc ? rc : open_door(t, tmp, timeout_ms, err);
	user_return(&former);
	rc = sock < 0 ? sock : send_request(sock, words, err);
	if (rc == 0)
		rc = read_answer(t, sock, timeout_ms, answer, err);
	if (sock >= 0)
		close(sock);
	close(tmp);
	return rc;
}

int attach_load(const struct attach_target *t, const char *library, const char *options,
		int timeout_ms, bool *refused, struct error *err)
{
	/* a name without a path is looked for among what is loaded before anything else: lib…so is its soname */
	const char *const words[WORDS] = {"1", "load", library, library[0] == '/' ? "true" : "false", options};
	char *answer;
	int rc;

	*refused = false;
	if (strlen(library) >= ARGUMENT_MAX || strlen(options) >= ARGUMENT_MAX)
		return error_set(err, ENAMETOOLONG, "the path of the agent library is too long: %s",
				 library);
	answer = malloc(ANSWER_MAX);
	if (!answer)
		return error_set(err, ENOMEM, "out of memory");
	rc = ask(t, words, timeout_ms, answer, err);
	if (rc == 0)
		rc = understand(t, answer, refused, err);
	free(answer);
	return rc;
}

int attach_jcmd(const struct attach_target *t, const char *command, int timeout_ms, struct buffer *out,
		struct error *err)
{
	const char *const words[WORDS] = {"1", "jcmd", command, "", ""};
	char *answer = malloc(ANSWER_MAX), *text;
	int rc;

	if (!answer)
		return error_set(err, ENOMEM, "out of memory");
	rc = ask(t, words, timeout_ms, answer, err);
	text = rc == 0 ? strchr(answer, '\n') : NULL;
	if (rc == 0 && !text)
		rc = error_set(err, ECONNRESET, "process %d closed the attach connection without an answer; it may be "
			       "ending", (int)t->pid);
	if (rc == 0 && (text != answer + 1 || answer[0] != '0')) {
		flatten(text);
		rc = error_set(err, EREMOTEIO, "process %d refused %s:%s", (int)t->pid, command, text);
	}
	if (rc == 0)
		buffer_puts(out, text + 1);
	free(answer);
	return rc;
}
