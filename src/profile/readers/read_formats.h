/*
 * read_formats.h - the formats that profiles are read from. Inner header of the readers room.
 */
#ifndef JSTROBE_READERS_READ_FORMATS_H
#define JSTROBE_READERS_READ_FORMATS_H

#include "common/base/error.h"
#include "profile/readers/context_filter.h"
#include "profile/readers/input/input.h"
#include "profile/readers/jfr/event_handlers.h"
#include "profile/readers/jfr/recording_info.h"
#include "profile/readers/read_aggregate.h"

/* Results of ours in JSON (docs/reference/json.md), of a recording or of a trace. */

/* Whether IN begins as a JSON object does. */
bool saved_is(const struct input *in);
/*
 * Read the events that SELECTION names into AGGREGATE and INFO, of these the stacks that its filter wants, and, if it
 * wants that, when their samples were taken; NOTES gets a line about each that does not say it, but would have to. A
 * trace is the event "calls": its invocations are samples, its wall-clock time is their weight. 0, or a negative errno
 * with the reason.
 */
int saved_read(const struct input *in, const struct selection *selection, struct read_aggregate *aggregate,
	       struct recording_info *info, struct buffer *notes, struct error *err);

/* When IN begins and ends, as it says itself, ns since 1970; 0: it does not. Always 0. */
int saved_span(const struct input *in, int64_t *start, int64_t *end);

/*
 * Collapsed stacks, "root;caller;leaf 12" a line: our own, and those that async-profiler, perf scripts and others
 * write.
 */

/*
 * Gather the lines of IN as the family "samples". What a frame is follows from its spelling. Lines that are no stack
 * are
 * left out, which NOTES get a line about; -EINVAL if they are not the fewer.
 */
int collapsed_read(const struct input *in, struct read_aggregate *aggregate, struct buffer *notes, struct error *err);

/* JFR files, chunk by chunk. */

/*
 * Gather the samples of IN that SELECTION lets through in FOLD, and in FACTS what is said beside them.
 * Damaged parts are left out and counted. THREADS (1 or more) of them read, the caller's among them. 0;
 * -ENOMEM; -EBADMSG if there is nothing that can be read.
 */
int recording_read(const struct input *in, const struct selection *selection, struct read_aggregate *aggregate,
		   struct recording_info *info, bool lines, unsigned threads);
/* When IN begins and ends, ns since 1970. 0, -ENOMEM, -EBADMSG. */
int recording_span(const struct input *in, int64_t *start, int64_t *end);
/*
 * Write the recording IN anew to OUT, with every chunk finished: open ones and those that were cut end at
 * their last whole event. FACTS says what was left out. 0, -EBADMSG, -ENOMEM; OUT keeps its own errors.
 */
int recording_repair(const struct input *in, struct buffer *out, struct recording_info *info);

#endif
