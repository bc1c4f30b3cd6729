/*
 * mcp_jobs.c - calls that run, each in a child process of ours: begun, listened to, ended. Handles are the server's:
 * what a child made gets its name when it has succeeded.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/mcp/mcp.h"
#include "cli/reading.h"
#include "common/base/clean.h"
#include "common/os/os.h"

#define END_MS 8000      /* for a recording that is ended to take itself out of its JVM */
#define ANSWER_READ 65536 /* more of an answer is not kept */

/* Whether CALL makes a file of ours. */
static bool is_recorded(const struct mcp_call *call)
{
	return call->tool->makes[0] && !mcp_arg(call, "path");
}

static bool make_folder(struct mcp_server *s, struct error *err)
{
	const char *tmp = getenv("TMPDIR");

	if (s->folder[0])
		return true;
	tmp = tmp && tmp[0] ? tmp : "/tmp";
	if (snprintf(s->folder, sizeof(s->folder), "%s/jstrobe-mcp-XXXXXX", tmp) < (int)sizeof(s->folder) &&
	    mkdtemp(s->folder))
		return true;
	error_set(err, errno, "a private folder for results cannot be made in %s: %s; set TMPDIR to a folder that can "
		  "be written to", tmp, error_text(errno));
	s->folder[0] = '\0';
	return false;
}

/* The files of the handles that CALL was given. */
static bool find_files(const struct mcp_server *s, struct mcp_call *call, struct error *err)
{
	size_t i, k;

	for (i = 0; i < strlen(call->tool->takes); i++) {
		const char *name = call->args[i].text;

		for (k = 0; k < s->handles.count && strcmp(s->handles.items[k].name, name) != 0; k++)
			;
		if (k == s->handles.count) {
			error_set(err, ENOENT, "there is no result \"%.40s\"; record and open give handles, %s%s", name,
				  s->handles.count ? "the last one was " : "and none was given yet",
				  s->handles.count ? s->handles.items[s->handles.count - 1].name : "");
			return false;
		}
		strcpy(call->names[i], s->handles.items[k].name);
		strcpy(call->files[i], s->handles.items[k].file);
	}
	return true;
}

/* The handle that CALL will make, and its file. */
static bool name_result(struct mcp_server *s, struct mcp_call *call, struct error *err)
{
	const char *path = mcp_arg(call, "path");

	if (!call->tool->makes[0])
		return true;
	snprintf(call->handle, sizeof(call->handle), "%s%u", call->tool->makes, ++s->made);
	if (path)
		return snprintf(call->file, sizeof(call->file), "%s", path) < (int)sizeof(call->file) ||
		       !error_set(err, ENAMETOOLONG, "the path is too long");
	if (!make_folder(s, err))
		return false;
	snprintf(call->file, sizeof(call->file), "%s/%s.jfr", s->folder, call->handle);
	return true;
}

static void carry_out(struct mcp_call *call, int out)
{
	struct buffer answer = BUFFER_INIT;
	int rc, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (is_recorded(call))
		mcp_pass_on();
	signal(SIGPIPE, SIG_IGN);
	signals_restore();
	if (null < 0 || dup3(null, 0, 0) < 0 || dup3(null, 1, 0) < 0 || dup3(null, 2, 0) < 0)
		_exit(126);
	reading_guard();
	rc = call->tool->run(call, &answer);
	if (answer.failed) {
		answer = (struct buffer)BUFFER_INIT;
		buffer_puts(&answer, "out of memory\n");
		rc = -1;
	}
	buffer_write(out, answer.data, answer.length);
	_exit(rc ? 1 : 0);
}

bool mcp_begin(struct mcp_server *s, const struct mcp_call *call, const char *id, char *progress, struct error *err)
{
	struct mcp_job *j = s->jobs;
	int ends[2];

	while (j < s->jobs + ARRAY_LEN(s->jobs) && j->pid)
		j++;
	if (j == s->jobs + ARRAY_LEN(s->jobs))
		return !error_set(err, EBUSY, "%zu calls are running already; wait for one to end, or cancel it",
				  ARRAY_LEN(s->jobs));
	*j = (struct mcp_job){.call = *call, .answer = BUFFER_INIT, .began = os_monotonic(), .said = os_monotonic()};
	if (!find_files(s, &j->call, err) || !name_result(s, &j->call, err))
		return false;
	if (pipe2(ends, O_CLOEXEC))
		return !error_set(err, errno, "pipe: %s", error_text(errno));
	j->id = strdup(id);
	j->pid = j->id ? fork() : -1;
	if (j->pid == 0)
		carry_out(&j->call, ends[1]);
	close(ends[1]);
	if (j->pid < 0) {
		j->pid = 0;
		error_set(err, errno, "no process can be made: %s; end some", error_text(errno));
		free(j->id);
		close(ends[0]);
		return false;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	j->fd = ends[0];
	j->progress = progress;
	return true;
}

/* The call has succeeded: its result gets its name. False: out of memory. */
static bool keep_handle(struct mcp_server *s, const struct mcp_call *call)
{
	struct mcp_handle *h;

	if (!call->handle[0])
		return true;
	h = VECTOR_PUSH(&s->handles);
	if (!h)
		return false;
	strcpy(h->name, call->handle);
	strcpy(h->file, call->file);
	h->ours = is_recorded(call);
	return true;
}

/* The text of J's answer as it may be shown, of no more than its size. */
static void make_safe(struct mcp_job *j)
{
	struct buffer safe = BUFFER_INIT;

	clean_put(&safe, j->answer.data, j->answer.length, CLEAN_TEXT);
	buffer_free(&j->answer);
	j->answer = safe;
	mcp_fit(&j->answer, MCP_ANSWER_MOST, "");
	buffer_putc(&j->answer, '\0');
}

static void end_job(struct mcp_server *s, struct mcp_job *j, struct buffer *out)
{
	int status = 0;
	bool failed, crashed;

	close(j->fd);
	kill(j->pid, SIGKILL); /* its answer is whole, or it is wanted no more */
	while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
		;
	crashed = !j->answer.length;
	failed = crashed || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	if (crashed)
		buffer_puts(&j->answer, "the call ended without an answer: the file may be damaged, or there is too "
					"little memory\n");
	if (!j->cancelled && !failed && !keep_handle(s, &j->call))
		failed = true;
	if (is_recorded(&j->call) && (failed || j->cancelled))
		unlink(j->call.file);
	make_safe(j);
	if (!j->cancelled)
		rpc_put_content(out, j->id, j->answer.failed ? "out of memory" : j->answer.data, failed);
	buffer_free(&j->answer);
	mcp_free_call(&j->call);
	free(j->id);
	free(j->progress);
	j->id = j->progress = NULL;
	j->pid = 0;
}

bool mcp_advance(struct mcp_server *s, struct mcp_job *j, struct buffer *out)
{
	char bytes[4096];
	ssize_t n;
	siginfo_t info = {.si_pid = 0};

	while ((n = read(j->fd, bytes, sizeof(bytes))) > 0)
		if (j->answer.length < ANSWER_READ)
			buffer_append(&j->answer, bytes, (size_t)n);
	/* its status is known a moment after its pipe is closed */
	if (n < 0 && errno == EAGAIN)
		return false;
	if (waitid(P_PID, (id_t)j->pid, &info, WEXITED | WNOWAIT) == 0)
		end_job(s, j, out);
	return true;
}

static void cancel(struct mcp_job *j)
{
	/* a recording passes it on, and waits until its session is out of the JVM */
	j->cancelled = true;
	kill(j->pid, SIGTERM);
}

void mcp_cancel(struct mcp_server *s, const char *id)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(s->jobs); i++)
		if (s->jobs[i].pid && strcmp(s->jobs[i].id, id) == 0)
			cancel(&s->jobs[i]);
}

void mcp_cancel_all(struct mcp_server *s, bool all)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(s->jobs); i++)
		if (s->jobs[i].pid && (all || is_recorded(&s->jobs[i].call)))
			cancel(&s->jobs[i]);
}

void mcp_tidy(struct mcp_server *s)
{
	struct buffer nothing = BUFFER_INIT;
	uint64_t end = os_monotonic() + END_MS * 1000000ull;
	size_t i;

	mcp_cancel_all(s, true);
	for (i = 0; i < ARRAY_LEN(s->jobs); i++) {
		struct mcp_job *j = &s->jobs[i];
		struct pollfd ready = {.fd = j->fd, .events = POLLIN};

		while (j->pid && os_monotonic() < end && !(poll(&ready, 1, 50) > 0 && mcp_advance(s, j, &nothing)))
			;
		if (j->pid) {
			end_job(s, j, &nothing);
		}
	}
	for (i = 0; i < s->handles.count; i++)
		if (s->handles.items[i].ours)
			unlink(s->handles.items[i].file);
	if (s->folder[0])
		rmdir(s->folder);
	free(s->handles.items);
	buffer_free(&nothing);
	buffer_free(&s->line);
}
