/*
 * The child: forked early, since its pid can be part of the result's name, but
 * let go only when everything that could fail has succeeded.
 */
#include "cli/talk/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

static bool is_java(const char *program)
{
	const char *slash = strrchr(program, '/');

	return strcmp(slash ? slash + 1 : program, "java") == 0;
}

/* PROGRAM with AGENT as first argument; NULL when out of memory. */
static char **insert(char **program, const char *agent)
{
	char **argv;
	size_t n = 0;

	while (program[n])
		n++;
	argv = calloc(n + 2, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[0] = program[0];
	argv[1] = (char *)(uintptr_t)agent;
	memcpy(argv + 2, program + 1, n * sizeof(*argv));
	return argv;
}

/* What the variable becomes, to be freed; NULL: out of memory. */
static char *with_others(const char *agent)
{
	const char *others = getenv("JAVA_TOOL_OPTIONS");
	char *value;

	/* quiet: JVMs that the first one starts inherit it, and no process waits for them */
	return asprintf(&value, "%s%s%s,quiet", others ? others : "", others ? " " : "", agent) < 0 ? NULL : value;
}

static int add_to_environment(const char *agent)
{
	char *value = with_others(agent);
	int rc;

	if (!value)
		return -1;
	rc = setenv("JAVA_TOOL_OPTIONS", value, 1);
	free(value);
	return rc;
}

static void become(char **program, const char *agent, int go, int failure, int its_stderr)
{
	char **argv = program, byte;
	int code;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	if (its_stderr >= 0)
		dup2(its_stderr, STDERR_FILENO);
	signals_restore();
	if (is_java(program[0]))
		argv = insert(program, agent);
	else if (add_to_environment(agent))
		argv = NULL;
	if (argv)
		execvp(argv[0], argv);
	code = argv ? errno : ENOMEM;
	if (write(failure, &code, sizeof(code)) != sizeof(code))
		_exit(126);
	_exit(127);
}

/* Of a variable that the user has set as well, the JVM would tell without us. */
static void leave_out_words(struct launch *l, char **program, const char *agent)
{
	char *value = is_java(program[0]) || getenv("JAVA_TOOL_OPTIONS") ? NULL : with_others(agent);

	if (value)
		picked_up_begin(&l->words, value);
	free(value);
}

int launch_fork(struct launch *l, struct agent *a, const struct options *o, char **program, struct error *err)
{
	char agent[PATH_MAX + 512];
	int go[2], failure[2], rc;

	*l = (struct launch){.words = PICKED_UP_INIT};
	rc = agent_invite(a, o, agent, sizeof(agent), err);
	if (rc)
		return rc;
	if (pipe2(go, O_CLOEXEC))
		return error_set(err, errno, "pipe: %s", error_text(errno));
	if (pipe2(failure, O_CLOEXEC)) {
		error_set(err, errno, "pipe: %s", error_text(errno));
		goto close_go;
	}
	fflush(NULL);
	leave_out_words(l, program, agent);
	l->pid = fork();
	if (l->pid < 0) {
		l->pid = 0;
		error_set(err, errno, "fork: %s", error_text(errno));
		goto close_failure;
	}
	if (l->pid == 0) {
		close(go[1]);
		close(failure[0]);
		become(program, agent, go[0], failure[1], l->words.stderr_fd);
	}
	picked_up_given(&l->words);
	close(go[0]);
	close(failure[1]);
	l->go = go[1];
	l->failure = failure[0];
	if (!is_java(program[0]))
		console_detail("%s is not the java launcher: the agent goes into JAVA_TOOL_OPTIONS",
			       program[0]);
	return 0;
close_failure:
	picked_up_end(&l->words);
	close(failure[0]);
	close(failure[1]);
close_go:
	close(go[0]);
	close(go[1]);
	return -err->code;
}

int launch_go(struct launch *l, const char *name, struct error *err)
{
	int code = 0;
	ssize_t n;

	if (write(l->go, "g", 1) != 1)
		code = errno;
	/* closed by a successful exec */
	do
		n = read(l->failure, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close(l->go);
	close(l->failure);
	if (!code)
		return 0;
	waitpid(l->pid, NULL, 0);
	l->pid = 0;
	picked_up_end(&l->words);
	return error_set(err, code, "%s cannot be started: %s", name, error_text(code));
}

void launch_abandon(struct launch *l)
{
	if (!l->pid)
		return;
	close(l->go);
	close(l->failure);
	waitpid(l->pid, NULL, 0);
	l->pid = 0;
	picked_up_end(&l->words);
}

static void reap(struct launch *l)
{
	int status;

	if (l->ended || waitpid(l->pid, &status, WNOHANG) != l->pid)
		return;
	l->ended = true;
	l->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool launch_signal(struct launch *l, int sig, bool from_terminal)
{
	if (!l->pid)
		return false;
	if (sig == SIGCHLD)
		reap(l);
	else if (!from_terminal && !l->ended)
		kill(l->pid, sig);
	return true;
}

static void take_signals(struct launch *l, int wake)
{
	bool from_terminal;
	int sig;

	while ((sig = signals_next(wake, &from_terminal)) != 0)
		launch_signal(l, sig, from_terminal);
}

int launch_greet(struct launch *l, struct agent *a, struct error *err)
{
	int rc;

	do {
		rc = agent_greet(a, -1, err);
		if (rc == -EINTR)
			take_signals(l, a->wake);
		if (rc && l->ended)
			return 1;
	} while (rc == -EINTR);
	return rc;
}

void launch_say_ended(const struct launch *l, char **program, const char *what)
{
	static const char elsewhere[] = ". A JVM that sees other files than we do (chroot, a container) finds neither "
					"the agent nor our socket in /tmp: start it by itself, then profile it by its "
					"pid";

	/* of java itself the JVM's own words stand above ours */
	console_error("%s ended (exit status %d) before a JVM loaded the agent; there is no %s%s", program[0],
		      l->status, what, is_java(program[0]) ? "" : elsewhere);
}

int launch_wait(struct launch *l, int wake, int otherwise)
{
	struct pollfd p = {.fd = wake, .events = POLLIN};

	while (!l->ended) {
		poll(&p, 1, -1);
		take_signals(l, wake);
	}
	picked_up_end(&l->words);
	return l->status ? l->status : otherwise;
}
