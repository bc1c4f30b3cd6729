/*
 * context_filter.h - which samples are wanted by what their threads worked for: --trace-id, --span, --label.
 * Pure; any thread.
 */
#ifndef JSTROBE_READERS_CONTEXT_FILTER_H
#define JSTROBE_READERS_CONTEXT_FILTER_H

#include "common/base/base.h"

/* What is asked for; "" = any. LABEL is "key=value", or "key" with any value. */
struct request_wanted {
	const char *trace, *span, *label;
};

/* Whether anything is asked for at all. */
bool request_asked(const struct request_wanted *w);
/* Whether a sample with these is wanted: ids in hexadecimal, LABELS as "key=value, key=value", all "" for none. */
bool request_wanted(const struct request_wanted *w, const char *trace, const char *span, const char *labels);
/* The two parts of that. */
bool request_has_ids(const struct request_wanted *w, const char *trace, const char *span);
bool request_has_label(const struct request_wanted *w, const char *labels);

#endif
