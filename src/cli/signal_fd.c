/*
 * Signals as something to read.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/watch.h"

static sigset_t before;
static int interrupts = -1;

int signals_open(struct error *err)
{
	static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
	struct sigaction action;
	sigset_t set;
	size_t i;
	int fd;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_LEN(ours); i++) {
		/* ignored on purpose (nohup, a shell's background job): not ours then */
		if (ours[i] != SIGCHLD && sigaction(ours[i], NULL, &action) == 0 &&
		    action.sa_handler == SIG_IGN)
			continue;
		sigaddset(&set, ours[i]);
	}
	/* if our parent has set it to be ignored, no child can be waited for */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &before);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return error_set(err, errno, "signalfd: %s", error_text(errno));
	sigdelset(&set, SIGCHLD);
	watch_signals(&set);
	interrupts = signalfd(interrupts, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd;
}

int signals_interrupts(void)
{
	return interrupts;
}

int signals_next(int fd, bool *from_terminal)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	*from_terminal = info.ssi_code == SI_KERNEL;
	return (int)info.ssi_signo;
}

void signals_restore(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
}
