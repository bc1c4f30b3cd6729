/*
 * transfer.c - the process that stays behind with the command's rights, to open perf events for a JVM that has none
 * (an ordinary user at perf_event_paranoid 2, a container whose seccomp filter forbids the call).
 *
 * The JVM may be another user's, so it gets only what sampling it needs: events that were asked for at the start, of
 * its own threads, for as long as it is the program that was looked at; and the names of kernel functions. Its threads
 * are numbered as it sees them; /proc tells their numbers here.
 *
 * A number can be another's from one moment to the next, so each event is opened first, and looked at then: if the
 * thread's folder in /proc, opened before, is still that of a thread of the target, and the target still what it was,
 * then the event is one of that thread. Only then is it handed over.
 */
#include "cli/talk/transfer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/attach/process.h"
#include "common/base/knob.h"
#include "common/base/vector.h"
#include "common/control/control.h"
#include "common/os/os.h"

#define SEND_MS 2000
#define LOOK_MS 1000 /* so often the helper looks whether the target is still what it was */

#ifndef NS_GET_PID_FROM_PIDNS /* Linux 6.11: the number here of a process of that namespace */
#define NS_GET_PID_FROM_PIDNS _IOR(0xb7, 0x6, int)
#endif

struct server {
	int sock;
	struct identity target;
	struct grant grant;
	bool same_numbers;  /* the target's threads have the same numbers for it and for us */
	int namespace;      /* of the target's process numbers; -1: not to be had */
	bool gave_symbols;
};

/* ---- threads by number ------------------------------------------------------------- */

/* Whether the thread whose folder in /proc is TASK, or NAME in it, has number TID where it lives. */
static bool has_number(int task, const char *name, pid_t tid)
{
	ssize_t n;
	char *status = process_status_text(task, name, &n), *numbers, *last = NULL;
	bool is;

	/* it stands behind the groups, which can be many */
	numbers = status ? strstr(status, "\nNSpid:") : NULL;
	if (numbers) {
		numbers[1 + strcspn(numbers + 1, "\n")] = '\0';
		last = strrchr(numbers, '\t');
	}
	is = last && atoi(last) == tid;
	free(status);
	return is;
}

/* Newest first: most often it is one that has just begun. */
static pid_t scan(const struct server *s, pid_t tid)
{
	int fd = openat(s->target.proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	VECTOR(pid_t) numbers = {0};
	pid_t *place, found = 0;
	char name[64];

	while (tasks && (entry = readdir(tasks)))
		if (atoi(entry->d_name) > 0 && (place = VECTOR_PUSH(&numbers)))
			*place = atoi(entry->d_name);
	while (!found && numbers.count) {
		pid_t number = numbers.items[--numbers.count];

		snprintf(name, sizeof(name), "%d/status", (int)number);
		if (has_number(dirfd(tasks), name, tid))
			found = number;
	}
	free(numbers.items);
	if (tasks)
		closedir(tasks);
	return found;
}

/* The number here of thread TID of the target, as far as can be told; 0 if it has none such. */
static pid_t find_thread(const struct server *s, pid_t tid)
{
	int number;

	if (s->same_numbers)
		return tid;
	number = s->namespace < 0 ? -1 : ioctl(s->namespace, NS_GET_PID_FROM_PIDNS, tid);
	return number > 0 ? number : s->namespace >= 0 && errno == ESRCH ? 0 : scan(s, tid);
}

static void read_namespace(struct server *s)
{
	struct stat its, ours;

	s->namespace = openat(s->target.proc, "ns/pid", O_RDONLY | O_CLOEXEC);
	s->same_numbers = s->namespace >= 0 && fstat(s->namespace, &its) == 0 &&
			  stat("/proc/self/ns/pid", &ours) == 0 && its.st_ino == ours.st_ino &&
			  its.st_dev == ours.st_dev;
}

/* ---- what is given ------------------------------------------------------------------ */

static int open_event(const struct server *s, const char *question)
{
	struct os_perf spec = {
		.type = (uint32_t)control_number(question, "type"),
		.config = control_number(question, "config"),
		.config1 = control_number(question, "config1"),
		.config2 = control_number(question, "config2"),
		.bp_type = (uint32_t)control_number(question, "bp_type"),
		.period = control_number(question, "period"),
		.kernel = control_number(question, "kernel"),
		.only_cpu = (uint32_t)control_number(question, "only_cpu"),
		.scaled = control_number(question, "scaled"),
		.until_exec = true,
	};
	pid_t tid = (pid_t)control_number(question, "tid"), number;
	char name[64];
	int task, fd;

	if (!grant_allows(&s->grant, &spec))
		return -EACCES;
	number = tid > 0 ? find_thread(s, tid) : 0;
	snprintf(name, sizeof(name), "task/%d", (int)number);
	task = number ? openat(s->target.proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (task < 0)
		return -ESRCH;
	fd = os_perf_open(number, &spec);
	if (fd >= 0 && !has_number(task, "status", tid)) {
		close(fd);
		fd = -ESRCH;
	}
	close(task);
	return fd;
}

static int open_symbols(void)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_asked(struct server *s, const char *question)
{
	if (!control_number(question, "kallsyms"))
		return open_event(s, question);
	/* once: it is read from its begin on, and that is enough for a session */
	if (!s->grant.kernel || s->gave_symbols)
		return -EACCES;
	s->gave_symbols = true;
	return open_symbols();
}

/* Answer one question; false: that was the last one. */
static bool answer(struct server *s, const struct control_message *m)
{
	struct error err;
	char code[32];
	int fd = open_asked(s, m->payload), rc;

	/* behind the opening: an event of what the target has become meanwhile is not for the process that asked */
	if (!identity_holds(&s->target)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	snprintf(code, sizeof(code), "code=%d\n", fd < 0 ? -fd : 0);
	rc = control_send(s->sock, CONTROL_PERF_GIVE, code, strlen(code), fd, SEND_MS, &err);
	if (fd >= 0)
		close(fd);
	return rc == 0;
}

/* Until the other end is closed, is another's, or the target is not what it was. */
static void serve(struct server *s)
{
	struct control_message m = CONTROL_MESSAGE_INIT;
	struct pollfd p = {.fd = s->sock, .events = POLLIN};
	struct error err;
	bool more = true;

	while (more) {
		if (poll(&p, 1, LOOK_MS) <= 0)
			more = identity_holds(&s->target);
		else
			more = control_receive(s->sock, &m, 0, &err) == 0 && m.type == CONTROL_PERF_ASK &&
			       m.sender == s->target.pid && answer(s, &m);
		/* descriptors that came along are not wanted */
		control_release(&m);
	}
}

/* ---- the process -------------------------------------------------------------------- */

/* Nothing of the command's but its rights: a process that waits for its terminal or its pipes must not wait for us. */
static void stand_alone(struct server *s)
{
	int null = open("/dev/null", O_RDWR), fd;
	int *kept[] = {&s->sock, &s->target.proc, &s->namespace};
	sigset_t none;
	size_t i;

	/* out of the way of the places that they get */
	for (i = 0; i < ARRAY_LEN(kept); i++)
		if (*kept[i] >= 0 && (*kept[i] = fcntl(*kept[i], F_DUPFD_CLOEXEC, 16)) < 0)
			_exit(1);
	for (fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	for (i = 0; i < ARRAY_LEN(kept); i++, fd++) {
		if (*kept[i] < 0 ? close(fd) && errno != EBADF : dup2(*kept[i], fd) != fd)
			_exit(1);
		*kept[i] = *kept[i] < 0 ? -1 : fd;
	}
	syscall(SYS_close_range, (unsigned)fd, ~0u, 0);
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

/* Whether we may do what we are asked for: better said now than by a session without events. */
static int try_out(const struct server *s, struct error *err)
{
	struct os_perf spec = {.kernel = s->grant.kernel, .period = NS_PER_S};
	int fd;

	if (!s->grant.count)
		return 0;
	spec.type = s->grant.events[0].type;
	spec.config = s->grant.events[0].config;
	fd = os_perf_open(s->target.pid, &spec);
	if (fd >= 0)
		close(fd);
	if (fd == -EACCES || fd == -EPERM)
		return error_set(err, -fd, "fdtransfer: this command may not open perf events of process %d "
				 "itself: run it as root, or give it CAP_PERFMON", (int)s->target.pid);
	return 0;
}

/* The process at the other end of SOCK, if it was not determined yet: the JVM that we have started. */
static int meet(int sock, struct identity *id, struct error *err)
{
	pid_t pid;
	uid_t uid;
	int rc;

	if (control_peer(sock, &pid, &uid, err))
		return -err->code;
	if (pid <= 0)
		return error_set(err, ESRCH, "fdtransfer: the process cannot be seen from here; run "
				 "jstrobe where it can");
	rc = identity_take(pid, id);
	return !rc ? 0 : error_set(err, -rc, "fdtransfer: process %d cannot be looked at: %s", (int)pid,
				   error_text(-rc));
}

static int prepare(struct server *s, int sock, const struct identity *target, const struct options *o,
		   struct error *err)
{
	int rc = 0;

	s->target = *target;
	if (target->proc >= 0)
		s->target.proc = fcntl(target->proc, F_DUPFD_CLOEXEC, 0);
	else
		rc = meet(sock, &s->target, err);
	if (rc)
		return rc;
	if (!identity_holds(&s->target))
		return error_set(err, ESRCH, "fdtransfer: process %d has ended, or is not the program any more that we "
				 "attached to", (int)s->target.pid);
	/* no numbers: as on kernels before 6.11 */
	if (!KNOB(strcmp(o->engine_fail, "numbers") == 0))
		read_namespace(s);
	grant_read(o, &s->grant);
	return try_out(s, err);
}

/* The process; its socket's other end, ENDS[0], is the one that is given away. */
static int leave_behind(struct server *s, int ends[2], struct error *err)
{
	int status, on = 1;
	pid_t child;

	/* each question says whose it is */
	if (setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		return error_set(err, errno, "fdtransfer: no socket: %s", error_text(errno));
	s->sock = ends[1];
	/* like fork, but its end is told by no SIGCHLD: that is for the program that record starts */
	child = (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
	if (child == 0) {
		/* an orphan: no process has to wait for its end */
		if (fork() == 0) {
			stand_alone(s);
			serve(s);
		}
		_exit(0);
	}
	if (child < 0)
		return error_set(err, errno, "fdtransfer: no process: %s", error_text(errno));
	while (waitpid(child, &status, __WALL) < 0 && errno == EINTR)
		;
	return 0;
}

int transfer_serve(int sock, const struct identity *target, const struct options *o, struct error *err)
{
	struct server s = {.sock = -1, .target.proc = -1, .namespace = -1};
	int ends[2] = {-1, -1}, rc = prepare(&s, sock, target, o, err);

	if (rc == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		rc = error_set(err, errno, "fdtransfer: no socket: %s", error_text(errno));
	if (rc == 0)
		rc = leave_behind(&s, ends, err);
	if (ends[1] >= 0)
		close(ends[1]);
	if (rc && ends[0] >= 0)
		close(ends[0]);
	if (s.namespace >= 0)
		close(s.namespace);
	identity_close(&s.target);
	return rc ? rc : ends[0];
}
