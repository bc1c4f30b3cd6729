/*
 * Talking with the agent: see src/agent/talk.c for the order of things, src/control/messages.def for the words, and
 * agent_attach.c for how they meet.
 */
#include "cli/agent_inner.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/transfer.h"

#define END_MS 10000 /* as long as the agent lets a conversation wait for what does not get on */

void agent_init(struct agent *a, int wake)
{
	memset(a, 0, sizeof(*a));
	a->wake = wake;
	a->target = (struct attach_target)ATTACH_TARGET_INIT;
	a->listener = a->sock = a->in.fd = a->folder = -1;
	buffer_init(&a->text, -1);
}

/* The agent closes its end when the session that was ours has ended. */
static void wait_for_end(struct agent *a)
{
	struct pollfd p[2] = {{.fd = a->sock, .events = POLLIN}, {.fd = a->wake, .events = POLLIN}};
	char rest[4096];
	ssize_t n = 1;

	shutdown(a->sock, SHUT_WR);
	while (n > 0) {
		int ready = poll(p, 2, END_MS);

		if (ready == 0)
			console_note("process %d: the session is still being ended", (int)a->target.pid);
		if (ready <= 0 || p[1].revents)
			return;
		n = recv(a->sock, rest, sizeof(rest), MSG_DONTWAIT);
	}
}

void agent_close(struct agent *a)
{
	agent_stop_listening(a);
	if (a->sock >= 0 && a->owns && !a->ended)
		wait_for_end(a);
	if (a->sock >= 0)
		close(a->sock);
	attach_close(&a->target);
	control_release(&a->in);
	buffer_free(&a->text);
	free(a->status);
	free(a->answer);
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
	return rc == -ECONNRESET ? agent_hung_up(a, err) : rc;
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
		rc = agent_command(a, b.data, timeout_ms, err);
	/* also when the answer is not waited for to its end */
	if (o->action == ACTION_START && o->owner)
		a->owns = rc == 0 || rc == -EINTR || rc == -ETIMEDOUT;
	else if (o->action == ACTION_STOP && rc == 0)
		a->owns = false;
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

int agent_ask(const struct cli *cli, const char *question, const char *otherwise)
{
	struct agent agent;
	struct error err = {0};
	int rc = agent_open(&agent, cli, otherwise != NULL, &err);

	if (otherwise && rc == CLI_FAILED && err.code == ENOENT) {
		console_out("%s", otherwise);
		return CLI_DONE;
	}
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
