/*
 * Talking with the agent: see src/agent/door/talk.c for the order of things, src/common/control/messages.def for the
 * words, and agent_attach.c for how they meet.
 */
#include "cli/talk/agent_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/talk/transfer.h"
#include "common/os/os.h"

#define END_MS 10000ull /* as long as the agent lets a conversation wait for what does not get on */
#define HURRIED_MS 700ull /* a signal has come: the command ends within a second */

static void show_note(const char *line)
{
	console_note("%s", line);
}

void agent_init(struct agent *a, int wake)
{
	memset(a, 0, sizeof(*a));
	a->wake = wake;
	a->target = (struct attach_target)ATTACH_TARGET_INIT;
	a->listener = a->sock = a->folder = -1;
	conversation_init(&a->talk);
	a->talk.note = show_note;
}

/* The agent closes its end when the session that was ours has ended. */
static void wait_for_end(struct agent *a)
{
	struct pollfd p[2] = {{.fd = a->sock, .events = POLLIN}, {.fd = a->wake, .events = POLLIN}};
	uint64_t end = os_monotonic() + (a->hurried ? HURRIED_MS : END_MS) * NS_PER_MS, at;
	char rest[4096];
	ssize_t n = 1;

	shutdown(a->sock, SHUT_WR);
	/* what it still says does not put off the end */
	while (n > 0 && (at = os_monotonic()) < end) {
		int ready = poll(p, 2, (int)((end - at) / NS_PER_MS) + 1);

		if (ready < 0 || p[1].revents)
			return;
		if (ready > 0)
			n = recv(a->sock, rest, sizeof(rest), MSG_DONTWAIT);
	}
	if (n > 0)
		console_note("process %d: the session is still being ended", (int)a->target.pid);
}

void agent_close(struct agent *a)
{
	agent_stop_listening(a);
	if (a->sock >= 0 && a->owns && !a->talk.ended)
		wait_for_end(a);
	if (a->sock >= 0)
		close(a->sock);
	attach_close(&a->target);
	conversation_free(&a->talk);
	free(a->bytes);
	agent_init(a, a->wake);
}

/* A process on its way out can be seen for a while yet: whether it is gone within half a second. */
bool agent_soon_gone(const struct agent *a)
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
int agent_hung_up(const struct agent *a, struct error *err)
{
	if (!a->target.pid)
		return error_set(err, ECONNRESET, "the JVM ended without a word");
	return error_set(err, ECONNRESET, !agent_soon_gone(a) ?
			 "the agent in process %d closed the connection" :
			 "process %d ended meanwhile", (int)a->target.pid);
}

/* ---- commands -------------------------------------------------------------------- */

int agent_send_file(struct agent *a, int fd, const char *name, struct error *err)
{
	int rc = control_send(a->sock, CONTROL_OUTPUT, name, strlen(name), fd, SEND_MS, err);

	return rc == -ECONNRESET ? agent_hung_up(a, err) : rc;
}

int agent_send_stream(struct agent *a, int sock, struct error *err)
{
	int rc = control_send(a->sock, CONTROL_STREAM, "", 0, sock, SEND_MS, err);

	return rc == -ECONNRESET ? agent_hung_up(a, err) : rc;
}

int agent_send_place(struct agent *a, const char *path, struct error *err)
{
	int rc = control_send_text(a->sock, CONTROL_PLACE, path, SEND_MS, err);

	return rc == -ECONNRESET ? agent_hung_up(a, err) : rc;
}

#define TELL_MS 1000ull

/* It takes over a second: say what does. */
static void tell_patience(struct agent *a)
{
	uint64_t at = os_monotonic();

	a->told = a->doing[0] && console_shows_progress();
	if (a->told)
		console_progress("process %d carries out '%s': %llu s", (int)a->target.pid, a->doing,
				 (unsigned long long)((at - a->asked) / NS_PER_S));
}

/*
 * Wait for bytes of the agent, up to END; none may be needed. FIRST: what is there already is taken, however late.
 * 0; -EINTR: a signal waits, which comes first; -ETIMEDOUT.
 */
static int wait_for_bytes(struct agent *a, uint64_t end, bool first, struct error *err)
{
	struct pollfd p[2] = {{.fd = a->wake, .events = POLLIN}, {.fd = a->sock, .events = POLLIN}};
	bool some = a->from < a->to;
	uint64_t at, left;
	int n;

	do {
		at = os_monotonic();
		left = MIN(end - MIN(at, end), conversation_left(&a->talk, at));
		n = poll(p, some ? 1 : 2, some ? 0 : (int)MIN((left + NS_PER_MS - 1) / NS_PER_MS, TELL_MS));
		if (n < 0 && errno != EINTR)
			return error_set(err, errno, "poll: %s", error_text(errno));
		if (n > 0 && p[0].revents)
			return error_set(err, EINTR, "interrupted while waiting for the agent");
		if ((some || n > 0) && (left || first))
			return 0;
		if (n == 0 && left > TELL_MS * NS_PER_MS)
			tell_patience(a);
	} while (n < 0 || (n == 0 && left > TELL_MS * NS_PER_MS));
	return error_set(err, ETIMEDOUT, "process %d does not answer; it may be busy, stopped or swapped out",
			 (int)a->target.pid);
}

/* Read what is there. */
static int read_bytes(struct agent *a, struct error *err)
{
	ssize_t n;

	if (!a->bytes)
		a->bytes = malloc(AGENT_BYTES);
	if (!a->bytes)
		return error_set(err, ENOMEM, "out of memory");
	/* descriptors that come along are given back by the kernel: there is no room for them */
	n = recv(a->sock, a->bytes, AGENT_BYTES, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return agent_hung_up(a, err);
	if (n < 0 && errno != EINTR && errno != EAGAIN)
		return error_set(err, errno, "control socket: receive: %s", error_text(errno));
	a->from = 0;
	a->to = n > 0 ? (size_t)n : 0;
	return 0;
}

int agent_listen(struct agent *a, int timeout_ms, struct error *err)
{
	uint64_t end = os_monotonic() + (uint64_t)timeout_ms * NS_PER_MS;
	bool first = true;
	size_t used;
	int rc;

	do {
		rc = wait_for_bytes(a, end, first, err);
		first = false;
		if (rc == 0 && a->from == a->to)
			rc = read_bytes(a, err);
		if (a->told)
			console_progress_end();
		a->told = false;
		if (rc)
			return rc;
		rc = conversation_take(&a->talk, a->bytes + a->from, a->to - a->from, &used, err);
		a->from += used;
	} while (rc == 1);
	return rc;
}

static int send_command(struct agent *a, const char *command, int timeout_ms, struct error *err)
{
	int rc = control_send_text(a->sock, CONTROL_COMMAND, command, SEND_MS, err);

	/* a JVM that has just ended may have left its last words */
	if (rc && rc != -ECONNRESET)
		return rc;
	a->asked = os_monotonic();
	snprintf(a->doing, sizeof(a->doing), "%.*s", (int)strcspn(command, "\n"), command);
	conversation_ask(&a->talk, a->asked, (uint64_t)timeout_ms * NS_PER_MS);
	return 0;
}

int agent_command(struct agent *a, const char *command, int timeout_ms, struct error *err)
{
	int rc = send_command(a, command, timeout_ms, err);

	return rc ? rc : agent_listen(a, timeout_ms, err);
}

/* The next session's perf events come from here. */
static int send_transfer(struct agent *a, const struct options *o, struct error *err)
{
	int sock = transfer_serve(a->sock, &a->target.identity, o, err), rc;

	if (sock < 0)
		return sock;
	rc = control_send(a->sock, CONTROL_PERF, "", 0, sock, SEND_MS, err);
	close(sock);
	return rc == -ECONNRESET ? agent_hung_up(a, err) : rc;
}

int agent_obey(struct agent *a, const struct options *o, int timeout_ms, struct error *err)
{
	int rc = agent_tell(a, o, timeout_ms, err);

	return rc ? rc : agent_listen(a, timeout_ms, err);
}

int agent_tell(struct agent *a, const struct options *o, int timeout_ms, struct error *err)
{
	struct buffer b = BUFFER_INIT;
	int rc;

	if (o->fdtransfer && (o->action == ACTION_START || o->action == ACTION_RESUME)) {
		rc = send_transfer(a, o, err);
		if (rc)
			return rc;
	}
	options_print(o, '\n', &b);
	buffer_append(&b, "", 1);
	if (b.failed)
		rc = error_set(err, ENOMEM, "out of memory");
	else
		rc = send_command(a, b.data, timeout_ms, err);
	if (o->action == ACTION_START && o->owner)
		a->owns = rc == 0;
	buffer_free(&b);
	return rc;
}

int agent_open(struct agent *a, const struct cli *cli, bool only_if_loaded, struct error *err)
{
	const char *name;
	pid_t pid;
	int wake, rc;

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
	if (only_if_loaded) {
		rc = attach_check(pid, wake, &a->target, err);
		attach_close(&a->target);
		if (rc == 0)
			rc = agent_attach_loaded(a, pid, &cli->options, err);
		if (rc == ENOENT)
			return CLI_FAILED;
	} else {
		rc = agent_attach(a, pid, &cli->options, NULL, err);
	}
	if (rc == 0)
		return 0;
failed:
	console_error("%s", err->text);
	agent_close(a);
	return err->code == EINTR ? CLI_ABORTED : CLI_CANNOT_ATTACH;
}

/* Ask AGENT, and print its answer, or what PUT (NULL: nothing) makes of it. It is closed. An exit code. */
static int print_answer(struct agent *agent, const char *question, struct error *err,
			void (*put)(const struct agent *a, struct buffer *out))
{
	struct buffer out = BUFFER_INIT;
	int code = CLI_FAILED;

	if (agent_command(agent, question, 60000, err)) {
		console_error("%s", err->text);
	} else if (put) {
		put(agent, &out);
		code = cli_print(&out);
	} else {
		cli_print(&agent->talk.text);
		code = CLI_DONE;
	}
	agent_close(agent);
	return code;
}

int agent_ask_json(const struct cli *cli, const char *question, void (*put)(const struct agent *a, struct buffer *out))
{
	struct agent agent;
	struct error err = {0};
	int rc = agent_open(&agent, cli, false, &err);

	return rc ? rc : print_answer(&agent, question, &err, put);
}

int agent_ask(const struct cli *cli, const char *question, const char *otherwise)
{
	struct agent agent;
	struct error err = {0};
	int rc = agent_open(&agent, cli, otherwise != NULL, &err);

	if (otherwise && rc == CLI_FAILED && err.code == ENOENT) {
		console_out("%s", otherwise);
		return CLI_DONE;
	}
	return rc ? rc : print_answer(&agent, question, &err, NULL);
}
