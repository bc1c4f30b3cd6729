/*
 * top_view.h - a screen of `jstrobe top` as text.
 */
#ifndef JSTROBE_CLI_LIVE_TOP_VIEW_H
#define JSTROBE_CLI_LIVE_TOP_VIEW_H

#include <regex.h>

#include "cli/live/top.h"
#include "cli/live/top_keys.h"
#include "profile/model/work/thread_pattern.h"

struct top_view {
	unsigned rows, columns;
	enum top_view_id view;
	uint32_t sort[TOP_VIEWS];   /* column of the view's table, or TOP_BY_NAME */
	size_t first;               /* row that is on top */
	unsigned event;             /* whose methods are shown; TOP_EVENTS or beyond: the main event's */
	bool terminal;              /* there are keys; else the screen is a text of at most that size */
	bool colour, paused, idle, help;
	bool joined;                /* the session is not ours: it cannot begin anew with other events */
	const char *events;         /* that are sampled, as -e has them */
	const char *filter;         /* "" = none */
	const regex_t *wanted;      /* … as it is looked for; NULL: all rows are wanted */
	const char *last_line;      /* in the place of the keys; NULL: the keys */
	const struct thread_namer *namer; /* of groups, as for thread_patterns */
	uint64_t now;               /* our clock */
	/* what is found out when it is shown */
	unsigned column_count;      /* of the table */
	size_t row_count, rows_fit;
};

/* The event, as -e has it, that VIEW would tell more with; NULL: M has all that it needs. */
const char *top_view_event(const struct top_model *m, enum top_view_id view);
/* Append the screen of M: at most V->rows lines of at most V->columns columns. */
void top_show(const struct top_model *m, struct top_view *v, struct buffer *out);

#endif
