/*
 * jstrobe top: hot methods, threads with what they do, waits for locks, the profiler's own cost - live in a terminal,
 * from a stream as `jstrobe stream` reads it. `--once` prints one screen as plain text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live/live.h"
#include "cli/live/screen.h"
#include "cli/live/top.h"
#include "common/os/os.h"
#include "common/words/events.h"

#define USUAL "cpu,wall@100ms"  /* what is sampled without --event, where no session runs */
#define REFRESH (2 * NS_PER_S)
#define ONCE (3 * NS_PER_S)     /* --once looks so long */
#define KEYS_MS 100
#define MOST_OF_A_LINE (4u << 20) /* 4,096 frames with names of 1,000 letters */
#define MOST_BYTES (20u << 20)    /* of names, stacks and sums: days of which are some 10 MB */

struct top {
	struct live live;
	struct top_model model;
	struct top_view view;
	struct buffer bytes;   /* of the stream, up to the last line end that has come */
	struct screen screen;
	uint64_t due;          /* the next screen */
	bool over;
};

static void obey(struct top *t, char key)
{
	switch (key) {
	case 'q':
		t->over = true;
		break;
	case 'p':
	case ' ':
		t->view.paused = !t->view.paused;
		if (!t->view.paused)
			top_next(&t->model); /* what was sampled in the pause was not taken: nor is what was lost */
		break;
	case 's':
		t->view.by_total = !t->view.by_total;
		break;
	}
}

static void read_keys(struct top *t)
{
	char key;

	while ((key = screen_key(&t->screen)))
		obey(t, key);
}

/* ---- screens ---- */

static void show(struct top *t)
{
	struct buffer out = BUFFER_INIT;

	t->view.keys = !t->screen.open ? NULL : t->screen.typing ? "filter: type, Enter" :
		       "q quit  p pause  s sort by self or total  / filter   R running r runnable B blocked "
		       "P parked W waiting S sleeping N native";
	screen_measure(&t->screen);
	t->view.rows = t->screen.rows;
	t->view.columns = t->screen.columns;
	t->view.filter = t->screen.filter;
	top_show(&t->model, &t->view, &out);
	screen_show(&t->screen, &out);
	buffer_free(&out);
	top_next(&t->model);
}

/* ---- the stream ---- */

/* Whether the N bytes at AT of B begin with TEXT. */
static bool begins(const struct buffer *b, size_t at, size_t n, const char *text)
{
	return n >= strlen(text) && memcmp(b->data + at, text, strlen(text)) == 0;
}

static void take_lines(struct top *t)
{
	size_t at = 0;
	char *end;

	while ((end = memchr(t->bytes.data + at, '\n', t->bytes.length - at))) {
		size_t n = (size_t)(end - (t->bytes.data + at));

		if (!t->view.paused || begins(&t->bytes, at, n, "{\"kind\":\"sta")) /* stacks and stats */
			top_take(&t->model, t->bytes.data + at, n);
		at += n + 1;
	}
	t->bytes.length -= at;
	memmove(t->bytes.data, t->bytes.data + at, t->bytes.length);
}

static int read_stream(struct top *t, struct error *err)
{
	char piece[65536];
	ssize_t n = recv(t->live.sock, piece, sizeof(piece), MSG_DONTWAIT);

	t->over |= n == 0 || (n < 0 && errno == ECONNRESET);
	if (n > 0) {
		buffer_append(&t->bytes, piece, (size_t)n);
		take_lines(t);
	}
	if (t->bytes.length > MOST_OF_A_LINE || top_bytes(&t->model) > MOST_BYTES)
		return error_set(err, EPROTO, "the stream has %s; the agent is none of ours, or broken",
				 t->bytes.length > MOST_OF_A_LINE ? "a line without an end" : "over 20 MB of names");
	return 0;
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
		if (ready & LIVE_BYTES && read_stream(t, err))
			return -err->code;
		read_keys(t);
		if (os_monotonic() < t->due || t->view.paused)
			continue;
		show(t);
		if (once)
			return 0;
		t->due = os_monotonic() + REFRESH;
	}
	return 0;
}

/* Whether something of what O samples is on the screen: an event of CPU time, wall time or waits. */
static bool is_shown(const struct options *o)
{
	const char *list = o->event;
	const struct event_row *row;
	bool shown = o->wall != 0;
	size_t n;

	for (; *list && !shown; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		row = event_row_of(list, strcspn(list, ",@"));
		/* io is time, too, but nothing on the screen tells of it */
		shown = row && weight_is_time(row->weight) && row->weight != WEIGHT_IO;
	}
	return shown;
}

int cli_top(struct cli *cli)
{
	static struct top t;
	struct error err = {0};
	bool once = cli->options.once || !isatty(STDOUT_FILENO);
	int rc;

	if (cli->program) {
		console_error("top: a program that is started here has the terminal; give the pid or name of a JVM");
		return CLI_USAGE;
	}
	if (!is_shown(&cli->options)) {
		console_error("top: shows CPU time, wall time and waits for locks, and %s is none of them; "
			      "'jstrobe record' and 'jstrobe stream' have it", cli->options.event);
		return CLI_USAGE;
	}
	rc = live_open(&t.live, cli, USUAL);
	if (rc)
		return rc;
	buffer_init(&t.bytes, -1);
	if (!once)
		screen_open(&t.screen);
	t.due = os_monotonic() + (once ? cli->options.duration ? cli->options.duration : ONCE : REFRESH);
	rc = watch(&t, once, &err);
	screen_close(&t.screen);
	live_close(&t.live);
	buffer_free(&t.bytes);
	top_free(&t.model);
	if (rc)
		console_error("%s", err.text);
	return rc ? CLI_FAILED : CLI_DONE;
}
