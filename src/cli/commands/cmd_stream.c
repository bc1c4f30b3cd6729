/*
 * jstrobe stream: what happens in a JVM, sample by sample, on stdout or into a file, for as long as it has a reader.
 *
 * The bytes pass through unread. Where stdout is slow we stop reading, and the agent, which never waits, counts what
 * it had to drop.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live/live.h"
#include "cli/replace.h"
#include "common/os/os.h"
#include "common/os/output.h"

/* How long the stream's rest may take, when the session has ended: what waits in a socket, not what never ends. */
#define REST_TIME (3 * NS_PER_S)   /* without what its reader takes; it waits there by then */
#define REST_BYTES (64u << 20)     /* many times what an agent lets wait */
#define HURRIED (700 * NS_PER_MS)  /* a signal has come: the command ends within a second */
#define LAST_LOOK (200 * NS_PER_MS)

struct copying {
	struct live live;
	struct output out;
	int pid;              /* of the target, for people */
	char bytes[64 * 1024];
	size_t from, to;      /* what of it was not written yet */
	uint64_t until;       /* ns, 0 = no end */
	uint64_t taken;       /* when some of it was written last */
	bool terminal;        /* someone looks at it: made safe to show */
	struct buffer shown;  /* … with what of it is the begin of a character */
	bool ending;          /* the stream comes to its end: it is read up to there, */
	uint64_t over;        /* but no longer than that, */
	uint64_t rest;        /* and not too many bytes */
};

/* What can be said of the place before the JVM is asked; nothing is opened. */
static int find_out(struct copying *c, const struct options *o, struct error *err)
{
	const char *file = o->file[0] ? o->file : "-";
	int rc;

	c->out = (struct output){.mode = o->mode};
	rc = output_find(&c->out, file, OUTPUT_SUDO | OUTPUT_ASKED | OUTPUT_FIFO | (o->force ? OUTPUT_FORCE : 0),
			 err);
	return rc ? rc : output_may_make(&c->out, file, err);
}

/* The stream has begun: a new file takes its place at once, as it is read while it grows. */
static int open_out(struct copying *c, struct error *err)
{
	int rc = output_make(&c->out, err);

	c->terminal = rc == 0 && isatty(c->out.fd);
	buffer_init(&c->shown, -1);
	buffer_clean_begin(&c->shown);
	return rc ? rc : output_publish(&c->out, false, err);
}

static int write_some(struct copying *c, struct error *err)
{
	ssize_t n = output_write_some(&c->out, c->bytes + c->from, c->to - c->from);

	if (n < 0 && errno != EINTR && errno != EAGAIN)
		return error_set(err, errno, "cannot write the stream: %s", error_text(errno));
	if (n > 0)
		c->taken = os_monotonic();
	c->from += n > 0 ? (size_t)n : 0;
	return 0;
}

/* What was read, for a terminal: made safe to show. */
static void make_safe(struct copying *c)
{
	size_t n;

	buffer_append(&c->shown, c->bytes, c->to);
	n = MIN(buffer_clean_so_far(&c->shown), sizeof(c->bytes));
	memcpy(c->bytes, c->shown.data, n);
	c->to = n;
	memmove(c->shown.data, c->shown.data + n, c->shown.length - n);
	c->shown.length -= n;
	c->shown.raw -= n;
}

/* 1: the stream has ended. */
static int read_some(struct copying *c, struct error *err)
{
	/* what is written out instead of a byte is longer: there is room for it */
	ssize_t n = recv(c->live.sock, c->bytes, c->terminal ? sizeof(c->bytes) / 8 : sizeof(c->bytes), MSG_DONTWAIT);

	if (n < 0 && errno != EINTR && errno != EAGAIN && errno != ECONNRESET)
		return error_set(err, errno, "cannot read the stream: %s", error_text(errno));
	c->from = 0;
	c->to = n > 0 ? (size_t)n : 0;
	c->rest += c->ending ? c->to : 0;
	if (c->terminal && n > 0)
		make_safe(c);
	return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* Begin the end: our session stops, what it has still to say is read. */
static void wind_up(struct copying *c)
{
	uint64_t began = os_monotonic();

	c->ending = true;
	live_stop(&c->live);
	c->taken = os_monotonic();
	/* of a signal's second the session's end has had its part */
	c->over = c->live.interrupts ? MAX(began + HURRIED, c->taken + LAST_LOOK) : c->taken + REST_TIME;
}

/* Who shall end waits for no reader that does not read. 1 = done. */
static int give_up(const struct copying *c)
{
	console_note("stream: its reader took nothing for a second; %zu bytes, and what came after them, were left out",
		     c->to - c->from);
	return 1;
}

/* The other end stays open, or says more and more. 1 = done. */
static int cut_off(struct copying *c)
{
	console_note("stream: process %d does not end it; what came until now was taken", c->pid);
	return 1;
}

/* Wait for bytes, for room if there are some, or for the end. As live_wait. */
static int wait_for_some(struct copying *c, bool full, struct error *err)
{
	uint64_t at = os_monotonic(), end = c->ending ? c->over : c->until ? c->until : at + NS_PER_S, left;
	int ready;

	left = (end - MIN(end, at)) / NS_PER_MS + 1;
	ready = live_wait(&c->live, !full, full ? c->out.fd : -1, (int)MIN(left, (uint64_t)1000), err);
	/* time that the reader takes is not the target's */
	if (full && c->ending && !c->live.interrupts)
		c->over += os_monotonic() - at;
	return ready;
}

/* One step; 1 = done. */
static int step(struct copying *c, struct error *err)
{
	bool full = c->from < c->to;
	int ready = wait_for_some(c, full, err);

	if (ready == -EINTR && c->live.interrupts > 1)
		return ready;
	if (ready == -EINTR || (!c->ending && c->until && os_monotonic() >= c->until)) {
		if (!c->ending)
			wind_up(c);
		else if (ready == -EINTR)
			c->over = MIN(c->over, os_monotonic() + HURRIED);
		return 0;
	}
	if (ready == -ESHUTDOWN || ready == -ECONNRESET) {
		wind_up(c);
		return 0;
	}
	if (ready < 0)
		return ready;
	if (c->ending && !full && (os_monotonic() > c->over || c->rest > REST_BYTES))
		return cut_off(c);
	if (full && (ready & LIVE_GONE))
		return 1; /* the reader has gone, as "head" does */
	if (full && (ready & LIVE_ROOM))
		return write_some(c, err);
	if (full && c->ending && os_monotonic() - c->taken > NS_PER_S)
		return give_up(c);
	return !full && (ready & LIVE_BYTES) ? read_some(c, err) : 0;
}

int cli_stream(struct cli *cli)
{
	static struct copying c;
	struct error err = {0};
	int rc;

	if (cli->program && cli->word_count) {
		console_error("stream: either a JVM ('%s') or a program after --, not both", cli->words[0]);
		return CLI_USAGE;
	}
	if (cli->program && !cli->options.file[0]) {
		console_error("stream: stdout is the program's; say -f FILE for the stream, or -f - for both");
		return CLI_USAGE;
	}
	if (find_out(&c, &cli->options, &err)) {
		console_error("%s", err.text);
		return CLI_FAILED;
	}
	rc = replace_check(&c.out, cli->options.file, &cli->options, &err);
	if (rc) {
		console_error("%s", err.text);
		output_drop(&c.out);
		return replace_exit_code(rc);
	}
	cli->options.file[0] = '\0';
	rc = live_open(&c.live, cli, NULL);
	if (rc) {
		output_drop(&c.out);
		return rc;
	}
	signal(SIGPIPE, SIG_IGN); /* not before: a program that was started has its own way */
	c.pid = (int)(c.live.launch.pid ? c.live.launch.pid : c.live.agent.target.pid);
	c.until = cli->options.duration ? os_monotonic() + cli->options.duration : 0;
	rc = open_out(&c, &err);
	while (rc == 0)
		rc = step(&c, &err);
	live_close(&c.live);
	output_drop(&c.out);
	if (rc < 0 && rc != -EPIPE)
		console_error("%s", rc == -EINTR ? "aborted" : err.text);
	return live_wait_program(&c.live, rc == -EINTR ? CLI_ABORTED : rc < 0 && rc != -EPIPE ? CLI_FAILED : CLI_DONE);
}
