#include "cli/live/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/watch.h"
#include "common/base/clean.h"
#include "common/base/utf8.h"

#define REST_MS 30 /* the rest of a key with several bytes comes at once, if it comes */
/* the screen beside the shell's, no cursor, and no line goes on in the next one: names may be wider than they count */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

/* As it was, for who cannot wait: see watch.h. */
static struct termios at_first;

static void put_back(void)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

	tcsetattr(STDIN_FILENO, TCSANOW, &at_first);
	if (poll(&p, 1, 0) > 0 && write(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1) < 0)
		return;
}

/* ---- the terminal is ours, and is not ---- */

static void enter(struct screen *s)
{
	struct termios raw = s->former;

	raw.c_lflag &= (tcflag_t)~(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	raw.c_cc[VQUIT] = _POSIX_VDISABLE; /* it would leave the terminal so */
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	watch_restores(put_back);
	fputs(ENTER, stdout);
	s->away = false;
	s->changed = s->blank = true;
}

static void leave(struct screen *s)
{
	if (s->away)
		return;
	watch_restores(NULL);
	fputs(LEAVE, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &s->former);
	s->away = true;
}

/* After it was away: where a shell has put us into the background meanwhile, it stays so. */
static void come_back(struct screen *s)
{
	pid_t front = tcgetpgrp(STDIN_FILENO); /* -1: no shell has it */

	if ((front >= 0 && front != getpgrp()) || tcgetattr(STDIN_FILENO, &s->former))
		return;
	at_first = s->former;
	enter(s);
}

/* Ctrl-Z: stop as any program does, the terminal as it was. */
static void suspend(struct screen *s)
{
	sigset_t stop;

	leave(s);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here it stands, until SIGCONT */
	sigprocmask(SIG_BLOCK, &stop, NULL);
	come_back(s);
}

/* Signals that are not ignored on purpose. */
static int open_signals(void)
{
	static const int ours[] = {SIGTSTP, SIGCONT, SIGWINCH};
	struct sigaction action;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_LEN(ours); i++)
		if (sigaction(ours[i], NULL, &action) || action.sa_handler != SIG_IGN)
			sigaddset(&set, ours[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void take_signals(struct screen *s)
{
	struct signalfd_siginfo info;

	while (s->signals >= 0 && read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTSTP)
			suspend(s);
		else if (info.ssi_signo == SIGCONT && !s->away)
			enter(s); /* it was stopped without being asked, and a shell has changed the terminal */
		s->changed = s->blank = true;
	}
	if (s->away)
		come_back(s);
}

static void watch(const struct screen *s, int fd)
{
	struct epoll_event e = {.events = EPOLLIN};

	if (s->events >= 0 && fd >= 0)
		epoll_ctl(s->events, EPOLL_CTL_ADD, fd, &e);
}

void screen_open(struct screen *s)
{
	s->open = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && tcgetattr(STDIN_FILENO, &s->former) == 0;
	s->signals = s->events = -1;
	if (!s->open)
		return;
	at_first = s->former;
	s->signals = open_signals();
	s->events = epoll_create1(EPOLL_CLOEXEC);
	watch(s, STDIN_FILENO);
	watch(s, s->signals);
	s->away = true;
	come_back(s);
}

static void close_known(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void screen_close(struct screen *s)
{
	sigset_t all;

	if (!s->open)
		return;
	leave(s);
	close_known(&s->signals);
	close_known(&s->events);
	sigemptyset(&all);
	sigaddset(&all, SIGTSTP);
	sigaddset(&all, SIGCONT);
	sigaddset(&all, SIGWINCH);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	s->open = false;
}

int screen_events(const struct screen *s)
{
	return s->open && !s->away && !s->gone ? s->events : -1;
}

void screen_measure(struct screen *s)
{
	struct winsize size;
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col;

	s->rows = known ? size.ws_row : 24;
	s->columns = known ? size.ws_col : 80;
}

/* ---- keys ---- */

/* Bytes that have come, within TIMEOUT_MS. False: none. */
static bool read_keys(struct screen *s, int timeout_ms)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	struct keyboard *k = &s->keyboard;
	ssize_t n;

	if (s->gone || k->count == sizeof(k->bytes) || poll(&p, 1, timeout_ms) <= 0)
		return false;
	n = read(STDIN_FILENO, k->bytes + k->count, sizeof(k->bytes) - k->count);
	s->gone = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
	k->count += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static int next_key(struct screen *s)
{
	int key = keyboard_next(&s->keyboard, false);

	while (key == KEY_NONE && read_keys(s, s->keyboard.count ? REST_MS : 0))
		key = keyboard_next(&s->keyboard, false);
	return key == KEY_NONE ? keyboard_next(&s->keyboard, true) : key;
}

int screen_key(struct screen *s)
{
	int key;

	if (!s->open)
		return KEY_NONE;
	take_signals(s);
	while (!s->away && (key = next_key(s)) != KEY_NONE) {
		if (s->typing) {
			s->typing = !keyboard_type(s->filter, sizeof(s->filter), key);
		} else if (key == '/') {
			s->typing = true;
			memset(s->filter, 0, sizeof(s->filter));
		} else {
			return key;
		}
		s->changed = true;
	}
	return KEY_NONE;
}

/* ---- lines ---- */

void screen_show(struct screen *s, const struct buffer *text)
{
	const char *at = text->data, *end = at + text->length, *line;

	if (s->open && s->away)
		return;
	if (s->open)
		fputs(s->blank ? "\033[H\033[2J" : "\033[H", stdout);
	s->changed = s->blank = false;
	/* no line end behind the last line, which would scroll */
	for (; s->open && at && at < end; at = line + 1) {
		line = memchr(at, '\n', (size_t)(end - at));
		line = line ? line : end;
		fputs("\033[2K", stdout);
		fwrite(at, 1, (size_t)(line - at) + (line + 1 < end), stdout);
	}
	if (!s->open)
		fwrite(text->data, 1, text->length, stdout);
	fflush(stdout);
}

void screen_styled(struct buffer *out, const char *text, unsigned columns, const char *style)
{
	buffer_puts(out, style);
	screen_line(out, text, columns);
	if (!*style || out->failed)
		return;
	out->length--; /* the style ends with the line */
	buffer_puts(out, "\033[0m\n");
}

void screen_line(struct buffer *out, const char *text, unsigned columns)
{
	unsigned at = 0;
	size_t n;

	for (; *text && at < columns; text += n, at++) {
		n = utf8_length((const unsigned char *)text);
		if (n == 0 || clean_is_unsafe(utf8_character((const unsigned char *)text, n))) {
			buffer_putc(out, '?');
			n = n ? n : 1;
		} else {
			buffer_append(out, text, n);
		}
	}
	buffer_putc(out, '\n');
}
