#include "cli/live/screen.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/watch.h"
#include "common/base/clean.h"
#include "common/base/utf8.h"

/* As it was, for who cannot wait: see watch.h. */
static struct termios at_first;

static void put_back(void)
{
	static const char leave[] = "\033[?25h\033[?1049l";
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

	tcsetattr(STDIN_FILENO, TCSANOW, &at_first);
	if (poll(&p, 1, 0) > 0 && write(STDOUT_FILENO, leave, sizeof(leave) - 1) < 0)
		return;
}

void screen_open(struct screen *s)
{
	struct termios raw;

	s->open = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && tcgetattr(STDIN_FILENO, &s->former) == 0;
	if (!s->open)
		return;
	raw = s->former;
	raw.c_lflag &= (tcflag_t)~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	at_first = s->former;
	watch_restores(put_back);
	fputs("\033[?1049h\033[?25l", stdout);
}

void screen_close(struct screen *s)
{
	if (!s->open)
		return;
	watch_restores(NULL);
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &s->former);
	s->open = false;
}

void screen_measure(struct screen *s)
{
	struct winsize size;
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 3 && size.ws_col > 20;

	s->rows = known ? size.ws_row : 24;
	s->columns = known ? size.ws_col : 80;
}

/* A key that belongs to a filter that is being typed. */
static void type(struct screen *s, char key)
{
	size_t n = strlen(s->filter);

	if (key == '\n' || key == '\r' || key == 27)
		s->typing = false;
	else if ((key == 8 || key == 127) && n)
		s->filter[n - 1] = '\0';
	else if ((unsigned char)key >= 32 && key != 127 && n + 1 < sizeof(s->filter))
		s->filter[n] = key;
}

char screen_key(struct screen *s)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	char key;

	while (s->open && poll(&p, 1, 0) > 0 && (p.revents & POLLIN) && read(STDIN_FILENO, &key, 1) == 1) {
		if (s->typing) {
			type(s, key);
		} else if (key == '/') {
			s->typing = true;
			memset(s->filter, 0, sizeof(s->filter));
		} else {
			return key;
		}
	}
	return 0;
}

void screen_show(const struct screen *s, const struct buffer *text)
{
	if (s->open)
		fputs("\033[H\033[2J", stdout);
	/* the last line end would scroll */
	fwrite(text->data, 1, text->length - (s->open && text->length ? 1 : 0), stdout);
	fflush(stdout);
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
