/*
 * Words for people, on stderr; stdout is for results alone.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

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

static void say(const char *colour, const char *prefix, const char *fmt, va_list args)
{
	clear();
	if (console.colour && *colour)
		fprintf(stderr, "%s%s\033[0m", colour, prefix);
	else
		fputs(prefix, stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

void console_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("\033[31m", "jstrobe: ", fmt, args);
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
	vfprintf(stderr, fmt, args);
	fflush(stderr);
	console.pending = true;
	va_end(args);
}
