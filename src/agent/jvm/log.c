/*
 * The file is opened for each message and closed again: nothing of ours stays open in the program,
 * and a file that was rotated away is made anew.
 */
#include "agent/jvm/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/os/output.h"

static struct {
	char file[OPTIONS_FILE_MAX]; /* "" = stderr */
	bool quiet, verbose, force;
} as;

/* Of any thread, a start and the end of the JVM as well: none of them waits for who reads the program's stderr. */
#define PATIENCE_MS 50

static atomic_uint dropped; /* lines since the last one that went */
static atomic_bool ends;    /* the JVM: its end has no time left */

void log_at_end(void)
{
	atomic_store(&ends, true);
}

/* Once a line did not go the next ones wait no more, until one goes. */
static bool give(int fd, const char *line, size_t n, bool patient)
{
	return output_line(fd, line, n, patient && !atomic_load(&ends) ? PATIENCE_MS : 0);
}

void log_as(const struct options *o)
{
	snprintf(as.file, sizeof(as.file), "%s", o->log);
	as.quiet = o->quiet;
	as.verbose = o->verbose;
	as.force = o->force;
}

static void put(const char *text, size_t length)
{
	struct error ignored;
	char line[1100];
	unsigned missing = atomic_exchange(&dropped, 0);
	int fd = STDERR_FILENO, opened = -1, n;
	char before[64] = "";
	bool gone;

	if (missing)
		snprintf(before, sizeof(before), "(%u before this were dropped) ", missing);
	n = snprintf(line, sizeof(line), "jstrobe: %s%.*s\n", before, (int)length, text);
	n = MIN(n, (int)sizeof(line) - 1);
	if (strcmp(as.file, "stdout") == 0)
		fd = STDOUT_FILENO;
	else if (as.file[0] && strcmp(as.file, "stderr") != 0)
		fd = opened = output_append(as.file, as.force ? OUTPUT_FORCE : 0, &ignored);
	/* a log that cannot be written is no reason to be silent */
	if (fd < 0)
		fd = STDERR_FILENO;
	gone = give(fd, line, (size_t)n, !missing) ||
	       (fd != STDERR_FILENO && give(STDERR_FILENO, line, (size_t)n, !missing));
	if (!gone)
		atomic_fetch_add(&dropped, missing + 1);
	if (opened >= 0)
		close(opened);
}

void log_error(const char *fmt, ...)
{
	char text[1000];
	va_list args;

	if (as.quiet)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	put(text, strlen(text));
}

void log_notes(const char *text, size_t length)
{
	const char *end;

	for (; as.verbose && !as.quiet && length; length -= (size_t)(end - text), text = end) {
		end = memchr(text, '\n', length);
		put(text, end ? (size_t)(end - text) : length);
		end = end ? end + 1 : text + length;
	}
}
