/*
 * jstrobe top: hot methods, threads with what they do, waits for locks, allocations, the profiler's own cost - live in
 * a terminal, from a stream as `jstrobe stream` reads it. `--once` prints one screen as plain text.
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
#include "cli/live/top_filter.h"
#include "cli/live/top_table.h"
#include "cli/live/top_view.h"
#include "common/os/os.h"
#include "profile/readers/group_expression.h"

#define USUAL "cpu,wall@100ms"  /* what is sampled without --event, where no session runs */
#define REFRESH (2 * NS_PER_S)
#define FIRST NS_PER_S
#define ONCE (3 * NS_PER_S)     /* --once looks so long */
#define TICK_MS 100
#define LAST_WORDS_MS 500
#define STANDS NS_PER_S         /* between two screens of a pause, which say how much has been sampled in it */
#define MOST_OF_A_LINE (4u << 20) /* 4,096 frames with names of 1,000 letters */
#define FULL_AFTER (60 * NS_PER_S)
#define MOST_BYTES (64u << 20)    /* of names, stacks and sums: days of which are some 10 MB, 50,000 threads as much */

struct top {
	struct live live;
	struct cli *cli;
	struct top_model model;
	struct top_view view;
	struct buffer bytes;   /* of the stream, up to the last line end that has come */
	struct screen screen;
	struct group_expression group;
	char events[sizeof(((struct options *)0)->event)]; /* that are sampled, as -e has them */
	struct top_filter filter; /* the screen's, as it was looked at last */
	char last_line[256];   /* what is said in the place of the keys; "": nothing */
	uint64_t since;        /* when the screen began that is shown */
	uint64_t due;          /* the next screen */
	uint64_t until;        /* ns, 0 = no end */
	bool over, more;       /* more: another event is to be sampled */
	bool full;             /* so much is known that it is forgotten */
	bool ended, stopped;   /* the JVM has ended; the stream has */
	unsigned pid;          /* of the JVM */
};

/* ---- the filter ---- */

static void take_filter(struct top *t)
{
	if (strcmp(t->filter.text, t->screen.filter) == 0)
		return;
	t->last_line[0] = '\0';
	if (top_filter_take(&t->filter, t->screen.filter, t->last_line, sizeof(t->last_line)))
		t->view.first = 0;
}

static void forget_filter(struct top *t)
{
	memset(t->screen.filter, 0, sizeof(t->screen.filter));
	take_filter(t);
}

/* ---- keys ---- */

/* The next column to sort by, STEP on; by name behind the last one. */
static void sort(struct top *t, int step)
{
	uint32_t *column = &t->view.sort[t->view.view], count = t->view.column_count, at;

	if (!count)
		return;
	at = *column < count ? *column : count;
	at = (at + count + 1 + (uint32_t)step) % (count + 1);
	*column = at < count ? at : TOP_BY_NAME;
	t->view.first = 0;
}

static void scroll(struct top *t, long rows)
{
	long most = t->view.row_count > t->view.rows_fit ? (long)(t->view.row_count - t->view.rows_fit) : 0;
	long first = (long)t->view.first + rows;

	t->view.first = (size_t)(first < 0 ? 0 : MIN(first, most));
}

static void pause_or_go_on(struct top *t)
{
	t->view.paused = !t->view.paused;
	t->due = t->view.paused ? os_monotonic() + STANDS : 0;
}

static void obey(struct top *t, int key)
{
	enum top_action action = top_key_action(key);
	long page = (long)MAX(t->view.rows_fit, (size_t)1);

	t->last_line[0] = '\0';
	if ((unsigned)action < TOP_VIEWS) {
		t->view.view = (enum top_view_id)action;
		t->view.help = false;
		t->view.first = 0;
		return;
	}
	switch (action) {
	case TOP_DO_QUIT:
		t->over = true;
		break;
	case TOP_DO_HELP:
		t->view.help = !t->view.help;
		t->view.first = 0;
		break;
	case TOP_DO_PAUSE:
		pause_or_go_on(t);
		break;
	case TOP_DO_SORT:
	case TOP_DO_RIGHT:
		sort(t, 1);
		break;
	case TOP_DO_LEFT:
		sort(t, -1);
		break;
	case TOP_DO_EVENT:
		t->view.event = t->view.event < t->model.event_count ? t->view.event : t->model.main_event;
		t->view.event = (t->view.event + 1) % MAX(t->model.event_count, 1u);
		break;
	case TOP_DO_IDLE:
		t->view.idle = !t->view.idle;
		break;
	case TOP_DO_SAMPLE:
		t->more = true;
		break;
	case TOP_DO_CLEAR:
		if (t->view.help)
			t->view.help = false;
		else
			forget_filter(t);
		break;
	case TOP_DO_UP:
	case TOP_DO_DOWN:
		scroll(t, action == TOP_DO_UP ? -1 : 1);
		break;
	case TOP_DO_PAGE_UP:
	case TOP_DO_PAGE_DOWN:
		scroll(t, action == TOP_DO_PAGE_UP ? -page : page);
		break;
	default:
		return;
	}
}

static void read_keys(struct top *t)
{
	int key;

	while ((key = screen_key(&t->screen)) != KEY_NONE) {
		take_filter(t);
		obey(t, key);
		t->screen.changed = true;
	}
	take_filter(t);
	t->over |= t->screen.gone;
}

/* ---- screens ---- */

/* What is sampled in a session that ran before, as its stream says. */
static void take_events(struct top *t)
{
	size_t at = 0;
	unsigned i;

	if (!t->live.joined || !t->model.event_count)
		return;
	for (i = 0; i < t->model.event_count && at < sizeof(t->events); i++)
		at += (size_t)snprintf(t->events + at, sizeof(t->events) - at, "%s%s", i ? "," : "",
				       strings_get(&t->model.strings, t->model.events[i].name));
}

static const char *last_line(struct top *t)
{
	if (t->last_line[0])
		return t->last_line;
	if (!t->screen.typing)
		return NULL;
	snprintf(t->last_line, sizeof(t->last_line), "/%s_  (Enter keeps it, Esc clears it)", t->screen.filter);
	return t->last_line;
}

static void draw(struct top *t)
{
	struct buffer out = BUFFER_INIT;
	bool said = t->last_line[0];

	take_events(t);
	screen_measure(&t->screen);
	t->view.rows = t->screen.rows;
	t->view.columns = t->screen.columns;
	t->view.terminal = t->screen.open;
	t->view.colour = t->screen.open && console_colour(STDOUT_FILENO);
	t->view.filter = t->filter.text;
	t->view.wanted = top_filter_wanted(&t->filter);
	t->view.last_line = last_line(t);
	t->view.events = t->events;
	t->view.joined = t->live.joined;
	t->view.now = os_monotonic();
	top_show(&t->model, &t->view, &out);
	screen_show(&t->screen, &out);
	buffer_free(&out);
	if (!said)
		t->last_line[0] = '\0';
}

/* It is time for another screen, of what was gathered meanwhile; in a pause, of how much that is. */
static void next_screen(struct top *t)
{
	uint64_t now = os_monotonic();

	if (!t->view.paused) {
		top_next(&t->model, now - t->since);
		t->since = now;
	}
	t->due = now + (t->view.paused ? STANDS : REFRESH);
	draw(t);
}

/* ---- the stream ---- */

static void take_lines(struct top *t)
{
	size_t at = 0;
	char *end;

	while ((end = memchr(t->bytes.data + at, '\n', t->bytes.length - at))) {
		size_t n = (size_t)(end - (t->bytes.data + at));

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

	t->stopped = n == 0 || (n < 0 && errno == ECONNRESET);
	t->over |= t->stopped;
	if (n > 0) {
		buffer_append(&t->bytes, piece, (size_t)n);
		take_lines(t);
	}
	t->full = top_bytes(&t->model) > MOST_BYTES;
	/* threads and methods with names of their own come to it in the course of hours, not of a minute */
	if (t->bytes.length > MOST_OF_A_LINE || (t->full && os_monotonic() < t->since + FULL_AFTER))
		return error_set(err, EPROTO, "the stream has %s; the agent is none of ours, or broken",
				 t->full ? "over 64 MB of names" : "a line without an end");
	return 0;
}

/* Attach, or begin anew. 0, or an exit code (the error is shown). */
static int begin(struct top *t)
{
	int rc = live_open(&t->live, t->cli, USUAL);

	if (rc)
		return rc;
	snprintf(t->events, sizeof(t->events), "%s", t->cli->options.event);
	t->pid = (unsigned)t->live.agent.target.pid;
	t->since = os_monotonic();
	return 0;
}

/* All that is known is forgotten, and comes anew. 0, or an exit code. */
static int begin_anew(struct top *t, const char *why)
{
	bool shown = t->screen.open;
	int rc;

	screen_close(&t->screen);
	live_close(&t->live);
	top_begin(&t->model);
	t->bytes.length = 0;
	t->full = false;
	t->view.event = TOP_EVENTS;
	console_note("%s", why);
	rc = begin(t);
	if (rc == 0 && shown)
		screen_open(&t->screen);
	return rc;
}

/* The session begins anew with what the view needs. 0, or an exit code. */
static int sample_more(struct top *t)
{
	const char *event = top_view_event(&t->model, t->view.view);
	struct options *o = &t->cli->options;
	char events[sizeof(t->events)], why[sizeof(events) + 64];

	t->more = false;
	if (!event || t->live.joined) {
		snprintf(t->last_line, sizeof(t->last_line), "%s", event ?
			 "the session ran before, and stays as it is; 'jstrobe stop' ends it" :
			 "all that it needs is sampled");
		return 0;
	}
	if ((size_t)snprintf(events, sizeof(events), "%.400s,%s", t->events, event) >= sizeof(o->event))
		return 0;
	snprintf(o->event, sizeof(o->event), "%s", events);
	snprintf(why, sizeof(why), "the session begins anew with -e %s", events);
	return begin_anew(t, why);
}

/* Until the end. 0, an exit code (the error is shown), or why it failed. */
static int watch(struct top *t, bool once, struct error *err)
{
	while (!t->over) {
		int ready, rc;

		t->live.beside = screen_events(&t->screen);
		ready = live_wait(&t->live, true, -1, TICK_MS, err);
		t->ended = ready == -ESHUTDOWN || ready == -ECONNRESET;
		if (ready == -EINTR || t->ended)
			return 0;
		if (ready < 0)
			return ready;
		if (ready & LIVE_BYTES && read_stream(t, err))
			return -err->code;
		read_keys(t);
		rc = t->more ? sample_more(t) :
		     t->full ? begin_anew(t, "names had come to 64 MB: all sums begin anew") : 0;
		if (rc)
			return rc;
		t->over |= t->until && !once && os_monotonic() >= t->until;
		if (os_monotonic() >= t->due) {
			next_screen(t);
			t->over |= once;
		} else if (t->screen.changed) {
			draw(t);
		}
	}
	return 0;
}

/* Why there is no more to show, if that was not the user's wish. */
static void say_end(struct top *t)
{
	uint64_t until = os_monotonic() + LAST_WORDS_MS * NS_PER_MS;
	struct error err = {0};
	int rc = 0;

	t->live.beside = -1;
	/* the end of the stream may come before that of the JVM */
	while (t->stopped && rc >= 0 && os_monotonic() < until)
		rc = live_wait(&t->live, false, -1, LAST_WORDS_MS / 5, &err);
	t->ended |= rc == -ESHUTDOWN || rc == -ECONNRESET;
	if (t->ended)
		console_note("process %u has ended", t->pid);
	else if (t->stopped)
		console_note("the session in process %u was stopped", t->pid);
}

static void end(struct top *t)
{
	live_close(&t->live);
	buffer_free(&t->bytes);
	top_free(&t->model);
	group_expression_free(&t->group);
	top_filter_free(&t->filter);
}

/* Whether there is a screen that can be filled again and again. */
static bool can_stay(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

int cli_top(struct cli *cli)
{
	static struct top t;
	const struct options *o = &cli->options;
	struct error err = {0};
	bool once = o->once || !can_stay();
	int rc;

	if (cli->program) {
		console_error("top: a program that is started here has the terminal; give the pid or name of a JVM");
		return CLI_USAGE;
	}
	if (group_expression_read(&t.group, o->group, &err)) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	t.cli = cli;
	rc = begin(&t);
	if (rc) {
		group_expression_free(&t.group);
		return rc;
	}
	buffer_init(&t.bytes, -1);
	t.view.namer = group_expression_namer(&t.group);
	t.view.view = TOP_OVERVIEW;
	t.view.idle = o->idle;
	t.view.event = TOP_EVENTS;
	t.until = o->duration ? os_monotonic() + o->duration : 0;
	t.due = os_monotonic() + (!once ? FIRST : o->duration ? o->duration : ONCE);
	if (!once)
		screen_open(&t.screen);
	rc = watch(&t, once, &err);
	screen_close(&t.screen);
	say_end(&t);
	end(&t);
	if (rc < 0)
		console_error("%s", err.text);
	return rc < 0 ? CLI_FAILED : rc;
}
