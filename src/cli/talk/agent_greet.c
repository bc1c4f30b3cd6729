/*
 * Who connects to the command's socket. Others can, too, if they are the target's user: so several guests are listened
 * to at a time, each may say hello, and the first that shows the token is the agent. Nothing a guest does puts off the
 * end of the waiting.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/talk/agent_link.h"
#include "common/os/os.h"

#define GUESTS 8 /* at a time; of more the first ones have to go */

struct agent_guest {
	int sock; /* -1: none */
	struct control_parser hello;
};

static void dismiss(struct agent_guest *g)
{
	if (g->sock >= 0)
		close(g->sock);
	control_parser_free(&g->hello);
	g->sock = -1;
}

void agent_forget_guests(struct agent *a)
{
	size_t i;

	for (i = 0; a->guests && i < GUESTS; i++)
		dismiss(&a->guests[i]);
	free(a->guests);
	a->guests = NULL;
}

static bool make_room(struct agent *a)
{
	size_t i;

	if (a->guests)
		return true;
	a->guests = calloc(GUESTS, sizeof(*a->guests));
	for (i = 0; a->guests && i < GUESTS; i++)
		a->guests[i] = (struct agent_guest){.sock = -1, .hello = CONTROL_PARSER_INIT};
	return a->guests != NULL;
}

/* Whether the process at the other end of SOCK can be the agent's. */
static bool may_be_agent(const struct agent *a, int sock)
{
	uid_t uid, wanted = a->target.pid ? a->target.uid : geteuid();
	struct error ignored;
	pid_t pid;

	return control_peer(sock, &pid, &uid, &ignored) == 0 && uid == wanted &&
	       (!a->target.pid || !pid || pid == a->target.pid);
}

/* Let in who has connected. */
static int admit(struct agent *a, struct error *err)
{
	int sock = control_accept(a->listener, 0, err);
	struct agent_guest *last = &a->guests[GUESTS - 1];

	if (sock < 0)
		return sock == -ETIMEDOUT || sock == -ECONNABORTED ? 0 : sock;
	if (!may_be_agent(a, sock)) {
		close(sock);
		return 0;
	}
	/* the newest first: who has been silent longest goes */
	dismiss(last);
	memmove(a->guests + 1, a->guests, (GUESTS - 1) * sizeof(*a->guests));
	a->guests[0] = (struct agent_guest){.sock = sock, .hello = CONTROL_PARSER_INIT};
	return 0;
}

/* A guest has the token: the others go. */
static int welcome(struct agent *a, struct agent_guest *g, size_t used, size_t n, struct error *err)
{
	int rc;

	a->sock = g->sock;
	g->sock = -1;
	a->from = used;
	a->to = n;
	agent_forget_guests(a);
	agent_stop_listening(a);
	rc = control_send_text(a->sock, CONTROL_WELCOME, "protocol=1\nversion=" JSTROBE_VERSION "\n", SEND_MS, err);
	/* an agent that cannot start says why, and is gone: its words are there to be read */
	return rc == -ECONNRESET ? 0 : rc;
}

/* Hear guest G. 1: it is not the agent, or not yet. */
static int hear(struct agent *a, struct agent_guest *g, struct error *err)
{
	ssize_t n = recv(g->sock, a->bytes, AGENT_BYTES, MSG_DONTWAIT);
	size_t used;
	int rc;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	rc = n > 0 ? conversation_greet(&a->talk, &g->hello, a->bytes, (size_t)n, &used, err) : -EAGAIN;
	if (rc == 0)
		return welcome(a, g, used, (size_t)n, err);
	if (rc == -EPROTO)
		control_send_text(g->sock, CONTROL_REFUSE, err->text, SEND_MS, &(struct error){0});
	if (rc < 0)
		dismiss(g);
	return rc == -EAGAIN ? 1 : rc;
}

/* What has come on the sockets P, in the order of ask_all. 1: go on. */
static int attend(struct agent *a, const struct pollfd *p, struct error *err)
{
	int rc = 1;
	size_t i;

	for (i = 0; rc == 1 && i < GUESTS; i++)
		if (p[3 + i].revents)
			rc = hear(a, &a->guests[i], err);
	if (rc == 1 && p[1].revents) {
		rc = admit(a, err);
		return rc ? rc : 1;
	}
	/* every client that had something to send has sent it */
	return rc == 1 && p[2].revents ? agent_hung_up(a, err) : rc;
}

/* Wait until END for something; how many there are. */
static int ask_all(struct agent *a, struct pollfd p[3 + GUESTS], uint64_t end)
{
	uint64_t at = os_monotonic(), left = (end - MIN(at, end) + NS_PER_MS - 1) / NS_PER_MS;
	size_t i;

	p[0] = (struct pollfd){.fd = a->wake, .events = POLLIN};
	p[1] = (struct pollfd){.fd = a->listener, .events = POLLIN};
	p[2] = (struct pollfd){.fd = a->target.pidfd, .events = POLLIN};
	for (i = 0; i < GUESTS; i++)
		p[3 + i] = (struct pollfd){.fd = a->guests[i].sock, .events = POLLIN};
	return poll(p, 3 + GUESTS, end == UINT64_MAX ? -1 : (int)MIN(left, (uint64_t)INT32_MAX));
}

int agent_greet(struct agent *a, int timeout_ms, struct error *err)
{
	uint64_t end = timeout_ms < 0 ? UINT64_MAX : os_monotonic() + (uint64_t)timeout_ms * NS_PER_MS;
	struct pollfd p[3 + GUESTS];
	int n, rc = 1;

	a->bytes = a->bytes ? a->bytes : malloc(AGENT_BYTES);
	if (!a->bytes || !make_room(a))
		return error_set(err, ENOMEM, "out of memory");
	while (rc == 1) {
		n = ask_all(a, p, end);
		if (n < 0 && errno != EINTR)
			return error_set(err, errno, "poll: %s", error_text(errno));
		if (n > 0 && p[0].revents)
			return error_set(err, EINTR, "interrupted while waiting for the agent");
		if (n > 0)
			rc = attend(a, p, err);
		if (rc == 1 && os_monotonic() >= end)
			rc = error_set(err, ETIMEDOUT, "the agent did not call back in time");
	}
	return rc;
}
