/*
 * jstrobe memory: where the resident memory of a process is, from outside, once or again and again.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/cli.h"
#include "cli/memory/resident.h"
#include "cli/watch.h"
#include "common/base/buffer.h"
#include "common/os/os.h"

#define STEP_MS 180000

struct watching {
	struct cli *cli;
	pid_t pid;
	struct memory_sums before;
	bool again; /* BEFORE is one */
};

static bool is_json(const struct cli *cli)
{
	return strcmp(cli->options.format, "json") == 0;
}

/* One reading and what it says; an exit code. */
static int show(struct watching *w)
{
	struct buffer out = BUFFER_INIT;
	struct memory_reading r;
	struct error err;
	int rc;

	watch_begin(STEP_MS, "looking at the memory of process %d", (int)w->pid);
	rc = memory_read(w->pid, &r, &err);
	watch_end();
	if (rc) {
		console_error("%s", err.text);
		memory_reading_free(&r);
		return CLI_CANNOT_ATTACH;
	}
	if (w->cli->options.nmt && memory_read_nmt(w->pid, w->cli->options.attach_timeout, &r.nmt, &err))
		console_error("%s", err.text); /* the rest is as true */
	if (is_json(w->cli)) {
		memory_json(&r, w->cli->options.watch != 0, &out);
	} else {
		memory_table(&r, w->again ? &w->before : NULL, &out);
		memory_nmt_table(&r.nmt, &out);
		if (w->cli->options.watch)
			buffer_putc(&out, '\n');
		else
			memory_advice(&r, &out);
	}
	w->before.rss = r.maps.rss;
	memcpy(w->before.lines, r.lines, sizeof(r.lines));
	w->again = true;
	memory_reading_free(&r);
	return cli_print(&out);
}

/* Wait until WHEN; true: a signal asks to end. */
static bool wait_until(int signals, uint64_t when)
{
	struct pollfd fd = {.fd = signals, .events = POLLIN};
	bool from_terminal;
	uint64_t now;
	int sig;

	while ((now = os_monotonic()) < when) {
		poll(&fd, 1, (int)MIN((when - now) / NS_PER_MS + 1, 3600000u));
		while ((sig = signals_next(signals, &from_terminal)) != 0)
			if (sig != SIGCHLD)
				return true;
	}
	return false;
}

/* Readings until the process ends, a signal comes, or -d is over; each of these is a good end. */
static int watch(struct watching *w)
{
	const struct options *o = &w->cli->options;
	uint64_t next = os_monotonic(), until = o->duration ? next + o->duration : UINT64_MAX;
	struct error err;
	int signals = signals_open(&err), rc;

	if (signals < 0) {
		console_error("%s", err.text);
		return CLI_FAILED;
	}
	do {
		rc = show(w);
		next = MAX(next + o->watch, os_monotonic());
	} while (rc == CLI_DONE && next <= until && !wait_until(signals, next));
	close(signals);
	return rc == CLI_CANNOT_ATTACH && w->again ? CLI_DONE : rc;
}

int cli_memory(struct cli *cli)
{
	struct watching w = {.cli = cli};
	struct error err;
	const char *target;

	if (cli_target(cli, &target, &err) || (cli->options.format[0] && !is_json(cli) &&
	    error_set(&err, EINVAL, "memory: its output is a table, or JSON (--json)")) ||
	    (cli->options.duration && !cli->options.watch &&
	     error_set(&err, EINVAL, "memory: -d says how long --watch goes on; add --watch TIME, or leave -d out"))) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	if (attach_resolve(target, &w.pid, &err)) {
		console_error("%s", err.text);
		return CLI_CANNOT_ATTACH;
	}
	return cli->options.watch ? watch(&w) : show(&w);
}
