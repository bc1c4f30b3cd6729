/*
 * context_filter.h - which samples are wanted by what their threads worked for: --trace-id, --span, --label.
 * Pure; any thread.
 */
#ifndef JSTROBE_READERS_CONTEXT_FILTER_H
#define JSTROBE_READERS_CONTEXT_FILTER_H

#include "common/base/base.h"

/* What is asked for; "" = any. LABEL is "key=value", or "key" with any value. */
struct context_filter {
	const char *trace, *span, *label;
};

/* Whether anything is asked for at all. */
bool context_filter_is_set(const struct context_filter *w);
/* Whether a sample with these is wanted: ids in hexadecimal, LABELS as "key=value, key=value", all "" for none. */
bool context_filter_wants(const struct context_filter *w, const char *trace, const char *span, const char *labels);
/* The two parts of that. */
bool context_filter_wants_ids(const struct context_filter *w, const char *trace, const char *span);
bool context_filter_wants_label(const struct context_filter *w, const char *labels);

#endif
