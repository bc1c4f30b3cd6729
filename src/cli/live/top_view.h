/*
 * top_view.h - a screen of `jstrobe top` as text.
 */
#ifndef JSTROBE_CLI_LIVE_TOP_VIEW_H
#define JSTROBE_CLI_LIVE_TOP_VIEW_H

#include "cli/live/top_model.h"
#include "common/base/buffer.h"

struct top_view {
	unsigned rows, columns;
	bool by_total;     /* methods by what they and their callees took, else by themselves */
	bool paused;
	const char *keys;  /* last line; NULL = none */
	const char *filter; /* methods and threads with this in their name; "" = all */
};

/* Append the screen of M: at most V->rows lines of at most V->columns columns. M's lists are sorted meanwhile. */
void top_show(struct top_model *m, const struct top_view *v, struct buffer *out);

#endif
