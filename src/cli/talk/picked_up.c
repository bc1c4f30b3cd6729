#include "cli/talk/picked_up.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define HELD_MS 50   /* a line that begins as ours would, and does not go on */
#define LAST_MS 300  /* for the last words of a program that has ended */
#define BYTES 16384

/* ---- which bytes ---- */

struct filter {
	char line[8192]; /* that is left out, with its newline */
	size_t length;
	size_t matched;  /* letters of it that have come and are held back */
	bool within;     /* a line that is another one */
};

/* Put what is held back into OUT; how much that is. */
static size_t flush(struct filter *f, char *out)
{
	size_t n = f->matched;

	memcpy(out, f->line, n);
	f->within |= n != 0;
	f->matched = 0;
	return n;
}

/* Put into OUT, which has room for LINE and N, what is to be shown of BYTES[0..N); how much that is. */
static size_t pass(struct filter *f, const char *bytes, size_t n, char *out)
{
	size_t put = 0, i;

	for (i = 0; i < n; i++) {
		if (!f->within && bytes[i] == f->line[f->matched]) {
			f->matched++;
			if (f->matched == f->length)
				f->matched = 0;
			continue;
		}
		put += flush(f, out + put);
		out[put++] = bytes[i];
		f->within = bytes[i] != '\n';
	}
	return put;
}

/* ---- the process ---- */

/* Where stderr goes; what it does not take is lost, but the program never learns of it. */
static void show(const char *bytes, size_t n)
{
	ssize_t done;

	while (n) {
		done = write(STDERR_FILENO, bytes, n);
		if (done < 0 && errno != EINTR)
			return;
		bytes += MAX(done, (ssize_t)0);
		n -= (size_t)MAX(done, (ssize_t)0);
	}
}

/* Until its other end is closed by all who have it. */
static void pass_on(int from, struct filter *f)
{
	static char bytes[BYTES], out[BYTES + 2 * sizeof(f->line)];
	struct pollfd p = {.fd = from, .events = POLLIN};
	ssize_t n = 1;

	while (n > 0 || (n < 0 && errno == EINTR)) {
		if (f->matched && poll(&p, 1, HELD_MS) == 0)
			show(out, flush(f, out));
		/* of a terminal: EIO when the program's end is closed */
		n = read(from, bytes, sizeof(bytes));
		if (n > 0)
			show(out, pass(f, bytes, (size_t)n, out));
	}
	show(out, flush(f, out));
}

/* Nothing of the command's but its stderr, and no signals of its terminal. */
static void stand_alone(int from, int over)
{
	int null = open("/dev/null", O_RDWR), kept[2] = {from, over}, i;
	sigset_t none;

	for (i = 0; i < 2; i++)
		if ((kept[i] = fcntl(kept[i], F_DUPFD_CLOEXEC, 16)) < 0)
			_exit(1);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (dup2(kept[0], 3) != 3 || dup2(kept[1], 4) != 4)
		_exit(1);
	syscall(SYS_close_range, 5u, ~0u, 0);
	setsid();
	if (chdir("/"))
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "jstrobe stderr");
}

/* The two ends of what stands for the program's stderr: a terminal, if it is one. */
static bool make_ends(int *read_end, int *write_end)
{
	struct winsize size;
	struct termios t;
	char name[64];
	int ends[2], master;

	if (!isatty(STDERR_FILENO)) {
		if (pipe2(ends, O_CLOEXEC))
			return false;
		*read_end = ends[0];
		*write_end = ends[1];
		return true;
	}
	master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0)
		return false;
	*write_end = -1;
	if (ioctl(master, TIOCSPTLCK, &(int){0}) == 0 && ptsname_r(master, name, sizeof(name)) == 0)
		*write_end = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*write_end < 0 || tcgetattr(*write_end, &t)) {
		close(master);
		if (*write_end >= 0)
			close(*write_end);
		return false;
	}
	cfmakeraw(&t); /* what is done to its bytes the real one does */
	tcsetattr(*write_end, TCSANOW, &t);
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
		ioctl(*write_end, TIOCSWINSZ, &size);
	*read_end = master;
	return true;
}

void picked_up_begin(struct picked_up *p, const char *value)
{
	static struct filter filter;
	int from, to, over[2], status, n;
	pid_t child;

	*p = (struct picked_up)PICKED_UP_INIT;
	n = snprintf(filter.line, sizeof(filter.line), "Picked up JAVA_TOOL_OPTIONS: %s\n", value);
	if (n >= (int)sizeof(filter.line) || fcntl(STDERR_FILENO, F_GETFD) < 0 || !make_ends(&from, &to))
		return;
	filter.length = (size_t)n;
	if (pipe2(over, O_CLOEXEC)) {
		close(from);
		close(to);
		return;
	}
	/* like fork, but its end is told by no SIGCHLD: that is for the program */
	child = (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
	if (child == 0) {
		close(to);
		/* an orphan: no process has to wait for its end */
		if (fork() == 0) {
			stand_alone(from, over[1]);
			pass_on(3, &filter);
		}
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, __WALL) < 0 && errno == EINTR)
		;
	close(from);
	close(over[1]);
	if (child < 0) {
		close(over[0]);
		close(to);
		return;
	}
	p->stderr_fd = to;
	p->over = over[0];
}

void picked_up_given(struct picked_up *p)
{
	if (p->stderr_fd >= 0)
		close(p->stderr_fd);
	p->stderr_fd = -1;
}

void picked_up_end(struct picked_up *p)
{
	struct pollfd over = {.fd = p->over, .events = POLLIN};

	picked_up_given(p);
	if (p->over < 0)
		return;
	poll(&over, 1, LAST_MS);
	close(p->over);
	p->over = -1;
}
