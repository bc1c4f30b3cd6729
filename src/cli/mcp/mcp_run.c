/*
 * mcp_run.c - tools that are commands of ours, and those commands: ourselves again in a process, with what it prints
 * taken down. They check what they are given as always; here arguments that could be taken for options are refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/mcp/mcp.h"
#include "common/base/json_writer.h"

#define SAID_MOST 700 /* bytes of messages in an answer */

/* The command that runs; whether it was told to end. */
static volatile sig_atomic_t running, told;

static void tell(int sig)
{
	told = 1;
	if (running > 0)
		kill((pid_t)running, sig);
}

void mcp_pass_on(void)
{
	const struct sigaction action = {.sa_handler = tell};

	sigaction(SIGTERM, &action, NULL);
}

/* SIGTERM waits: it must find either no command or one that it ends. */
static void hold_back(bool on)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static void become(const char *const *words, int out, int said)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	hold_back(false);
	if (dup3(null, 0, 0) < 0 || dup3(out, 1, 0) < 0 || dup3(said, 2, 0) < 0)
		_exit(126);
	execv("/proc/self/exe", (char *const *)(uintptr_t)words);
	_exit(127);
}

/*
 * Run ourselves with WORDS, ended by NULL. What it prints is appended to OUT, its messages to SAID. Its exit code, or a
 * negative errno. It gets no terminal and no stdin.
 */
static int run(const char *const *words, struct buffer *out, struct buffer *said)
{
	int to = memfd_create("out", MFD_CLOEXEC), messages = memfd_create("said", MFD_CLOEXEC), status = 0, rc = 0;
	pid_t pid;

	hold_back(true);
	if (told)
		errno = ECANCELED;
	pid = told || to < 0 || messages < 0 ? -1 : fork();
	if (pid == 0)
		become(words, to, messages);
	if (pid < 0)
		rc = -errno;
	running = pid;
	hold_back(false);
	while (rc == 0 && waitpid(pid, &status, 0) < 0)
		rc = errno == EINTR ? 0 : -errno;
	running = 0;
	if (rc == 0) {
		buffer_append_file(out, to);
		buffer_append_file(said, messages);
		rc = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	if (to >= 0)
		close(to);
	if (messages >= 0)
		close(messages);
	return rc;
}

void mcp_fit(struct buffer *text, size_t most, const char *hint)
{
	size_t keep = most - MIN(most, 200), n, lines = 0;

	if (text->failed || text->length <= most)
		return;
	while (keep && text->data[keep - 1] != '\n')
		keep--;
	for (n = keep; n < text->length; n++)
		lines += text->data[n] == '\n';
	text->length = keep;
	buffer_printf(text, "LEFT OUT: %zu more line%s. %.120s\n", lines, lines == 1 ? "" : "s", hint);
}

/* Whether WORD could be an option, or nothing at all: it is refused with a sentence then. */
static bool is_no_word(const char *name, const char *word, struct buffer *out)
{
	if (*word && *word != '-')
		return false;
	buffer_printf(out, "\"%s\" is %s; give %s\n", name, *word ? "an option" : "empty",
		      strcmp(name, "event") == 0 ? "a name of an event, as cpu or wall" :
		      "the pid or the main class that list_jvms shows");
	return true;
}

/* What `record` may sample: the program is not changed by it, and no file is written but the result. */
static const char *const recordable[] = {"cpu", "wall", "alloc", "lock", "io", "live", "exceptions", "nativemem"};

static bool is_recordable(const char *word, size_t n)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(recordable); i++)
		if (strlen(recordable[i]) == n && memcmp(recordable[i], word, n) == 0)
			return true;
	return false;
}

/*
 * Whether EVENT is something else than names of events, for which it is refused with a sentence: an agent takes options
 * behind a comma, and others instrument methods or write files. A model has not been given any of that.
 */
static bool is_no_event(const char *event, struct buffer *out)
{
	const char *word = event;
	size_t i, n;

	for (;; word += n + 1) {
		n = strcspn(word, ",");
		if (!is_recordable(word, n))
			break;
		if (!word[n])
			return false;
	}
	buffer_puts(out, "\"event\": ");
	json_quote(out, event);
	buffer_puts(out, " is not made of names of events with commas between; these can be recorded: ");
	for (i = 0; i < ARRAY_LEN(recordable); i++)
		buffer_printf(out, "%s%s", i ? ", " : "", recordable[i]);
	buffer_putc(out, '\n');
	return true;
}

/* The answer of a command: what it printed; if it failed, what it said. */
static int answer(const char *const *words, struct buffer *out, const char *hint)
{
	struct buffer said = BUFFER_INIT;
	int rc = run(words, out, &said);

	if (rc < 0)
		buffer_printf(out, "jstrobe %s cannot be run: %s\n", words[1], error_text(-rc));
	if (rc)
		out->length = rc < 0 ? out->length : 0;
	if (rc || !out->length)
		buffer_append(out, said.data, said.length);
	if (rc > 0 && !out->length)
		buffer_printf(out, "jstrobe %s ended with status %d\n", words[1], rc);
	buffer_free(&said);
	mcp_fit(out, MCP_ANSWER_MOST, hint);
	return rc ? -1 : 0;
}

int mcp_tool_list_jvms(struct mcp_call *c, struct buffer *out)
{
	const char *const words[] = {"jstrobe", "ps", NULL};
	int rc;

	(void)c;
	rc = answer(words, out, "There are too many to list; name a main class in record.");
	if (rc == 0 && out->length + 120 < MCP_ANSWER_MOST)
		buffer_puts(out, "Ask next: record {\"target\": PID}, memory {\"target\": PID}\n");
	return rc;
}

int mcp_tool_memory(struct mcp_call *c, struct buffer *out)
{
	const char *const words[] = {"jstrobe", "memory", mcp_arg(c, "target"), NULL};

	return is_no_word("target", words[2], out) ? -1 :
	       answer(words, out, "`jstrobe memory` in a terminal shows all.");
}

int mcp_tool_diff(struct mcp_call *c, struct buffer *out)
{
	const char *event = mcp_arg(c, "event");
	const char *const words[] = {"jstrobe", "diff", "-o", "flat=25", c->files[0], c->files[1], event ? "-e" : NULL,
				     event, NULL};
	int rc;

	if (event && is_no_word("event", event, out))
		return -1;
	buffer_printf(out, "From %s to %s:\n", c->names[0], c->names[1]);
	rc = answer(words, out, "callers and hot_paths of the two handles go deeper.");
	return rc;
}

/* What a command said beside its result, cut. */
static void put_said(struct buffer *out, struct buffer *said)
{
	size_t n = said->failed ? 0 : said->length;

	while (n > SAID_MOST)
		for (n--; n && said->data[n - 1] != '\n'; n--)
			;
	if (n)
		buffer_printf(out, "Notes:\n");
	buffer_append(out, said->data, n);
}

int mcp_tool_record(struct mcp_call *c, struct buffer *out)
{
	const char *event = mcp_arg(c, "event"), *target = mcp_arg(c, "target");
	struct buffer printed = BUFFER_INIT, said = BUFFER_INIT;
	char seconds[16];
	const char *words[] = {"jstrobe", "record", "-e", event ? event : "cpu", "-d", seconds, "-f", c->file, target,
			       NULL};
	int rc;

	snprintf(seconds, sizeof(seconds), "%u", mcp_number(c, "seconds", 10));
	if (is_no_word("target", target, out) || (event && is_no_event(event, out)))
		return -1;
	rc = run(words, &printed, &said);
	if (rc < 0)
		buffer_printf(out, "jstrobe record cannot be run: %s\n", error_text(-rc));
	else if (rc || access(c->file, R_OK))
		buffer_append(out, said.data, said.length);
	if (rc > 0 && !out->length)
		buffer_printf(out, "jstrobe record ended with status %d\n", rc);
	if (rc == 0)
		put_said(out, &said);
	buffer_free(&printed);
	buffer_free(&said);
	return rc || told ? -1 : mcp_say_findings(c, c->handle, c->file, out);
}
