#include "cli/attach/survey.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/base/ascii.h"
#include "common/base/vector.h"
#include "common/os/os.h"

#define WORKERS 8
#define IMPATIENT (50 * NS_PER_MS)  /* all are at it for so long: one more helps */
#define LOOK_TIME (2 * NS_PER_S)    /* for one process */
#define ALL_TIME (10 * NS_PER_S)    /* for all of them */
#define LOOK_LEAST (100 * NS_PER_MS)
#define DYING_MS 50                 /* for children that were killed */
#define CHILD_S 5                   /* a child whose parent is gone ends by itself */
#define USERS 64                    /* whose processes were late; of more the last */

struct worker {
	pid_t child; /* 0: none */
	int sock;
	pid_t pid;   /* that it looks at; 0: none */
	uint64_t since, time;
};

struct ticker {
	const struct survey *s;
	struct survey_late *late;
	VECTOR(pid_t) pids;
	size_t next;
	struct worker workers[WORKERS];
	struct {
		uid_t uid;
		unsigned times;
	} users[USERS];
	bool enough;
	char *reply; /* a pid, and S->size bytes */
};

static size_t reply_size(const struct survey *s)
{
	return sizeof(pid_t) + s->size;
}

/* ---- in a child ---------------------------------------------------------------------- */

/* Nothing of the command's but its rights: who waits for its terminal or its pipes must not wait for us. */
static void stand_alone(int sock)
{
	int null = open("/dev/null", O_RDWR), fd;
	sigset_t none;

	for (fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	if (dup2(sock, 3) != 3)
		_exit(1);
	if (syscall(SYS_close_range, 4u, ~0u, 0))
		for (fd = 4; fd < 1024; fd++)
			close(fd);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGALRM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_NAME, "jstrobe look");
}

/* Reply to each number that comes, the number first and negative if there is nothing to say, until the end. */
static void work(const struct survey *s)
{
	char *reply = malloc(reply_size(s));
	pid_t pid;

	while (reply && recv(3, &pid, sizeof(pid), 0) == sizeof(pid)) {
		memset(reply, 0, reply_size(s));
		alarm(CHILD_S);
		if (!s->look(pid, reply + sizeof(pid), s->arg))
			pid = -pid;
		alarm(0);
		memcpy(reply, &pid, sizeof(pid));
		if (send(3, reply, reply_size(s), 0) != (ssize_t)reply_size(s))
			break;
	}
	_exit(0);
}

/* ---- here -------------------------------------------------------------------------------- */

static void dismiss(struct worker *w)
{
	if (!w->child)
		return;
	close(w->sock);
	kill(w->child, SIGKILL);
	*w = (struct worker){0};
}

/* Those that were killed; no other child is waited for. One that hangs in the kernel dies later, and is init's then. */
static void bury(void)
{
	pid_t pid = 0;
	int ms;

	for (ms = 0; pid >= 0 && ms < DYING_MS; ms += pid == 0) {
		pid = waitpid(-1, NULL, __WCLONE | WNOHANG);
		if (pid == 0)
			poll(NULL, 0, 1);
	}
}

static int hire(struct ticker *r, struct worker *w, struct error *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_set(err, errno, "no socket to look at processes with: %s", error_text(errno));
	/* like fork, but no SIGCHLD tells of its end: that is for the program that record starts */
	w->child = (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
	if (w->child == 0) {
		stand_alone(ends[1]);
		work(r->s);
	}
	close(ends[1]);
	w->sock = ends[0];
	w->pid = 0;
	if (w->child > 0)
		return 0;
	w->child = 0;
	close(ends[0]);
	return error_set(err, errno, "no process to look at others with: %s", error_text(errno));
}

static uid_t user_of_process(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) ? (uid_t)-1 : st.st_uid;
}

/* The more of a user's processes were late, the less time the next one has: all of them together get little more. */
static uint64_t time_for(const struct ticker *r, pid_t pid)
{
	uid_t uid = user_of_process(pid);
	size_t i;

	for (i = 0; i < USERS; i++)
		if (r->users[i].times && r->users[i].uid == uid)
			return MAX(LOOK_TIME / (1 + r->users[i].times), LOOK_LEAST);
	return LOOK_TIME;
}

static void note_late(struct ticker *r, pid_t pid)
{
	uid_t uid = user_of_process(pid);
	size_t i = 0;

	/* one that has ended is none */
	if (kill(pid, 0) && errno == ESRCH)
		return;
	if (r->late->count < SURVEY_LATE)
		r->late->pids[r->late->count] = pid;
	r->late->count++;
	while (i < USERS - 1 && r->users[i].times && r->users[i].uid != uid)
		i++;
	r->users[i].uid = uid;
	r->users[i].times++;
}

/* Give worker W the next process. */
static void assign(struct ticker *r, struct worker *w)
{
	w->pid = r->pids.items[r->next];
	if (send(w->sock, &w->pid, sizeof(w->pid), MSG_NOSIGNAL) != sizeof(w->pid)) {
		w->pid = 0;
		dismiss(w);
		return;
	}
	r->next++;
	w->since = os_monotonic();
	w->time = time_for(r, w->pid);
}

/* Start all workers that can be started; 0, or none could be. */
static int assign_all(struct ticker *r, struct error *err)
{
	struct worker *w, *end = r->workers + WORKERS, *vacant = NULL;
	uint64_t newest = 0;
	bool busy = false;
	int rc;

	for (w = r->workers; w < end; w++) {
		if (w->child && !w->pid && r->next < r->pids.count)
			assign(r, w);
		if (!w->child)
			vacant = w;
		busy |= w->child != 0;
		newest = w->child ? MAX(newest, w->since) : newest;
	}
	if (r->next == r->pids.count || !vacant || (busy && os_monotonic() - newest < IMPATIENT))
		return 0;
	rc = hire(r, vacant, err);
	if (rc == 0)
		assign(r, vacant);
	return busy ? 0 : rc;
}

/* Worker W has replied, or is dead, which is a reply, too. */
static void hear(struct ticker *r, struct worker *w)
{
	ssize_t n = recv(w->sock, r->reply, reply_size(r->s), MSG_DONTWAIT);
	pid_t pid = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == (ssize_t)reply_size(r->s))
		memcpy(&pid, r->reply, sizeof(pid));
	if (pid != w->pid && pid != -w->pid) {
		note_late(r, w->pid);
		dismiss(w);
		return;
	}
	w->pid = 0;
	if (pid > 0 && !r->s->take(pid, r->reply + sizeof(pid), r->s->result))
		r->enough = true;
}

/* Wait for replies, but not too long for any. */
static void wait_for_replies(struct ticker *r)
{
	struct pollfd p[WORKERS];
	uint64_t at = os_monotonic(), left = r->next < r->pids.count ? IMPATIENT : LOOK_TIME;
	size_t i;

	for (i = 0; i < WORKERS; i++) {
		struct worker *w = &r->workers[i];

		p[i] = (struct pollfd){.fd = w->pid ? w->sock : -1, .events = POLLIN};
		if (w->pid)
			left = MIN(left, w->since + w->time > at ? w->since + w->time - at : 0);
	}
	poll(p, WORKERS, (int)((left + NS_PER_MS - 1) / NS_PER_MS));
	at = os_monotonic();
	for (i = 0; i < WORKERS; i++) {
		struct worker *w = &r->workers[i];

		if (w->pid && p[i].revents) {
			hear(r, w);
		} else if (w->pid && at > w->since + w->time) {
			note_late(r, w->pid);
			dismiss(w);
		}
	}
}

static bool is_busy(const struct ticker *r)
{
	size_t i;

	for (i = 0; i < WORKERS; i++)
		if (r->workers[i].pid)
			return true;
	return false;
}

static int find_processes(struct ticker *r, struct error *err)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t *pid;

	if (!proc)
		return error_set(err, errno, "/proc cannot be read: %s; mount it", error_text(errno));
	while ((entry = readdir(proc)) != NULL) {
		if (!ascii_is_digit(entry->d_name[0]))
			continue;
		pid = VECTOR_PUSH(&r->pids);
		if (pid)
			*pid = atoi(entry->d_name);
	}
	closedir(proc);
	return 0;
}

/* The time is up: those that are being looked at, and those that were not looked at. */
static void leave_rest(struct ticker *r)
{
	size_t i;

	for (i = 0; i < WORKERS; i++)
		if (r->workers[i].pid)
			note_late(r, r->workers[i].pid);
	while (r->next < r->pids.count)
		note_late(r, r->pids.items[r->next++]);
	r->enough = true;
}

int survey_all(const struct survey *s, struct survey_late *late, struct error *err)
{
	struct ticker r = {.s = s, .late = late, .reply = malloc(reply_size(s))};
	int rc = r.reply ? find_processes(&r, err) : error_set(err, ENOMEM, "out of memory");
	uint64_t until = os_monotonic() + ALL_TIME;
	size_t i;

	memset(late, 0, sizeof(*late));
	while (rc == 0 && !r.enough && (r.next < r.pids.count || is_busy(&r))) {
		rc = assign_all(&r, err);
		if (rc == 0)
			wait_for_replies(&r);
		if (os_monotonic() + ALL_TIME > until + NS_PER_S)
			console_progress_part(r.next, r.pids.count, "looking at processes: %zu of %zu", r.next,
					      (size_t)r.pids.count);
		if (rc == 0 && os_monotonic() > until)
			leave_rest(&r);
	}
	console_progress_end();
	for (i = 0; i < WORKERS; i++)
		dismiss(&r.workers[i]);
	bury();
	free(r.pids.items);
	free(r.reply);
	return rc;
}

const char *survey_say(const struct survey_late *late, char *text, size_t size)
{
	size_t i, n = 0, named = MIN(late->count, (size_t)SURVEY_LATE);

	text[0] = '\0';
	if (!late->count)
		return text;
	n = (size_t)snprintf(text, size, "left out, for they did not let themselves be looked at in time: process");
	for (i = 0; i < named && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s %d", i ? "," : "", (int)late->pids[i]);
	if (late->count > named && n < size)
		snprintf(text + n, size - n, " and %zu more", late->count - named);
	return text;
}
