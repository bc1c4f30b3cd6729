/*
 * jstrobe top: hot methods, threads with what they do, waits for locks, the profiler's own cost - live in a terminal,
 * from a stream as `jstrobe stream` reads it. `--once` prints one screen as plain text.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live.h"
#include "cli/top_view.h"

#define USUAL "cpu,wall@100ms"  /* what is sampled if nobody said, and no session runs */
#define REFRESH (2 * NS_PER_S)
#define ONCE (3 * NS_PER_S)     /* --once looks so long */
#define KEYS_MS 100

struct top {
	struct live live;
	struct top_model model;
	struct top_view view;
	struct buffer bytes;   /* of the stream, up to the last line end that has come */
	bool terminal, typing; /* a filter is being typed */
	struct termios former;
	uint64_t due;          /* the next screen */
	bool over;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* ---- the terminal ---- */

static void take_terminal(struct top *t)
{
	struct termios raw;

	t->terminal = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &t->former) == 0;
	if (!t->terminal)
		return;
	raw = t->former;
	raw.c_lflag &= (tcflag_t)~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs("\033[?1049h\033[?25l", stdout);
}

static void give_terminal_back(struct top *t)
{
	if (!t->terminal)
		return;
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &t->former);
}

static void measure(struct top *t)
{
	struct winsize size;
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 3 && size.ws_col > 20;

	t->view.rows = known ? size.ws_row : 24;
	t->view.columns = known ? size.ws_col : 80;
}

/* A key that belongs to a filter that is being typed. */
static void type(struct top *t, char key)
{
	size_t n = strlen(t->view.filter);

	if (key == '\n' || key == '\r' || key == 27)
		t->typing = false;
	else if ((key == 8 || key == 127) && n)
		t->view.filter[n - 1] = '\0';
	else if ((unsigned char)key >= 32 && n + 1 < sizeof(t->view.filter))
		t->view.filter[n] = key;
}

static void obey(struct top *t, char key)
{
	if (t->typing) {
		type(t, key);
		return;
	}
	switch (key) {
	case 'q':
		t->over = true;
		break;
	case 'p':
	case ' ':
		t->view.paused = !t->view.paused;
		break;
	case 's':
		t->view.by_total = !t->view.by_total;
		break;
	case '/':
		t->typing = true;
		memset(t->view.filter, 0, sizeof(t->view.filter));
		break;
	}
}

static void read_keys(struct top *t)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	char key;

	while (t->terminal && poll(&p, 1, 0) > 0 && (p.revents & POLLIN)) {
		if (read(STDIN_FILENO, &key, 1) != 1)
			return;
		obey(t, key);
	}
}

/* ---- screens ---- */

static void show(struct top *t)
{
	struct buffer out = BUFFER_INIT;

	t->view.keys = !t->terminal ? NULL : t->typing ? "filter: type, Enter" :
		       "q quit  p pause  s sort by self or total  / filter   R running r runnable B blocked "
		       "P parked W waiting S sleeping N native";
	measure(t);
	top_show(&t->model, &t->view, &out);
	if (t->terminal)
		fputs("\033[H\033[2J", stdout);
	/* the last line end would scroll */
	fwrite(out.data, 1, out.length - (t->terminal && out.length ? 1 : 0), stdout);
	fflush(stdout);
	buffer_free(&out);
	top_next(&t->model);
}

/* ---- the stream ---- */

static void take_lines(struct top *t)
{
	size_t at = 0;
	char *end;

	while ((end = memchr(t->bytes.data + at, '\n', t->bytes.length - at))) {
		size_t n = (size_t)(end - (t->bytes.data + at));

		if (!t->view.paused)
			top_take(&t->model, t->bytes.data + at, n);
		else if (n > 15 && memcmp(t->bytes.data + at, "{\"kind\":\"stack\"", 15) == 0)
			top_take(&t->model, t->bytes.data + at, n);
		at += n + 1;
	}
	t->bytes.length -= at;
	memmove(t->bytes.data, t->bytes.data + at, t->bytes.length);
}

static void read_stream(struct top *t)
{
	char piece[65536];
	ssize_t n = recv(t->live.sock, piece, sizeof(piece), MSG_DONTWAIT);

	t->over |= n == 0 || (n < 0 && errno == ECONNRESET);
	if (n > 0) {
		buffer_append(&t->bytes, piece, (size_t)n);
		take_lines(t);
	}
}

/* Until the end. 0, or why it failed. */
static int watch(struct top *t, bool once, struct error *err)
{
	while (!t->over) {
		int ready = live_wait(&t->live, true, -1, KEYS_MS, err);

		if (ready == -EINTR || ready == -ESHUTDOWN || ready == -ECONNRESET)
			return 0;
		if (ready < 0)
			return ready;
		if (ready & LIVE_BYTES)
			read_stream(t);
		read_keys(t);
		if (now() < t->due || t->view.paused)
			continue;
		show(t);
		if (once)
			return 0;
		t->due = now() + REFRESH;
	}
	return 0;
}

int cli_top(struct cli *cli)
{
	static struct top t;
	struct error err = {0};
	bool once = cli->options.once || !isatty(STDOUT_FILENO);
	int rc = live_open(&t.live, cli, USUAL);

	if (rc)
		return rc;
	buffer_init(&t.bytes, -1);
	if (!once)
		take_terminal(&t);
	t.due = now() + (once ? cli->options.duration ? cli->options.duration : ONCE : REFRESH);
	rc = watch(&t, once, &err);
	give_terminal_back(&t);
	live_close(&t.live);
	buffer_free(&t.bytes);
	top_free(&t.model);
	if (rc)
		console_error("%s", err.text);
	return rc ? CLI_FAILED : CLI_DONE;
}
