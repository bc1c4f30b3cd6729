/*
 * Waits that end when the user wants the end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "cli/selftest/selftest.h"
#include "common/os/os.h"

#define LOOK_MS 20

static bool take_signals(struct patience *p)
{
	bool from_terminal, child = false;
	int sig;

	while ((sig = signals_next(p->signals, &from_terminal)) != 0) {
		if (sig == SIGCHLD)
			child = true;
		else
			p->interrupted = true;
	}
	return child;
}

int patience_wait(struct patience *p, int fd, uint64_t deadline)
{
	struct pollfd polled[] = {{.fd = p->signals, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	uint64_t now = os_monotonic();

	if (p->interrupted)
		return -EINTR;
	if (now >= deadline)
		return -ETIMEDOUT;
	poll(polled, fd < 0 ? 1 : 2, (int)MIN((deadline - now + NS_PER_MS - 1) / NS_PER_MS, 3600000));
	if (polled[0].revents & POLLIN) {
		bool child = take_signals(p);

		if (p->interrupted)
			return -EINTR;
		if (child)
			return -ECHILD;
	}
	if (fd >= 0 && polled[1].revents)
		return 0;
	return os_monotonic() >= deadline ? -ETIMEDOUT : -ECHILD;
}

void patience_end(pid_t pid, unsigned ask_ms)
{
	uint64_t deadline = os_monotonic() + ask_ms * NS_PER_MS;

	kill(pid, SIGTERM);
	while (os_monotonic() < deadline) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return;
		os_sleep(LOOK_MS * NS_PER_MS);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int patience_child(struct patience *p, pid_t pid, uint64_t deadline, int *status)
{
	for (;;) {
		int rc;

		if (waitpid(pid, status, WNOHANG) == pid)
			return 0;
		rc = patience_wait(p, -1, deadline);
		if (rc == -ECHILD)
			continue;
		patience_end(pid, 250);
		return rc;
	}
}
