/*
 * Words for people, on stderr, and answers on stdout. All that the command prints passes here (or screen.c and shown.c,
 * by the same function): names, options and answers in it come from processes and files that may be hostile, so
 * what a terminal would obey is written out (common/base/clean.h). tests/check/test_prints.py finds what prints past
 * this.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/base/clean.h"

static struct {
	bool quiet, verbose, terminal, colour;
	bool pending; /* a progress line stands there */
} console;

bool console_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

void console_init(bool quiet, bool verbose)
{
	console.quiet = quiet;
	console.verbose = verbose;
	console.terminal = isatty(STDERR_FILENO);
	console.colour = console_colour(STDERR_FILENO);
}

/* Wipe the progress line away. */
static void clear(void)
{
	if (console.pending)
		fputs("\r\033[K", stderr);
	console.pending = false;
}

/* What FMT says, as one line without its end, or a part of one. */
static void put_line(FILE *to, const char *fmt, va_list args)
{
	struct buffer raw = BUFFER_INIT, line = BUFFER_INIT;

	buffer_vprintf(&raw, fmt, args);
	if (raw.length)
		clean_put(&line, raw.data, raw.length, CLEAN_LINE);
	if (line.length)
		fwrite(line.data, line.length, 1, to);
	buffer_free(&raw);
	buffer_free(&line);
}

static void say(const char *colour, const char *prefix, const char *fmt, va_list args)
{
	clear();
	if (console.colour && *colour)
		fprintf(stderr, "%s%s\033[0m", colour, prefix);
	else
		fputs(prefix, stderr);
	put_line(stderr, fmt, args);
	fputc('\n', stderr);
}

void console_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("\033[31m", "jstrobe: ", fmt, args);
	va_end(args);
}

void console_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("", "", fmt, args);
	va_end(args);
}

void console_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!console.quiet)
		say("", "jstrobe: ", fmt, args);
	va_end(args);
}

void console_hint(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!console.quiet && console.terminal)
		say("\033[2m", "jstrobe: ", fmt, args);
	va_end(args);
}

void console_detail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (console.verbose)
		say("", "jstrobe: ", fmt, args);
	va_end(args);
}

bool console_shows_progress(void)
{
	return console.terminal && !console.quiet;
}

void console_progress(const char *fmt, ...)
{
	va_list args;

	if (!console_shows_progress())
		return;
	va_start(args, fmt);
	fputs("\r\033[K", stderr);
	put_line(stderr, fmt, args);
	fflush(stderr);
	console.pending = true;
	va_end(args);
}

static int out_failed; /* errno of the first words on stdout that did not come out; 0 = all did */

static void note_out(bool done)
{
	if ((!done || ferror(stdout)) && !out_failed)
		out_failed = errno ? errno : EIO;
}

void console_out(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put_line(stdout, fmt, args);
	va_end(args);
	note_out(putchar('\n') != EOF);
}

bool console_write(const struct buffer *text)
{
	struct buffer clean = BUFFER_INIT;
	bool done;

	if (text->length)
		clean_put(&clean, text->data, text->length, CLEAN_TEXT);
	done = !clean.failed && (!clean.length || fwrite(clean.data, clean.length, 1, stdout) == 1);
	note_out(done);
	buffer_free(&clean);
	return console_out_failed() == 0 && done;
}

int console_out_failed(void)
{
	note_out(fflush(stdout) == 0);
	return out_failed;
}
