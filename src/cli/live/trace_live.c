/*
 * The tree comes as a result in JSON, into memory: the agent needs to know nothing of screens. A big tree takes a while
 * to write; the screen then waits LEISURE times as long as that took, so that it never costs more than a small share.
 */
#include "cli/live/trace_live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live/screen.h"
#include "cli/live/trace.h"
#include "cli/result.h"
#include "common/os/os.h"

#define REFRESH (2 * NS_PER_S)
#define LEISURE 50
#define MOST_BYTES (8u << 20)  /* of a tree: 40,000 nodes and more */

struct trace_live {
	struct options ask;
	struct screen screen;
	struct trace_model model;
	struct trace_view view;
	uint64_t due;
	bool known;   /* there has been a look */
};

struct trace_live *trace_live_begin(const struct options *o)
{
	struct trace_live *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->ask = *o;
	t->ask.action = ACTION_DUMP;
	t->ask.owner = t->ask.color = false;
	t->ask.file[0] = '\0';
	snprintf(t->ask.format, sizeof(t->ask.format), "json");
	t->due = os_monotonic() + REFRESH;
	screen_open(&t->screen);
	return t;
}

void trace_live_end(struct trace_live *t)
{
	if (!t)
		return;
	screen_close(&t->screen);
	trace_model_free(&t->model);
	free(t);
}

static void show(struct trace_live *t)
{
	struct buffer out = BUFFER_INIT;

	screen_measure(&t->screen);
	t->view.keys = !t->screen.open ? NULL : t->screen.typing ? "filter: type, Enter" :
		       "q quit  p pause  a all since the begin  / filter";
	t->view.rows = t->screen.rows;
	t->view.columns = t->screen.columns;
	t->view.filter = t->screen.filter;
	if (t->known && trace_view_show(&t->model, &t->view, &out) == 0)
		screen_show(&t->screen, &out);
	buffer_free(&out);
}

/* What the agent has written into FD. */
static int take(struct trace_live *t, int fd, struct error *err)
{
	struct stat st;
	size_t size;
	ssize_t n;
	char *bytes;

	if (fstat(fd, &st) || !st.st_size)
		return 0;
	/* read, not mapped: the target can cut it at any time */
	size = (size_t)MIN(st.st_size, (off_t)MOST_BYTES);
	bytes = malloc(size);
	n = bytes ? pread(fd, bytes, size, 0) : -1;
	if (n > 0)
		t->known = trace_model_take(&t->model, bytes, (size_t)n);
	free(bytes);
	if (st.st_size > (off_t)MOST_BYTES || t->model.too_large)
		return error_set(err, EFBIG, "the call tree is larger than a screen is made of (8 MB, 40,960 nodes); "
				 "trace fewer methods, or look at the result with `dump -f x.html`");
	return 0;
}

static int look(struct trace_live *t, struct agent *a, struct error *err)
{
	int fd = memfd_create("jstrobe", MFD_CLOEXEC), given, rc;

	if (fd < 0)
		return error_set(err, errno, "no memory for the call tree: %s", error_text(errno));
	given = fchmod(fd, 0600) ? error_set(err, errno, "the call tree's memory: %s", error_text(errno))
				 : result_write_only(fd, err);
	rc = given < 0 ? given : agent_send_file(a, given, "", err);
	if (given >= 0)
		close(given);
	if (rc == 0)
		rc = agent_obey(a, &t->ask, AGENT_ANSWER_MS, err);
	if (rc == 0)
		rc = take(t, fd, err);
	close(fd);
	return rc;
}

/* False: enough. */
static bool obey_keys(struct trace_live *t)
{
	int key;

	while ((key = screen_key(&t->screen)) != KEY_NONE) {
		if (key == 'q')
			return false;
		if (key == 'p' || key == ' ')
			t->view.paused = !t->view.paused;
		else if (key == 'a')
			t->view.whole = !t->view.whole;
		t->screen.changed = true;
	}
	if (t->screen.changed)
		show(t);
	return !t->screen.gone;
}

int trace_live_tick(struct trace_live *t, struct agent *a, struct error *err)
{
	uint64_t began = os_monotonic();
	int rc;

	if (!obey_keys(t))
		return -ECANCELED;
	if (began < t->due || t->view.paused)
		return 0;
	rc = look(t, a, err);
	if (rc)
		return rc;
	show(t);
	t->due = os_monotonic() + MAX(REFRESH, LEISURE * (os_monotonic() - began));
	return 0;
}
