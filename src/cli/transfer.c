/*
 * transfer.c - the process that stays behind with the command's rights, to open perf events for a JVM that has none
 * (an ordinary user at perf_event_paranoid 2, a container whose seccomp filter forbids the call).
 *
 * The JVM may be somebody else's, so it gets only what sampling it needs: events of its own threads, of kinds that
 * tell nothing of others, with the fields that jstrobe asks for; and the names of kernel functions. Its threads are
 * numbered as it sees them; /proc tells their numbers here.
 */
#include "cli/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/attach/process.h"
#include "control/control.h"
#include "os/os.h"

#define SEND_MS 2000

/* Whether thread NUMBER of process PID has number *TID where it lives: the last one of its namespaces'. */
static bool has_number(pid_t pid, pid_t number, const void *tid)
{
	char name[64], status[4096], *numbers, *last;

	snprintf(name, sizeof(name), "task/%d/status", (int)number);
	if (process_read(pid, name, status, sizeof(status)) < 0 || !(numbers = strstr(status, "\nNSpid:")))
		return false;
	numbers[1 + strcspn(numbers + 1, "\n")] = '\0';
	last = strrchr(numbers, '\t');
	return last && atoi(last) == *(const pid_t *)tid;
}

/* The number here of thread TID of process PID; 0 if it has none such. */
static pid_t find_thread(pid_t pid, pid_t tid)
{
	/* Most often they are the same. */
	return has_number(pid, tid, &tid) ? tid : process_find_thread(pid, has_number, &tid);
}

/* Counters and user-mode breakpoints; tracepoints and probes would show what others do. */
static bool may_be_had(const struct os_perf *s)
{
	return s->type == PERF_TYPE_SOFTWARE || s->type == PERF_TYPE_HARDWARE || s->type == PERF_TYPE_HW_CACHE ||
	       (s->type == PERF_TYPE_BREAKPOINT && !s->kernel);
}

static int open_event(pid_t pid, const char *question)
{
	struct os_perf s = {
		.type = (uint32_t)control_number(question, "type"),
		.config = control_number(question, "config"),
		.config1 = control_number(question, "config1"),
		.config2 = control_number(question, "config2"),
		.bp_type = (uint32_t)control_number(question, "bp_type"),
		.period = control_number(question, "period"),
		.kernel = control_number(question, "kernel"),
		.only_cpu = (uint32_t)control_number(question, "only_cpu"),
		.scaled = control_number(question, "scaled"),
	};
	pid_t tid = (pid_t)control_number(question, "tid");

	if (!may_be_had(&s))
		return -EACCES;
	tid = tid > 0 ? find_thread(pid, tid) : 0;
	return tid ? os_perf_open(tid, &s) : -ESRCH;
}

static int open_symbols(void)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Until the other end is closed. */
static void serve(int sock, pid_t pid)
{
	struct control_message m = CONTROL_MESSAGE_INIT;
	struct error err;
	char code[32];

	while (control_receive(sock, &m, -1, &err) == 0 && m.type == CONTROL_PERF_ASK) {
		int fd = control_number(m.payload, "kallsyms") ? open_symbols() : open_event(pid, m.payload);
		int rc;

		snprintf(code, sizeof(code), "code=%d\n", fd < 0 ? -fd : 0);
		rc = control_send(sock, CONTROL_PERF_GIVE, code, strlen(code), fd, SEND_MS, &err);
		if (fd >= 0)
			close(fd);
		if (rc)
			break;
	}
	control_release(&m);
}

/* Nothing of the command's but its rights: whoever waits for its terminal or its pipes must not wait for us. */
static void stand_alone(int sock)
{
	int null = open("/dev/null", O_RDWR), fd;
	sigset_t none;

	for (fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	if (dup2(sock, 3) != 3)
		_exit(1);
	syscall(SYS_close_range, 4u, ~0u, 0);
	setsid();
	if (chdir("/"))
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_NAME, "jstrobe perf");
}

int transfer_serve(int sock, struct error *err)
{
	int ends[2], status;
	pid_t pid, child;
	uid_t uid;

	if (control_peer(sock, &pid, &uid, err))
		return -err->code;
	if (pid <= 0)
		return error_set(err, ESRCH, "fdtransfer: the process cannot be seen from here; run "
				 "jstrobe where it can");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "fdtransfer: no socket: %s", strerror(errno));
	/* like fork, but its end is told by no SIGCHLD: that is for the program that record starts */
	child = (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
	if (child == 0) {
		/* nobody's child: nobody must wait for its end */
		if (fork() == 0) {
			stand_alone(ends[1]);
			serve(3, pid);
		}
		_exit(0);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return error_set(err, errno, "fdtransfer: no process: %s", strerror(errno));
	}
	while (waitpid(child, &status, __WALL) < 0 && errno == EINTR)
		;
	return ends[0];
}
