/*
 * This command once more, as a user calls it: what it prints and says lands in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/selftest/selftest.h"
#include "common/os/os.h"

#define COMMAND_MS 60000

static void become(const char *const words[], int out, int said)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	signals_restore();
	signal(SIGPIPE, SIG_DFL);
	if (nothing < 0 || dup3(nothing, 0, 0) < 0 || dup3(out, 1, 0) < 0 || dup3(said, 2, 0) < 0)
		_exit(126);
	execv("/proc/self/exe", (char *const *)(uintptr_t)words);
	_exit(127);
}

static void read_all(int fd, struct buffer *out)
{
	char block[65536];
	ssize_t n;
	off_t at = 0;

	while ((n = pread(fd, block, sizeof(block), at)) > 0) {
		buffer_append(out, block, (size_t)n);
		at += n;
	}
}

/* The last line of TEXT, without "jstrobe: " before it. */
static void last_line(struct buffer *text, char said[400])
{
	static const char name[] = "jstrobe: ";
	const char *line;

	while (text->length && text->data[text->length - 1] == '\n')
		text->length--;
	buffer_putc(text, '\0');
	if (text->failed)
		return;
	line = strrchr(text->data, '\n');
	line = line ? line + 1 : text->data;
	if (strncmp(line, name, sizeof(name) - 1) == 0)
		line += sizeof(name) - 1;
	snprintf(said, 400, "%s", line);
}

static int judge_end(int status, const char *said, const char *what, struct error *err)
{
	if (WIFSIGNALED(status))
		return error_set(err, EIO, "jstrobe %s ended by signal %d", what, WTERMSIG(status));
	if (WEXITSTATUS(status) == 0)
		return 0;
	if (said[0])
		return error_set(err, EIO, "%s", said);
	return error_set(err, EIO, "jstrobe %s ended with status %d", what, WEXITSTATUS(status));
}

int itself_run(struct patience *p, const char *const words[], struct buffer *out, char said[400], struct error *err)
{
	struct buffer text = BUFFER_INIT;
	int to = memfd_create("result", MFD_CLOEXEC), notes = memfd_create("notes", MFD_CLOEXEC), status = 0, rc;
	pid_t pid;

	said[0] = '\0';
	if (to < 0 || notes < 0) {
		rc = error_set(err, errno, "memfd_create: %s", error_text(errno));
		goto out;
	}
	pid = fork();
	if (pid == 0)
		become(words, to, notes);
	if (pid < 0) {
		rc = error_set(err, errno, "fork: %s", error_text(errno));
		goto out;
	}
	rc = patience_child(p, pid, os_monotonic() + COMMAND_MS * NS_PER_MS, &status);
	read_all(notes, &text);
	last_line(&text, said);
	read_all(to, out);
	if (rc == -EINTR)
		error_set(err, EINTR, "interrupted");
	else if (rc)
		error_set(err, ETIMEDOUT, "jstrobe %s did not end in %u s", words[1], COMMAND_MS / 1000);
	else
		rc = judge_end(status, said, words[1], err);
out:
	buffer_free(&text);
	if (to >= 0)
		close(to);
	if (notes >= 0)
		close(notes);
	return rc;
}
