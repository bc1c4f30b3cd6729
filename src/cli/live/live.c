#include "cli/live/live.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/cli.h"

#define START_MS 120000

/* Nothing was said of what to sample: a session that runs already will do. */
static bool takes_any(const struct options *o)
{
	struct options plain;

	options_init(&plain);
	return strcmp(o->event, plain.event) == 0 && !o->interval && !o->wall && !o->filter[0] && !o->begin[0];
}

static void take_signals(struct live *l)
{
	bool from_terminal;
	int sig;

	while ((sig = signals_next(l->wake, &from_terminal)) != 0)
		if (!launch_signal(&l->launch, sig, from_terminal) && sig != SIGCHLD)
			l->interrupts++;
	l->agent.hurried = l->interrupts > 0;
}

static int begin(struct live *l, struct options *o, const char *usual, struct error *err)
{
	int ends[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "no socket for the stream: %s", error_text(errno));
	l->sock = ends[0];
	rc = agent_send_stream(&l->agent, ends[1], err);
	close(ends[1]);
	if (rc)
		return rc;
	o->action = ACTION_START;
	o->owner = true;
	o->join = takes_any(o);
	if (o->join && usual)
		snprintf(o->event, sizeof(o->event), "%s", usual);
	rc = agent_obey(&l->agent, o, START_MS, err);
	while (rc == -EINTR) {
		take_signals(l);
		if (l->interrupts)
			return rc;
		rc = agent_listen(&l->agent, START_MS, err);
	}
	return rc;
}

/* Start the program and wait for its JVM. 0, or an exit code (the error is shown). */
static int launch(struct live *l, struct cli *cli, struct error *err)
{
	int rc;

	agent_init(&l->agent, signals_open(err));
	rc = l->wake = l->agent.wake;
	if (rc >= 0)
		rc = launch_fork(&l->launch, &l->agent, &cli->options, cli->program, err);
	if (rc == 0)
		rc = launch_go(&l->launch, cli->program[0], err);
	if (rc < 0) {
		console_error("%s", err->text);
		live_close(l);
		return CLI_FAILED;
	}
	rc = launch_greet(&l->launch, &l->agent, err);
	if (rc == 0)
		return 0;
	if (rc == 1)
		launch_say_ended(&l->launch, cli->program, "stream");
	else
		console_error("%s; the program runs unprofiled", err->text);
	live_close(l);
	return live_wait_program(l, CLI_FAILED);
}

static int attach(struct live *l, struct cli *cli, struct error *err)
{
	int rc = agent_open(&l->agent, cli, false, err);

	l->wake = l->agent.wake;
	return rc;
}

int live_open(struct live *l, struct cli *cli, const char *usual)
{
	struct error err = {0};
	char event[128];
	int rc;

	*l = (struct live){.sock = -1, .beside = -1};
	rc = cli->program ? launch(l, cli, &err) : attach(l, cli, &err);
	if (rc)
		return rc;
	rc = begin(l, &cli->options, usual, &err);
	if (rc == 0) {
		l->joined = control_number(l->agent.talk.answer, "joined");
		if (l->joined)
			console_note("process %d is sampled already (%s): the stream is of that session",
				     (int)l->agent.target.pid,
				     control_value(l->agent.talk.answer, "event", event, sizeof(event)) ? event : "?");
		return 0;
	}
	console_error("%s", err.text);
	live_close(l);
	return live_wait_program(l, rc == -EINTR ? CLI_ABORTED : CLI_FAILED);
}

int live_wait(struct live *l, bool bytes, int out, int timeout_ms, struct error *err)
{
	struct pollfd p[] = {
		{.fd = l->sock, .events = bytes ? POLLIN : 0},
		{.fd = l->wake, .events = POLLIN},
		{.fd = l->agent.sock, .events = POLLIN},
		{.fd = out, .events = POLLOUT},
		{.fd = l->beside, .events = POLLIN},
	};
	int n = poll(p, ARRAY_LEN(p), timeout_ms), rc;

	if (n < 0 && errno != EINTR)
		return error_set(err, errno, "poll: %s", error_text(errno));
	if (n <= 0)
		return 0;
	if (p[1].revents) {
		take_signals(l);
		if (l->interrupts)
			return -EINTR;
	}
	/* the JVM's last words; what it streamed before them is still to be read */
	if (p[2].revents && !(bytes && p[0].revents)) {
		rc = agent_listen(&l->agent, 0, err);
		if (rc && rc != -ETIMEDOUT && rc != -EINTR)
			return rc;
	}
	return (bytes && p[0].revents ? LIVE_BYTES : 0) | (p[3].revents & POLLOUT ? LIVE_ROOM : 0) |
	       (p[3].revents & (POLLERR | POLLHUP | POLLNVAL) ? LIVE_GONE : 0);
}

void live_stop(struct live *l)
{
	agent_close(&l->agent);
}

void live_close(struct live *l)
{
	if (l->sock >= 0)
		close(l->sock);
	l->sock = -1;
	agent_close(&l->agent);
}

int live_wait_program(struct live *l, int otherwise)
{
	return l->launch.pid ? launch_wait(&l->launch, l->wake, otherwise) : otherwise;
}
