/*
 * How command and agent meet. The command makes a socket with a random name where the target sees it (its /tmp), has
 * the JVM load the agent with that name and a one-time token, and unlinks the socket as soon as the agent has come.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/attach/root.h"
#include "cli/cli.h"
#include "cli/talk/agent_link.h"
#include "cli/watch.h"
#include "common/os/os.h"

/* Steps in the target's file system, which may hang. */
#define STEP_MS 10000
#define COPY_MS 60000
#define START_MS 100 /* between two tries, while the JVM starts up */

void agent_stop_listening(struct agent *a)
{
	/* by descriptor: /proc/PID/root is gone when the process is */
	if (a->socket_name[0] && !a->target.pid) {
		unlinkat(a->folder, a->socket_name, 0);
	} else if (a->socket_name[0]) {
		watch_begin(a->hurried ? WATCH_MS : STEP_MS, "removing the socket in the /tmp of process %d",
			    (int)a->target.pid);
		root_unlink(&a->target.root, a->folder, a->socket_name);
		watch_end();
	}
	agent_forget_guests(a);
	if (a->listener >= 0)
		close(a->listener);
	if (a->folder >= 0)
		close(a->folder);
	a->socket_name[0] = '\0';
	a->listener = a->folder = -1;
}

/* ---- the library ---------------------------------------------------------------- */

/* Under the name that async-profiler's has, where ap-loader and the like unpack it. */
static bool find_under_other_name(char folder[PATH_MAX + 32], char path[PATH_MAX])
{
	strcat(folder, "/../lib/libasyncProfiler.so");
	return realpath(folder, path) && attach_is_agent_file(path);
}

/* ../lib/libjstrobe.so beside the command, or what --libpath says. */
static int find_library(const struct options *o, char path[PATH_MAX], struct error *err)
{
	char guess[PATH_MAX + 32], other[PATH_MAX + 32];
	ssize_t n;
	int code;

	if (o->libpath[0]) {
		snprintf(path, PATH_MAX, "%s", o->libpath);
		return path[0] == '/' ? 0 : error_set(err, EINVAL, "--libpath %s: give the whole "
						      "path, from / on", path);
	}
	n = readlink("/proc/self/exe", guess, PATH_MAX - 1);
	if (n < 0)
		return error_set(err, errno, "/proc/self/exe: %s", error_text(errno));
	guess[n] = '\0';
	*strrchr(guess, '/') = '\0';
	strcpy(other, guess);
	strcat(guess, "/../lib/" LIBRARY);
	if (realpath(guess, path))
		return 0;
	code = errno;
	if (find_under_other_name(other, path))
		return 0;
	return error_set(err, code, "the agent library %s is missing: %s; install it there or give --libpath", guess,
			 error_text(code));
}

bool agent_is_ours(const struct options *o, const char *library)
{
	struct error ignored;
	char path[PATH_MAX];

	return (find_library(o, path, &ignored) == 0 && strcmp(path, library) == 0) ||
	       attach_is_copy(library);
}

/* What --libpath says lies in the target's file system, which may be another than ours. */
static int check_visible(const struct attach_target *t, const char *library, struct error *err)
{
	struct stat st;
	int fd = root_open(&t->root, library, O_PATH);
	bool file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

	if (fd >= 0)
		close(fd);
	return file ? 0 : error_set(err, ENOENT, "--libpath %s is not visible to process %d; leave "
				    "--libpath out, and the library is copied to where it is",
				    library, (int)t->pid);
}

int agent_library(const struct attach_target *t, const struct options *o, bool make, char path[PATH_MAX], bool *copied,
		  struct error *err)
{
	char library[PATH_MAX];
	int rc = find_library(o, library, err);

	*copied = false;
	if (rc == 0 && o->libpath[0]) {
		snprintf(path, PATH_MAX, "%s", library);
		return check_visible(t, library, err);
	}
	return rc ? rc : attach_library(t, library, make, path, copied, err);
}

/* Where the target shall load the agent from. */
static int choose_library(struct agent *a, const struct options *o, char path[PATH_MAX],
			  struct error *err)
{
	bool copied;
	int rc = agent_library(&a->target, o, true, path, &copied, err);

	if (rc == 0 && copied)
		console_detail("process %d sees the agent as its own copy %s",
			       (int)a->target.pid, path);
	return rc;
}

int agent_check_tmp(const struct attach_target *t, struct error *err)
{
	int tmp = root_open(&t->root, "/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC), code = tmp < 0 ? -tmp : 0;
	struct user_former former;
	int rc = user_become(&t->root.user, &former, err);

	if (rc == 0 && !code && faccessat(tmp, ".", W_OK | X_OK, AT_EACCESS))
		code = errno;
	user_return(&former);
	if (tmp >= 0)
		close(tmp);
	if (rc || !code)
		return rc;
	return error_set(err, code, "process %d %s, and HotSpot makes its attach socket there; give it a writable one "
			 "(a tmpfs, an emptyDir), or start the JVM with -agentpath:…/libjstrobe.so=start", (int)t->pid,
			 code == EROFS ? "has a read-only /tmp" : code == ENOENT ? "has no /tmp" :
			 code == EACCES ? "may not write to its /tmp" : "has a /tmp that cannot be used");
}

/* ---- shaking hands -------------------------------------------------------------- */

/* Listen at .jstrobe-<random> in folder TMP; OPTIONS tell the agent, which sees TMP as /tmp. */
static int invite(struct agent *a, int tmp, char *options, size_t size, struct error *err)
{
	char random[CONTROL_TOKEN_LENGTH + 1], path[96];

	a->folder = tmp;
	if (control_token(random, err) || conversation_invite(&a->talk, err))
		return -err->code;
	if (tmp < 0)
		return error_set(err, -tmp, "/tmp cannot be used for the control socket: %s",
				 error_text(-tmp));
	control_sweep(a->folder, CONTROL_OLD);
	snprintf(a->socket_name, sizeof(a->socket_name), CONTROL_PREFIX "%.*s", CONTROL_DIGITS, random);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", a->folder, a->socket_name);
	a->listener = control_listen(path, err);
	if (a->listener < 0) {
		a->socket_name[0] = '\0';
		return -err->code;
	}
	snprintf(options, size, "connect=/tmp/%s,token=%s,protocol=%d", a->socket_name, a->talk.token,
		 CONTROL_PROTOCOL);
	return 0;
}

/* The agent's own words on why it did not start, if it has left some. */
static void hear_refusal(struct agent *a, struct error *err)
{
	struct error heard;
	int rc = agent_greet(a, 200, &heard);

	/* its greeting may come with the reason at once */
	if (rc == 0)
		rc = agent_listen(a, 500, &heard);
	if (rc && rc != -ECONNRESET && rc != -ETIMEDOUT)
		*err = heard;
}

/* The same in the target's /tmp, as its user: the socket is his, and root may have no place there. */
static int invite_target(struct agent *a, char *options, size_t size, struct error *err)
{
	int rc = agent_check_tmp(&a->target, err), tmp;
	struct user_former former;

	if (rc)
		return rc;
	tmp = root_open(&a->target.root, "/tmp", O_PATH | O_DIRECTORY);
	rc = user_become(&a->target.root.user, &former, err);
	if (rc == 0)
		rc = invite(a, tmp, options, size, err);
	else if (tmp >= 0)
		close(tmp);
	user_return(&former);
	return rc;
}

static int attach(struct agent *a, pid_t pid, const struct options *o, const char *loaded, struct error *err)
{
	char library[PATH_MAX], options[256];
	int rc, timeout = (int)(o->attach_timeout / NS_PER_MS);
	bool refused;

	/* the socket first: where that is impossible no copy is left behind */
	watch_begin(STEP_MS, "making a socket in the /tmp of process %d", (int)pid);
	rc = invite_target(a, options, sizeof(options), err);
	watch_end();
	watch_begin(COPY_MS, "looking for the agent library in the file system of process %d", (int)pid);
	if (rc == 0 && loaded)
		snprintf(library, sizeof(library), "%s", loaded);
	else if (rc == 0)
		rc = choose_library(a, o, library, err);
	watch_end();
	if (rc)
		return rc;
	console_detail("loading %s into process %d", library, (int)pid);
	watch_begin((unsigned)timeout * 2 + STEP_MS, "attaching to process %d", (int)pid);
	rc = attach_load(&a->target, library, options, timeout, &refused, err);
	watch_end();
	if (rc && refused)
		hear_refusal(a, err);
	if (rc)
		return -err->code;
	return agent_greet(a, timeout, err);
}

/* Once. */
static int try_attach(struct agent *a, pid_t pid, const struct options *o, const char *library, struct error *err)
{
	int rc;

	watch_begin(STEP_MS, "looking at process %d", (int)pid);
	rc = attach_check(pid, a->wake, &a->target, err);
	watch_end();
	if (rc)
		return rc;
	rc = attach(a, pid, o, library, err);
	/* Whatever failed on the way, the end of the process is the cause that a person must read. */
	if (rc && rc != -EINTR && rc != -EAGAIN && a->target.pid && agent_soon_gone(a))
		return error_set(err, ESRCH, "process %d ended while we attached to it", (int)pid);
	return rc;
}

/* Whether no signal came meanwhile. */
static bool rest(const struct agent *a)
{
	struct pollfd p = {.fd = a->wake, .events = POLLIN};

	return poll(&p, 1, START_MS) == 0;
}

int agent_attach(struct agent *a, pid_t pid, const struct options *o, const char *library, struct error *err)
{
	uint64_t until = os_monotonic() + o->attach_timeout;
	int rc = try_attach(a, pid, o, library, err);

	/* the JVM is starting up, and lets no agent in so far */
	while (rc == -EAGAIN && os_monotonic() < until && rest(a)) {
		bool hurried = a->hurried;

		agent_close(a);
		a->hurried = hurried;
		rc = try_attach(a, pid, o, library, err);
	}
	return rc;
}

int agent_invite(struct agent *a, const struct options *o, char *argument, size_t size,
		 struct error *err)
{
	char library[PATH_MAX], options[256];
	int rc = find_library(o, library, err), tmp;

	if (rc == 0) {
		tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
		rc = invite(a, tmp < 0 ? -errno : tmp, options, sizeof(options), err);
	}
	if (rc == 0 && (size_t)snprintf(argument, size, "-agentpath:%s=%s", library,
					options) >= size)
		rc = error_set(err, ENAMETOOLONG, "the path of the agent library is too long: %s",
			       library);
	return rc;
}
