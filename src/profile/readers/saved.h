/*
 * saved.h - results of ours in JSON (docs/reference/json.md), of a recording or of a trace, back into profiles.
 */
#ifndef JSTROBE_READERS_SAVED_H
#define JSTROBE_READERS_SAVED_H

#include "profile/readers/context_filter.h"
#include "profile/readers/input.h"
#include "profile/readers/jfr/recording_info.h"
#include "profile/readers/read_aggregate.h"

/* Whether IN begins as a JSON object does. */
bool saved_is(const struct input *in);
/*
 * Read the events that FAMILIES names ("" = all) into AGGREGATE and INFO, of these the stacks that FILTER wants. A
 * trace is the event "calls": its invocations are samples, its wall-clock time is their weight. 0, or a negative
 * errno with the reason.
 */
int saved_read(const struct input *in, const char *families, const struct context_filter *filter,
	       struct read_aggregate *aggregate, struct recording_info *info, struct error *err);

#endif
