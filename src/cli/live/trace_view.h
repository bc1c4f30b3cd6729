/*
 * trace_view.h - the call tree of `jstrobe trace --live` as a screen of text.
 */
#ifndef JSTROBE_CLI_LIVE_TRACE_VIEW_H
#define JSTROBE_CLI_LIVE_TRACE_VIEW_H

#include "cli/live/trace_model.h"
#include "common/base/buffer.h"

struct trace_view {
	unsigned rows, columns;
	bool whole;         /* all since the session began, else what came since the last look */
	bool paused;
	const char *keys;   /* last line; NULL = none */
	const char *filter; /* methods with this in their name, and those on the way to them; "" = all */
};

/*
 * Append the tree of M: at most V->rows lines of at most V->columns columns. The heaviest branches come first; those
 * that do not fit are left out, the lightest first. 0 or -ENOMEM.
 */
int trace_view_show(const struct trace_model *m, const struct trace_view *v, struct buffer *out);

#endif
