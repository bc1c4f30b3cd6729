/*
 * Words for people, on stderr, and answers on stdout. All that the command prints passes here (or screen.c and shown.c,
 * by the same function): names, options and answers in it come from processes and files that may be hostile, so
 * what a terminal would obey is written out (common/base/clean.h). tests/check/test_prints.py finds what prints past
 * this.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/base/ascii.h"
#include "common/base/clean.h"

static struct {
	bool quiet, verbose, terminal, colour;
	_Atomic bool pending; /* a progress line stands there; watch.c's thread sets it as well */
} console;

bool console_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

unsigned console_width(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 0;
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

bool console_asks(void)
{
	return isatty(STDIN_FILENO) && console.terminal;
}

/* The line that is typed, without its end; false: there is none. Ctrl-C ends the command, as nothing was done yet. */
static bool read_line(char *line, size_t size)
{
	struct sigaction dies = {.sa_handler = SIG_DFL}, former;
	sigset_t ours, before;
	size_t n = 0;
	char c = '\0';
	ssize_t got;

	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigaction(SIGINT, &dies, &former);
	sigprocmask(SIG_UNBLOCK, &ours, &before);
	while ((got = read(STDIN_FILENO, &c, 1)) == 1 && c != '\n')
		if (n + 1 < size)
			line[n++] = c;
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigaction(SIGINT, &former, NULL);
	line[n] = '\0';
	return got == 1;
}

bool console_is_dialogue(void)
{
	return console_asks() && isatty(STDOUT_FILENO);
}

static bool ask(char *line, size_t size, const char *fmt, va_list args)
{
	size_t n;
	bool answered;

	clear();
	put_line(stderr, fmt, args);
	fflush(stderr);
	answered = read_line(line, size);
	n = strspn(line, " \t");
	memmove(line, line + n, strlen(line + n) + 1);
	for (n = strlen(line); n && strchr(" \t\r", line[n - 1]); n--)
		line[n - 1] = '\0';
	return answered;
}

bool console_ask_for(char *line, size_t size, const char *fmt, ...)
{
	va_list args;
	bool answered;

	va_start(args, fmt);
	answered = ask(line, size, fmt, args);
	va_end(args);
	return answered;
}

bool console_ask(const char *fmt, ...)
{
	char line[16];
	va_list args;
	bool answered;

	va_start(args, fmt);
	answered = ask(line, sizeof(line), fmt, args);
	va_end(args);
	return answered && (ascii_equals(line, "y") || ascii_equals(line, "yes"));
}

bool console_shows_progress(void)
{
	return console.terminal && !console.quiet;
}

static void put_progress(const char *prefix, const char *fmt, va_list args)
{
	fputs("\r\033[K", stderr);
	fputs(prefix, stderr);
	put_line(stderr, fmt, args);
	fflush(stderr);
	console.pending = true;
}

void console_progress(const char *fmt, ...)
{
	va_list args;

	if (!console_shows_progress())
		return;
	va_start(args, fmt);
	put_progress("", fmt, args);
	va_end(args);
}

#define BAR 20 /* letters */

void console_progress_part(uint64_t done, uint64_t of, const char *fmt, ...)
{
	unsigned filled = of ? (unsigned)(MIN(done, of) * BAR / of) : 0, i;
	unsigned percent = of ? (unsigned)(MIN(done, of) * 100 / of) : 0;
	char bar[BAR + 1], prefix[BAR + 16];
	va_list args;

	if (!console_shows_progress())
		return;
	for (i = 0; i < BAR; i++)
		bar[i] = i < filled ? '#' : '.';
	bar[BAR] = '\0';
	snprintf(prefix, sizeof(prefix), "[%s] %3u %% ", bar, percent);
	if (!of)
		prefix[0] = '\0';
	va_start(args, fmt);
	put_progress(prefix, fmt, args);
	va_end(args);
}

void console_progress_end(void)
{
	clear();
	fflush(stderr);
}

void console_progress_noted(void)
{
	console.pending = true;
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
